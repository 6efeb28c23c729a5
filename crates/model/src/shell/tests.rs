//! What is parsed, with which result, and what is rejected.

use metier_testkit::patience::grows_linearly;
use proptest::prelude::*;

use super::*;

/// A line as text: words in `‹›`, dynamic ones as `*`, assignments with `=`, redirects at the end.
fn show(text: &str) -> String {
    let line = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let commands: Vec<String> = line.commands.iter().map(show_simple).collect();
    commands.join(" · ")
}

fn show_simple(simple: &Simple) -> String {
    let mut out = Vec::new();
    for assignment in &simple.assignments {
        out.push(format!(
            "{}={}",
            assignment.name,
            show_word(&assignment.value)
        ));
    }
    out.extend(simple.words.iter().map(show_word));
    for redirect in &simple.redirects {
        out.push(format!("{:?} {}", redirect.op, show_word(&redirect.target)));
    }
    out.join(" ")
}

fn show_word(word: &Word) -> String {
    word.literal()
        .map_or_else(|| "*".to_owned(), |text| format!("‹{text}›"))
}

fn check(table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(show(text), *expected, "{text:?}");
    }
}

#[test]
fn simple_commands_and_what_joins_them() {
    check(&[
        ("", ""),
        ("git log", "‹git› ‹log›"),
        ("  git\tlog  # why", "‹git› ‹log›"),
        ("git; rm -rf ~", "‹git› · ‹rm› ‹-rf› *"),
        ("a && b || c | d & e", "‹a› · ‹b› · ‹c› · ‹d› · ‹e›"),
        ("a |& b", "‹a› · ‹b›"),
        ("a\nb\n\n", "‹a› · ‹b›"),
        ("a \\\n  b", "‹a› ‹b›"),
        ("a\\\nb", "‹ab›"),
        ("a &&\n# why\n b", "‹a› · ‹b›"),
        ("! a", "‹a›"),
        ("find . ! -name x", "‹find› ‹.› ‹!› ‹-name› ‹x›"),
        ("(a; b)", "‹a› · ‹b›"),
        ("{ a; b; }", "‹a› · ‹b›"),
        ("[ a = b ]", "‹[› ‹a› ‹=› ‹b› ‹]›"),
        ("[[ a == b* ]]", "‹[[› ‹a› ‹==› * ‹]]›"),
        ("echo }", "‹echo› ‹}›"),
        (
            "git stash show stash@{0}",
            "‹git› ‹stash› ‹show› ‹stash@{0}›",
        ),
        ("git log HEAD~1 a~", "‹git› ‹log› ‹HEAD~1› ‹a~›"),
        ("echo a#b '#' #c", "‹echo› ‹a#b› ‹#›"),
        ("时间 é", "‹时间› ‹é›"),
        ("[ $? -eq 0 ]", "‹[› * ‹-eq› ‹0› ‹]›"),
        ("[ -n \"$x\" ]", "‹[› ‹-n› * ‹]›"),
        ("[ \"$(a)\" = b ]", "‹a› · ‹[› * ‹=› ‹b› ‹]›"),
        ("set -euo pipefail", "‹set› ‹-euo› ‹pipefail›"),
        ("export A=\"$x\" B", "‹export› * ‹B›"),
        ("read -r line", "‹read› ‹-r› ‹line›"),
        ("printf '%s[]' \"$x\"", "‹printf› ‹%s[]› *"),
    ]);
}

