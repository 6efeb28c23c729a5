//! The runner itself: documents that pass, and above all those that must not. A small shell script replaces `metier`.

use std::fs;
use std::path::Path;

use super::{SpecReport, StartService, check, check_dir, run_dir};
use crate::TestContext;
use crate::process::make_executable;

/// `echo WORDS`, `fail WORDS` (on stderr, exit 3), `read FILE`, `json`, `variable NAME`, `input`, `hang`.
const PROGRAM: &str = r#"#!/bin/sh
command=$1; shift
case $command in
  echo) echo "$@" ;;
  fail) echo "out"; echo "error: $@" >&2; exit 3 ;;
  read) while IFS= read -r line; do printf '%s\n' "$line"; done < "$1" ;;
  json) echo "{\"skills\":[{\"name\":\"a\",\"path\":\"$PWD/a\"},{\"name\":\"b\",\"n\":2}],\"none\":[]}"; echo note >&2 ;;
  variable) eval "echo \${$1-unset}" ;;
  input) while read -r line; do echo "got $line"; done ;;
  run) "$@" ;;
  dollar) echo '$ ls'; echo '? 3'; echo '...' ;;
  esac
"#;

/// A folder with the replacement script and a `spec/` of these documents.
fn folder(documents: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("metier");
    fs::write(&program, PROGRAM).unwrap();
    make_executable(&program);
    fs::create_dir(folder.path().join("spec")).unwrap();
    for (name, text) in documents {
        fs::write(folder.path().join("spec").join(name), text).unwrap();
    }
    folder
}

fn run(folder: &Path, bless: bool) -> SpecReport {
    check_dir(&folder.join("metier"), &folder.join("spec"), bless)
}

fn report(text: &str) -> SpecReport {
    run(folder(&[("a.md", text)]).path(), false)
}

#[track_caller]
fn passes(text: &str) {
    let report = report(text);
    assert!(report.is_success(), "{report}");
}

/// The document must fail, and the report must contain these strings.
#[track_caller]
fn fails(text: &str, expected: &[&str]) {
    let report = report(text);
    assert!(!report.is_success(), "this must fail:\n{text}");
    let shown = report.to_string();
    for part in expected {
        assert!(
            shown.contains(part),
            "`{part}` is not in the report:{shown}"
        );
    }
}

const GOOD: &str = "# Title

Shared by all:

```text file=shared.txt
shared
```

```env
COLOUR=blue
PLACE=[WORK]/x
```

## Files

````markdown file=skills/hello/SKILL.md
# Hello
```sh
ls
```
````

```text file=~/notes/a.txt
home
```

```console
$ metier read skills/hello/SKILL.md
# Hello
```sh
ls
```
```
";

#[test]
fn files_variables_and_commands() {
    let good = GOOD.replace(
        "```console\n$ metier read skills",
        "````console\n$ metier read skills",
    );
    let good = good.replace(
        "ls\n```\n```\n",
        "ls\n```\n$ metier read ~/notes/a.txt\nhome\n````\n",
    );
    passes(&good);
    passes(&format!(
        "{good}\n## Another\n\n```console\n$ metier read shared.txt\nshared\n$ metier variable PLACE\n[WORK]/x\n```\n"
    ));
    // Each scenario is fresh: the first one's file does not exist in the second.
    passes(&format!(
        "{good}\n## Fresh\n\n```console\n$ cat skills/hello/SKILL.md\ncat: [..]\n? 1\n```\n"
    ));
}

#[test]
fn output_code_and_wildcards() {
    passes(
        "## A\n```console\n$ metier fail \"a b\" 'c d'\nout\nerror: a b c d\n? 3\n\n$ metier echo x1y\nx[..]y\n```\n",
    );
    passes("## A\n```console\n$ metier fail x\n...\n? 3\n```\n");
    passes("## A\n```console\n$ metier dollar\n\\$ ls\n\\? 3\n\\...\n```\n");
    passes(
        "## A\n```console\n$ NAME=[HOME]/x metier variable NAME\n[HOME]/x\n$ metier variable NAME\nunset\n```\n",
    );
    passes("## A\n```text file=in\na\n```\n```console\n$ metier input < in\ngot a\n```\n");
}

#[test]
fn special_files() {
    passes(
        "## A\n```text file=x escape no-newline\na\\u{1b}\\r\\u{202e}\n```\n```console\n$ cat x\na\\u{1b}\\u{d}\\u{202e}\n```\n",
    );
    passes(
        "## A\n```text file=x expand\n[WORK]/y\n```\n```console\n$ metier read x\n[WORK]/y\n```\n",
    );
    passes(
        "## A\n```text file=x\na\n```\n```text symlink=x file=y\n```\n```text dir=d/e\n```\n```console\n$ cat y\na\n$ metier run cd d/e\n```\n",
    );
    passes(
        "## A\n```sh file=$BIN/gh\n#!/bin/sh\necho fake\n```\n```console\n$ metier run gh\nfake\n```\n",
    );
}

