//! Lines that are parsed, with their results, and lines that are rejected.

use metier_testkit::patience::grows_linearly;
use proptest::prelude::*;

use super::*;

/// A line as text: words in `‹›`, dynamic ones as `*`, assignments with `=`, redirects at the end.
fn show(text: &str) -> String {
    let line = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let commands: Vec<String> = line.commands.iter().map(show_simple).collect();
    commands.join(" · ")
}

fn show_simple(simple: &SimpleCommand) -> String {
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

fn show_word(word: &ShellWord) -> String {
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
        ("f() { a; }", UnsupportedSyntax::Parenthesis),
        ("function f { a; }", UnsupportedSyntax::Keyword),
        ("select x in a; do b; done", UnsupportedSyntax::Keyword),
        ("coproc a", UnsupportedSyntax::Keyword),
        ("alias git=rm", UnsupportedSyntax::Alias),
        ("hash -p /tmp/x git", UnsupportedSyntax::Alias),
        ("((x++))", UnsupportedSyntax::Arithmetic),
        ("echo $((x + 1))", UnsupportedSyntax::Arithmetic),
        ("echo $((1 + $(b)))", UnsupportedSyntax::Arithmetic),
        ("echo $((a) | b)", UnsupportedSyntax::Arithmetic),
        ("echo $[1]", UnsupportedSyntax::Arithmetic),
        ("let 'a[$(id)]'", UnsupportedSyntax::Arithmetic),
        ("unset 'a[$(id)]'", UnsupportedSyntax::Arithmetic),
        ("[[ $x -eq 1 ]]", UnsupportedSyntax::Test),
        ("[[ a < b ]]", UnsupportedSyntax::Test),
        ("[[ a && b ]]", UnsupportedSyntax::Test),
        ("a=(b)", UnsupportedSyntax::Parenthesis),
        ("a[0]=b", UnsupportedSyntax::BashAssignment),
        ("{x}>b", UnsupportedSyntax::BashAssignment),
        ("ls !(a)", UnsupportedSyntax::Parenthesis),
        ("ls @(a)", UnsupportedSyntax::Parenthesis),
        ("echo a!b", UnsupportedSyntax::History),
        ("!ls", UnsupportedSyntax::History),
        ("echo ${!x}", UnsupportedSyntax::Expansion),
        ("echo ${x@P}", UnsupportedSyntax::Expansion),
        ("echo ${x:=y}", UnsupportedSyntax::Expansion),
        ("echo ${x/a/b}", UnsupportedSyntax::Expansion),
        ("echo \"${x:-\"a\"}\"", UnsupportedSyntax::Expansion),
        ("echo $'a\\'b'", UnsupportedSyntax::Backslash),
        ("echo $\\\nHOME", UnsupportedSyntax::Backslash),
        ("echo 'a", UnsupportedSyntax::Unterminated),
        ("echo \"a", UnsupportedSyntax::Unterminated),
        ("echo `a", UnsupportedSyntax::Unterminated),
        ("echo $(a", UnsupportedSyntax::Unterminated),
        ("echo a\\", UnsupportedSyntax::Unterminated),
        ("if a; then b", UnsupportedSyntax::Unterminated),
        ("{ a }", UnsupportedSyntax::Unterminated),
        ("a &&", UnsupportedSyntax::MissingCommand),
        ("a | | b", UnsupportedSyntax::MissingCommand),
        ("()", UnsupportedSyntax::MissingCommand),
        ("; a", UnsupportedSyntax::MissingCommand),
        ("a >", UnsupportedSyntax::MissingTarget),
        ("a )", UnsupportedSyntax::Unexpected),
        ("a ;; b", UnsupportedSyntax::Unexpected),
        ("fi", UnsupportedSyntax::Unexpected),
        ("a 12>b", UnsupportedSyntax::Unexpected),
        ("a &>b c", UnsupportedSyntax::Unexpected),
        ("i\\\nf a", UnsupportedSyntax::Keyword),
        ("cat <<E\na", UnsupportedSyntax::HereDocument),
        ("cat <<E\na\\\nE\n", UnsupportedSyntax::HereDocument),
        ("(cat <<E\na\nE)\nb\nE\n)", UnsupportedSyntax::HereDocument),
        ("x=$(cat <<E\na\nE\n)", UnsupportedSyntax::Substitution),
        ("x=$(a # )\n)", UnsupportedSyntax::Substitution),
        (
            "x=$(case x in y) b;; esac)",
            UnsupportedSyntax::Substitution,
        ),
        ("declare -i x='a[$(id)]'", UnsupportedSyntax::Arithmetic),
        ("command unset 'a[$(id)]'", UnsupportedSyntax::Arithmetic),
        ("builtin alias a=b", UnsupportedSyntax::Alias),
        ("unset \"$x\"", UnsupportedSyntax::Arithmetic),
        ("printf -v 'a[$(id)]' x", UnsupportedSyntax::Arithmetic),
        ("printf \"$x\" 'a[$(id)]'", UnsupportedSyntax::Arithmetic),
        ("set -x", UnsupportedSyntax::Alias),
        ("set -o xtrace", UnsupportedSyntax::Alias),
        ("set $x", UnsupportedSyntax::Alias),
        ("[ -v 'a[$(id)]' ]", UnsupportedSyntax::Test),
        ("[ \"$x\" 'a[$(id)]' ]", UnsupportedSyntax::Test),
        ("[ $x ]", UnsupportedSyntax::Test),
        ("cat <<$x\na\n$x\n", UnsupportedSyntax::HereDocument),
        ("cat <<E $(\na\n)\nE\n", UnsupportedSyntax::HereDocument),
        ("a\rb", UnsupportedSyntax::Character),
        ("a\u{0}b", UnsupportedSyntax::Character),
        ("gh\u{a0}pr", UnsupportedSyntax::Character),
        ("gh\u{200b}", UnsupportedSyntax::Character),
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
    assert_eq!(parse(&long).unwrap_err().what, UnsupportedSyntax::TooLong);
    for (open, close) in [
        ("a $(", ")"),
        ("( ", ")"),
        ("{ ", ";}"),
        ("a ${x:-$(", ")}"),
    ] {
        let text = format!("{}a{}", open.repeat(40), close.repeat(40));
        assert_eq!(
            parse(&text).unwrap_err().what,
            UnsupportedSyntax::TooDeep,
            "{text}"
        );
    }
    assert!(parse(&format!("{}b{}", "a $(".repeat(30), ")".repeat(30))).is_ok());
}

#[test]
fn who_runs_its_arguments() {
    for (text, runs) in [
        ("git log -3", RunArguments::Nothing),
        ("gh pr view 1", RunArguments::Nothing),
        ("env", RunArguments::Nothing),
        ("env -u B A=1 git log", RunArguments::Command { at: 4 }),
        ("env A=1 -u B git log", RunArguments::Unclear),
        ("/usr/bin/env git", RunArguments::Command { at: 1 }),
        ("ENV git", RunArguments::Command { at: 1 }),
        ("env -S 'git log'", RunArguments::Unclear),
        ("env A=$x git", RunArguments::Command { at: 2 }),
        ("sudo -u root git", RunArguments::Command { at: 3 }),
        ("sudo -Z git", RunArguments::Unclear),
        ("timeout -k 1 5 git", RunArguments::Command { at: 4 }),
        (
            "timeout --kill-after=1 5 git",
            RunArguments::Command { at: 3 },
        ),
        ("timeout $x git", RunArguments::Unclear),
        ("nice -n 5 git", RunArguments::Command { at: 3 }),
        ("nohup git", RunArguments::Command { at: 1 }),
        ("xargs -n1 git log", RunArguments::Command { at: 2 }),
        ("xargs -I {} git {}", RunArguments::Command { at: 3 }),
        ("exec git", RunArguments::Command { at: 1 }),
        ("command git", RunArguments::Command { at: 1 }),
        ("command -v git", RunArguments::Nothing),
        ("builtin eval x", RunArguments::Command { at: 1 }),
        ("eval git log", RunArguments::Code { until: 2 }),
        ("sh -c 'git log'", RunArguments::Code { until: 2 }),
        ("bash -lc x a", RunArguments::Code { until: 2 }),
        ("bash x.sh a", RunArguments::File { at: 1 }),
        ("bash -e x.sh", RunArguments::File { at: 2 }),
        ("bash", RunArguments::Unclear),
        ("bash --version", RunArguments::Nothing),
        ("python3.12 -c x", RunArguments::Code { until: 2 }),
        ("python x.py", RunArguments::File { at: 1 }),
        ("python3 $x", RunArguments::Code { until: 1 }),
        ("perl -ne x", RunArguments::Code { until: 2 }),
        ("node --eval=x y", RunArguments::Code { until: 1 }),
        ("awk -F : x f", RunArguments::Code { until: 3 }),
        ("sed -n 1p f", RunArguments::Code { until: 2 }),
        ("bash -ceuo pipefail x a", RunArguments::Code { until: 3 }),
        ("bash -oc pipefail x a", RunArguments::Code { until: 3 }),
        ("sh -c -e x a", RunArguments::Code { until: 3 }),
        ("bash -c -- x a", RunArguments::Code { until: 3 }),
        (
            "bash -c -O extglob +o pipefail x a",
            RunArguments::Code { until: 6 },
        ),
        ("bash --rcfile r -ic x a", RunArguments::Code { until: 4 }),
        ("bash x.sh -c a", RunArguments::File { at: 1 }),
        ("bash -s -- a", RunArguments::Code { until: 2 }),
        ("bash -c $x y a", RunArguments::Code { until: 4 }),
        ("bash --unknown -c x a", RunArguments::Code { until: 4 }),
        ("sh -norc x a", RunArguments::Code { until: 3 }),
        ("node -e 1 --eval=x a b", RunArguments::Code { until: 3 }),
        ("node --unknown x.js a", RunArguments::Code { until: 3 }),
        ("node inspect x", RunArguments::Code { until: 2 }),
        ("perl -ne x a", RunArguments::Code { until: 3 }),
        ("lua -e x f a", RunArguments::Code { until: 3 }),
        ("sed -e p --expression=x f", RunArguments::Code { until: 3 }),
        ("sed --line-length 5 p f", RunArguments::Code { until: 3 }),
        ("awk -f x -f y a", RunArguments::File { at: 4 }),
        ("python3 -m x a", RunArguments::File { at: 2 }),
        ("xargs --replace git x", RunArguments::Command { at: 2 }),
        ("rsync --rsh=$x a b", RunArguments::Unclear),
        ("find . -exe$x sh", RunArguments::Unclear),
        (". -- x", RunArguments::File { at: 2 }),
        (". <(ls) x", RunArguments::File { at: 1 }),
        (". ~/x a", RunArguments::File { at: 1 }),
        ("source x", RunArguments::File { at: 1 }),
        (". x", RunArguments::File { at: 1 }),
        ("find . -name x", RunArguments::Nothing),
        ("find . -exec rm {} +", RunArguments::Command { at: 3 }),
        ("ssh h x", RunArguments::Code { until: 2 }),
        ("git -c alias.x=!y x", RunArguments::Unclear),
        ("$x", RunArguments::Unclear),
    ] {
        let line = parse(&text.replace("=!y", "='!y'")).expect("understood");
        let simple = line.commands.last().expect("a command");
        assert_eq!(simple.runs(), runs, "{text}");
        assert_eq!(
            simple.runs_arguments(),
            runs != RunArguments::Nothing,
            "{text}"
        );
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