#[test]
fn quotes_and_escapes() {
    check(&[
        (r#"a 'b c' "d e" f\ g"#, "‹a› ‹b c› ‹d e› ‹f g›"),
        (r#"a '' "" x''y"#, "‹a› ‹› ‹› ‹xy›"),
        (r#"a "\$x \" \\ \n \`""#, r#"‹a› ‹$x " \ \n `›"#),
        (r"a 'b\'", r"‹a› ‹b\›"),
        ("a \"b\\\nc\"", "‹a› ‹bc›"),
        ("a \"b\nc\"", "‹a› ‹b\nc›"),
        (r#""git" 'log'"#, "‹git› ‹log›"),
        (r"g\it l\og", "‹git› ‹log›"),
        ("a $ \"$\" 5$ $/x", "‹a› ‹$› ‹$› ‹5$› ‹$/x›"),
    ]);
}

#[test]
fn what_is_dynamic() {
    for word in [
        "$x",
        "${x}",
        "\"$x\"",
        "a$1b",
        "$@",
        "$(b)",
        "`b`",
        "*",
        "a?",
        "[ab]",
        "{a,b}",
        "{1..3}",
        "~",
        "~root",
        "x=~/y",
        "x:~",
        "$'a'",
        "$\"a\"",
        "$((1 + 2))",
        "${x:-y}",
        "${x#*/}",
        "${#x}",
        "\"${x:+y}\"",
        "<(b)",
        "a>(b)",
        "$?",
    ] {
        let line = parse(&format!("echo {word}")).unwrap_or_else(|error| panic!("{word}: {error}"));
        let simple = line.commands.last().expect("a command");
        assert_eq!(simple.program(), Some("echo"));
        assert_eq!(simple.words[1].literal(), None, "{word}");
    }
}

#[test]
fn substitutions_come_before_what_uses_them() {
    check(&[
        ("git log $(rm x)", "‹rm› ‹x› · ‹git› ‹log› *"),
        ("git log \"a `rm x` b\"", "‹rm› ‹x› · ‹git› ‹log› *"),
        ("gh$(x)", "‹x› · *"),
        ("a $(b \"$(c)\")", "‹c› · ‹b› * · ‹a› *"),
        (r"a `b \`c\``", "‹c› · ‹b› * · ‹a› *"),
        ("a ${x:-$(b)} \"${y-`c`}\"", "‹b› · ‹c› · ‹a› * *"),
        ("diff <(a) >(b)", "‹a› · ‹b› · ‹diff› * *"),
        ("X=$(a) Y+=2 b", "‹a› · X=* Y=‹2› ‹b›"),
        ("a >$(b)", "‹b› · ‹a› Write *"),
        (
            "a <<E\n$(b) `c` \\$(d)\nE\n",
            "‹a› HereDocument * · ‹b› · ‹c›",
        ),
        ("a <<'E'\n$(b)\nE\ne", "‹a› HereDocument ‹$(b)\n› · ‹e›"),
        ("a <<<\"$(b)\"", "‹b› · ‹a› HereString *"),
        ("x=$(<file)", "Read ‹file› · x=*"),
        ("a $(case x in (y) b;; esac)", "‹b› · ‹a› *"),
        ("a $()", "‹a› *"),
    ]);
}

#[test]
fn redirects() {
    check(&[
        ("a >b 2>&1 <c", "‹a› Write ‹b› DuplicateOut ‹1› Read ‹c›"),
        (
            "a >>b 2>|c <>d <&-",
            "‹a› Append ‹b› Clobber ‹c› ReadWrite ‹d› DuplicateIn ‹-›",
        ),
        ("a &>b &>>c", "‹a› Both ‹b› AppendBoth ‹c›"),
        ("a 2 >b", "‹a› ‹2› Write ‹b›"),
        (">b", "Write ‹b›"),
        ("{ a; } >b", "‹a› · Write ‹b›"),
        ("(a) <<-E | c\n\tx\n\tE\n", "‹a› · HereDocument ‹x\n› · ‹c›"),
        (
            "a <<E; b <<F\n1\nE\n2\nF\nc",
            "‹a› HereDocument ‹1\n› · ‹b› HereDocument ‹2\n› · ‹c›",
        ),
        ("a < <(b)", "‹b› · ‹a› Read *"),
    ]);
}

#[test]
fn compound_commands() {
    check(&[
        (
            "if a; then b; elif c; then d; else e; fi",
            "‹a› · ‹b› · ‹c› · ‹d› · ‹e›",
        ),
        ("while read x; do a; done <b", "‹read› ‹x› · ‹a› · Read ‹b›"),
        ("until a\ndo b\ndone", "‹a› · ‹b›"),
        ("for x in a $b; do c $x; done", "x=‹a› x=* · ‹c› *"),
        ("for x; do a; done", "x=* · ‹a›"),
        ("for PATH in /tmp\ndo git; done", "PATH=‹/tmp› · ‹git›"),
        (
            "case $x in a|b) c;; (d) e; f;; *) ;; esac",
            "‹c› · ‹e› · ‹f›",
        ),
    ]);
}

#[test]
fn what_is_not_understood() {
    for (text, what) in [
        ("f() { a; }", Oddity::Parenthesis),
        ("function f { a; }", Oddity::Keyword),
        ("select x in a; do b; done", Oddity::Keyword),
        ("coproc a", Oddity::Keyword),
        ("alias git=rm", Oddity::Alias),
        ("hash -p /tmp/x git", Oddity::Alias),
        ("((x++))", Oddity::Arithmetic),
        ("echo $((x + 1))", Oddity::Arithmetic),
        ("echo $((1 + $(b)))", Oddity::Arithmetic),
        ("echo $((a) | b)", Oddity::Arithmetic),
        ("echo $[1]", Oddity::Arithmetic),
        ("let 'a[$(id)]'", Oddity::Arithmetic),
        ("unset 'a[$(id)]'", Oddity::Arithmetic),
        ("[[ $x -eq 1 ]]", Oddity::Test),
        ("[[ a < b ]]", Oddity::Test),
        ("[[ a && b ]]", Oddity::Test),
        ("a=(b)", Oddity::Parenthesis),
        ("a[0]=b", Oddity::BashAssignment),
        ("{x}>b", Oddity::BashAssignment),
        ("ls !(a)", Oddity::Parenthesis),
        ("ls @(a)", Oddity::Parenthesis),
        ("echo a!b", Oddity::History),
        ("!ls", Oddity::History),
        ("echo ${!x}", Oddity::Expansion),
        ("echo ${x@P}", Oddity::Expansion),
        ("echo ${x:=y}", Oddity::Expansion),
        ("echo ${x/a/b}", Oddity::Expansion),
        ("echo \"${x:-\"a\"}\"", Oddity::Expansion),
        ("echo $'a\\'b'", Oddity::Backslash),
        ("echo $\\\nHOME", Oddity::Backslash),
        ("echo 'a", Oddity::Unterminated),
        ("echo \"a", Oddity::Unterminated),
        ("echo `a", Oddity::Unterminated),
        ("echo $(a", Oddity::Unterminated),
        ("echo a\\", Oddity::Unterminated),
        ("if a; then b", Oddity::Unterminated),
        ("{ a }", Oddity::Unterminated),
        ("a &&", Oddity::MissingCommand),
        ("a | | b", Oddity::MissingCommand),
        ("()", Oddity::MissingCommand),
        ("; a", Oddity::MissingCommand),
        ("a >", Oddity::MissingTarget),
        ("a )", Oddity::Unexpected),
        ("a ;; b", Oddity::Unexpected),
        ("fi", Oddity::Unexpected),
        ("a 12>b", Oddity::Unexpected),
        ("a &>b c", Oddity::Unexpected),
        ("i\\\nf a", Oddity::Keyword),
        ("cat <<E\na", Oddity::HereDocument),
        ("cat <<E\na\\\nE\n", Oddity::HereDocument),
        ("(cat <<E\na\nE)\nb\nE\n)", Oddity::HereDocument),
        ("x=$(cat <<E\na\nE\n)", Oddity::Substitution),
        ("x=$(a # )\n)", Oddity::Substitution),
        ("x=$(case x in y) b;; esac)", Oddity::Substitution),
        ("declare -i x='a[$(id)]'", Oddity::Arithmetic),
        ("command unset 'a[$(id)]'", Oddity::Arithmetic),
        ("builtin alias a=b", Oddity::Alias),
        ("unset \"$x\"", Oddity::Arithmetic),
        ("printf -v 'a[$(id)]' x", Oddity::Arithmetic),
        ("printf \"$x\" 'a[$(id)]'", Oddity::Arithmetic),
        ("set -x", Oddity::Alias),
        ("set -o xtrace", Oddity::Alias),
        ("set $x", Oddity::Alias),
        ("[ -v 'a[$(id)]' ]", Oddity::Test),
        ("[ \"$x\" 'a[$(id)]' ]", Oddity::Test),
        ("[ $x ]", Oddity::Test),
        ("cat <<$x\na\n$x\n", Oddity::HereDocument),
        ("cat <<E $(\na\n)\nE\n", Oddity::HereDocument),
        ("a\rb", Oddity::Character),
        ("a\u{0}b", Oddity::Character),
        ("gh\u{a0}pr", Oddity::Character),
        ("gh\u{200b}", Oddity::Character),
    ] {
        match parse(text) {
            Ok(line) => panic!("{text:?} was understood: {line:?}"),
            Err(error) => assert_eq!(error.what, what, "{text:?}"),
        }
    }
}

#[test]
fn limits_hold() {
    let long = "a ".repeat(MAX_TEXT);
    assert_eq!(parse(&long).unwrap_err().what, Oddity::TooLong);
    for (open, close) in [
        ("a $(", ")"),
        ("( ", ")"),
        ("{ ", ";}"),
        ("a ${x:-$(", ")}"),
    ] {
        let text = format!("{}a{}", open.repeat(40), close.repeat(40));
        assert_eq!(parse(&text).unwrap_err().what, Oddity::TooDeep, "{text}");
    }
    assert!(parse(&format!("{}b{}", "a $(".repeat(30), ")".repeat(30))).is_ok());
}

#[test]
fn who_runs_its_arguments() {
    for (text, runs) in [
        ("git log -3", Runs::Nothing),
        ("gh pr view 1", Runs::Nothing),
        ("env", Runs::Nothing),
        ("env -u B A=1 git log", Runs::Command { at: 4 }),
        ("env A=1 -u B git log", Runs::Unclear),
        ("/usr/bin/env git", Runs::Command { at: 1 }),
        ("ENV git", Runs::Command { at: 1 }),
        ("env -S 'git log'", Runs::Unclear),
        ("env A=$x git", Runs::Command { at: 2 }),
        ("sudo -u root git", Runs::Command { at: 3 }),
        ("sudo -Z git", Runs::Unclear),
        ("timeout -k 1 5 git", Runs::Command { at: 4 }),
        ("timeout --kill-after=1 5 git", Runs::Command { at: 3 }),
        ("timeout $x git", Runs::Unclear),
        ("nice -n 5 git", Runs::Command { at: 3 }),
        ("nohup git", Runs::Command { at: 1 }),
        ("xargs -n1 git log", Runs::Command { at: 2 }),
        ("xargs -I {} git {}", Runs::Command { at: 3 }),
        ("exec git", Runs::Command { at: 1 }),
        ("command git", Runs::Command { at: 1 }),
        ("command -v git", Runs::Nothing),
        ("builtin eval x", Runs::Command { at: 1 }),
        ("eval git log", Runs::Code { until: 2 }),
        ("sh -c 'git log'", Runs::Code { until: 2 }),
        ("bash -lc x a", Runs::Code { until: 2 }),
        ("bash x.sh a", Runs::File { at: 1 }),
        ("bash -e x.sh", Runs::File { at: 2 }),
        ("bash", Runs::Unclear),
        ("bash --version", Runs::Nothing),
        ("python3.12 -c x", Runs::Code { until: 2 }),
        ("python x.py", Runs::File { at: 1 }),
        ("python3 $x", Runs::Unclear),
        ("perl -ne x", Runs::Code { until: 2 }),
        ("node --eval=x y", Runs::Code { until: 2 }),
        ("awk -F : x f", Runs::Code { until: 3 }),
        ("sed -n 1p f", Runs::Code { until: 2 }),
        ("source x", Runs::File { at: 1 }),
        (". x", Runs::File { at: 1 }),
        ("find . -name x", Runs::Nothing),
        ("find . -exec rm {} +", Runs::Command { at: 3 }),
        ("ssh h x", Runs::Code { until: 2 }),
        ("git -c alias.x=!y x", Runs::Unclear),
        ("$x", Runs::Unclear),
    ] {
        let line = parse(&text.replace("=!y", "='!y'")).expect("understood");
        let simple = line.commands.last().expect("a command");
        assert_eq!(simple.runs(), runs, "{text}");
        assert_eq!(simple.runs_arguments(), runs != Runs::Nothing, "{text}");
    }
}

#[test]
fn who_changes_the_shell() {
    for (text, changes) in [
        ("git log", false),
        ("A=1 git log", false),
        ("PATH=/tmp", true),
        ("export PATH=/tmp", true),
        ("printf -v PATH x", true),
        ("printf x", false),
        ("cd /", true),
        ("$x", true),
        (">x", false),
    ] {
        let line = parse(text).expect("understood");
        assert_eq!(line.commands[0].changes_shell(), changes, "{text}");
    }
}

#[test]
fn long_texts_take_linear_time() {
    for unit in [
        "$(",
        "\\`",
        "<<E ",
        "<<E \n",
        "a <<E\nE\n",
        "'' ",
        "{ a; }; ",
        "a|",
        "#\n",
        "$((",
    ] {
        let text = |times| unit.repeat(2_000 * times);
        grows_linearly(unit, 8, text, |text| {
            let _ = std::hint::black_box(parse(text));
        });
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn shell_like_text_is_read_without_panic(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "a", " ", "\n", ";", "&", "|", "(", ")", "{", "}", "$", "$(", "${", "`", "'", "\"", "\\", "<", "<<",
                "<<-", ">", "E", "#", "=", "if ", "then ", "fi", "for ", "in ", "do ", "done", "case ", "esac", "!", "~",
                "*", "[[", "]]", "é", "\t", "$((", "))", ":-", "1",
            ]),
            0..40,
        )
    ) {
        let _ = parse(&tokens.concat());
    }
}