#[test]
fn built_ins() {
    passes(
        "## A\n```console\n$ mkdir a/b\n$ ln -s /bin/sh $BIN/sh\n$ metier run sh -c 'echo hi'\nhi\n$ mkfifo a/pipe\n$ rm a\n$ cat a/pipe\n[..]\n? 1\n```\n",
    );
    passes(
        "## A\n```text file=x\n```\n```console\n$ chmod 755 x\n$ metier run test -x x\n```\n"
            .replace("run test", "run /usr/bin/test")
            .as_str(),
    );
}

#[test]
fn json_is_compared_by_containment() {
    passes(
        "## A\n```console\n$ metier json\nnote\n```\n```json contains\n{\"skills\": [{\"name\": \"b\"}]}\n```\n```json contains\n{\"skills\": [{\"path\": \"[WORK]/a\"}, {\"n\": \"[..]\"}], \"none\": []}\n```\n",
    );
}

#[test]
fn illustrations_and_prose_are_not_run() {
    passes("## Prose\n\n```toml\na = 1\n```\n\n## A\n```console\n$ metier echo a\na\n```\n");
}

#[test]
fn sabotage_wrong_output_fails() {
    fails(
        "# T\n\n## Says b\n\n```console\n$ metier echo a\nb\n```\n",
        &[
            "a.md:6 (Says b)",
            "$ metier echo a",
            "- b",
            "+ a",
            "1 failures",
        ],
    );
    fails("## A\n```console\n$ metier echo a\n```\n", &["+ a"]);
    fails("## A\n```console\n$ metier echo\na\n```\n", &["- a"]);
    fails(
        "## A\n```console\n$ metier fail x\nout\n...\n```\n",
        &["expected exit code 0, got 3"],
    );
    fails(
        "## A\n```console\n$ metier fail x\n[..]\n? 3\n```\n",
        &["+ error: x"],
    );
    fails(
        "## A\n```console\n$ metier echo a\na\n? 1\n```\n",
        &["expected exit code 1, got 0"],
    );
}

#[test]
fn sabotage_wrong_json_fails() {
    let json = |expected: &str| {
        format!("## A\n```console\n$ metier json\nnote\n```\n```json contains\n{expected}\n```\n")
    };
    fails(
        &json("{\"skills\": [{\"name\": \"c\"}]}"),
        &["a.md:6", "$.skills[0].name: expected \"c\", found \"a\""],
    );
    fails(&json("{\"skills\": []}"), &["expected an empty list"]);
    fails(
        "## A\n```console\n$ metier json\n```\n```json contains\n{}\n```\n",
        &["+ note", "standard error"],
    );
    fails(
        "## A\n```console\n$ metier echo a\n```\n```json contains\n{}\n```\n",
        &["not one JSON document"],
    );
    fails(
        "## A\n```json contains\n{}\n```\n```console\n$ metier echo\n```\n",
        &["no command before"],
    );
    fails(
        "## A\n```console\n$ metier json\n```\n```json contains\n{\n```\n",
        &["not JSON"],
    );
}

#[test]
fn sabotage_every_failure_is_reported() {
    let folder = folder(&[
        (
            "a.md",
            "## A\n```console\n$ metier echo a\nb\n$ metier echo c\nd\n```\n",
        ),
        (
            "b.md",
            "## B\n```console\n$ metier echo e\nf\n```\n## C\n```console\n$ metier echo\n```\n",
        ),
    ]);
    let report = run(folder.path(), false);
    let places: Vec<_> = report
        .failures
        .iter()
        .map(|failure| (failure.file.to_str().unwrap(), failure.line))
        .collect();
    assert_eq!(places, [("a.md", 3), ("a.md", 5), ("b.md", 3)]);
    assert_eq!(
        (report.documents, report.scenarios, report.commands),
        (2, 3, 4)
    );
}

#[test]
fn sabotage_a_test_that_tests_nothing_fails() {
    fails("# Only a title\n", &["no scenario"]);
    fails(
        "## A\n```text file=x\n```\n",
        &["prepares things but runs nothing"],
    );
    fails("## A\n```console\n```\n", &["runs nothing"]);
    fails(
        "```console\n$ metier echo\n```\n",
        &["belongs below a `##` heading"],
    );
    fails(
        "## A\n```json contain\n{}\n```\n```console\n$ metier echo\n```\n",
        &["no attribute `contain`"],
    );
    fails(
        "## A\n```text fil=x\n```\n```console\n$ metier echo\n```\n",
        &["no attribute `fil`"],
    );
    let empty = run(folder(&[]).path(), false);
    assert!(!empty.is_success());
    let missing = check_dir(Path::new("/bin/sh"), Path::new("does-not-exist"), false);
    assert!(!missing.is_success());
}

#[test]
fn sabotage_what_cannot_be_understood_fails() {
    fails(
        "## A\n```console\necho a\n$ metier echo\n```\n",
        &["starts with `$ COMMAND`"],
    );
    fails("## A\n```console\n$ metier echo 'a\n```\n", &["not closed"]);
    fails(
        "## A\n```console\n$ metier echo | cat\n```\n",
        &["needs a shell"],
    );
    fails(
        "## A\n```console\n$ curl x\n```\n",
        &["`curl` is not available"],
    );
    fails(
        "## A\n```console\n$ metier echo\n? one\n```\n",
        &["not an exit code"],
    );
    fails(
        "## A\n```console\n$ metier echo\n? 1\nb\n```\n",
        &["not at the end"],
    );
    fails(
        "## A\n```text file=../x\n```\n```console\n$ metier echo\n```\n",
        &["leaves the test's folder"],
    );
    fails(
        "## A\n```text file=x escape\n\\q\n```\n```console\n$ metier echo\n```\n",
        &["unknown escape"],
    );
    fails(
        "## A\n```env\nnonsense\n```\n```console\n$ metier echo\n```\n",
        &["not NAME=value"],
    );
}

#[test]
fn blessing_rewrites_what_differs_and_keeps_the_rest() {
    let before = "# T\n\ntext  \n\n## A\n\n```console\n$ metier echo a1b\na[..]b\n\n$ metier fail x\n...\nold\n\n$ metier echo end\n```\n\n- list\n";
    let after = "# T\n\ntext  \n\n## A\n\n```console\n$ metier echo a1b\na[..]b\n\n$ metier fail x\n...\n? 3\n\n$ metier echo end\nend\n```\n\n- list\n";
    let folder = folder(&[("a.md", before)]);
    let report = run(folder.path(), true);
    assert!(report.is_success(), "{report}");
    assert_eq!(report.blessed, 2);
    assert_eq!(
        fs::read_to_string(folder.path().join("spec/a.md")).unwrap(),
        after
    );
    assert!(run(folder.path(), false).is_success());
}

#[test]
fn blessing_does_not_hide_other_failures() {
    let folder = folder(&[(
        "a.md",
        "## A\n```console\n$ metier json\nx\n```\n```json contains\n{\"z\": 1}\n```\n",
    )]);
    let report = run(folder.path(), true);
    assert_eq!((report.blessed, report.failures.len()), (1, 1), "{report}");
}

#[test]
fn a_hanging_command_is_a_failure() {
    let mut context = TestContext::new("/bin/sleep");
    context.timeout(std::time::Duration::from_millis(100));
    assert!(context.try_run(&["50"], None).is_err());
}

#[test]
fn run_dir_passes() {
    let folder = folder(&[
        ("a.md", "## A\n```console\n$ metier echo a\na\n```\n"),
        ("README.md", "# How\n"),
    ]);
    run_dir(&folder.path().join("metier"), &folder.path().join("spec"));
}

#[test]
fn a_service_is_started_for_a_scenario_and_an_unknown_one_is_a_failure() {
    let text = "## A\n```text service=note\n```\n```console\n$ cat note.txt\nstarted\n```\n";
    let folder = folder(&[("a.md", text)]);
    let (bin, dir) = (folder.path().join("metier"), folder.path().join("spec"));
    let note: StartService = |context| Box::new(context.write("note.txt", "started\n"));
    let known = check((&bin, &[("note", note)]), &dir, false, "");
    assert!(known.is_success(), "{known}");
    let unknown = check((&bin, &[("other", note)]), &dir, false, "");
    assert!(
        unknown
            .to_string()
            .contains("there is no service `note` here"),
        "{unknown}"
    );
}

#[test]
fn one_scenario_can_be_run_alone() {
    let scenario = |title: &str| format!("## {title}\n```console\n$ metier echo a\na\n```\n");
    let two = format!("{}{}", scenario("The first case"), scenario("The second"));
    let folder = folder(&[("one.md", &two), ("two.md", &scenario("The first case"))]);
    let (bin, dir) = (folder.path().join("metier"), folder.path().join("spec"));
    let scenarios = |wanted: &str| check((&bin, &[]), &dir, false, wanted).scenarios;
    assert_eq!(scenarios(""), 3);
    assert_eq!(scenarios("one"), 2);
    assert_eq!(scenarios("one#first"), 1);
    assert_eq!(scenarios("#first"), 2);
    // Nothing was tested, which is a failure.
    assert!(!check((&bin, &[]), &dir, false, "one#third").is_success());
}

#[test]
#[should_panic(expected = "$.z: expected 1")]
fn sabotage_run_dir_panics_with_the_report() {
    // Not a wrong line, which would be rewritten and pass when the tests are run with METIER_BLESS=1.
    let text = "## A\n```console\n$ metier json\nnote\n```\n```json contains\n{\"z\": 1}\n```\n";
    let folder = folder(&[("a.md", text)]);
    run_dir(&folder.path().join("metier"), &folder.path().join("spec"));
}
