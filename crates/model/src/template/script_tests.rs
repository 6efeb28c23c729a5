//! Placeholders in commands: the result for each position.

use proptest::prelude::*;

use super::*;

fn prepare(text: &str, declared: bool) -> Script {
    let names = [Box::<str>::from("issue")];
    let spellings = Spellings {
        names: &names,
        declared,
        positional: true,
        dash_ends: true,
    };
    Script::prepare(text, spellings)
}

fn ready(text: &str) -> Recipe {
    match prepare(text, true) {
        Script::Ready(recipe) => recipe,
        Script::Refused(refused) => panic!("{text:?}: {refused}"),
    }
}

fn refused(text: &str) -> RefusedPlaceholder {
    match prepare(text, true) {
        Script::Ready(recipe) => panic!("{text:?} is ready: {recipe:?}"),
        Script::Refused(refused) => refused,
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn values(words: &[String]) -> Values<'_> {
    Values {
        text: "the text",
        words,
        skill_dir: "/skills/a b",
        project_dir: "/project",
        session_id: "s1",
    }
}

/// The script without its first lines.
fn body(text: &str, given: &[&str]) -> String {
    let given = words(given);
    let invocation = ready(text)
        .instantiate(&values(&given))
        .unwrap_or_else(|refusal| panic!("{text:?}: {refusal}"));
    match invocation.script.split_once("set --\n") {
        Some((_, script)) => script.to_owned(),
        None => invocation.script,
    }
}

#[test]
fn references_fit_their_quoting() {
    for (text, expected) in [
        (
            "gh pr view $ARGUMENTS --json x",
            "gh pr view \"${__metier_0_0}\" \"${__metier_0_1}\" --json x",
        ),
        ("gh pr view \"$ARGUMENTS\"", "gh pr view \"${__metier_0}\""),
        (
            "gh pr view \"a $ARGUMENTS b\"",
            "gh pr view \"a ${__metier_0} b\"",
        ),
        (
            "gh pr view $0 $1",
            "gh pr view \"${__metier_0}\" \"${__metier_1}\"",
        ),
        ("gh pr view $ARGUMENTS[1]", "gh pr view \"${__metier_0}\""),
        (
            "gh pr view x/$issue.md",
            "gh pr view x/\"${__metier_0}\".md",
        ),
        (
            "gh --title=$ARGUMENTS x",
            "gh --title=\"${__metier_0_0}\" \"${__metier_0_1}\" x",
        ),
        (
            "echo \"$(gh $ARGUMENTS)\"",
            "echo \"$(gh \"${__metier_0_0}\" \"${__metier_0_1}\")\"",
        ),
        (
            "echo \"$(gh \"$issue\")\"",
            "echo \"$(gh \"${__metier_0}\")\"",
        ),
        (
            "diff <(git show $0) x",
            "diff <(git show \"${__metier_0}\") x",
        ),
        (
            "if [ -n \"$0\" ]; then gh $0; fi",
            "if [ -n \"${__metier_0}\" ]; then gh \"${__metier_1}\"; fi",
        ),
        (
            "[ -f {baseDir}/x ] && gh $0",
            "[ -f \"${__metier_0}\"/x ] && gh \"${__metier_1}\"",
        ),
        (
            "gh $0-old \"$issue-$1\"",
            "gh \"${__metier_0}\"-old \"${__metier_1}-${__metier_2}\"",
        ),
        ("[ $0 = x ]", "[ \"${__metier_0}\" = x ]"),
        (
            "{baseDir}/run.sh $0",
            "\"${__metier_0}\"/run.sh \"${__metier_1}\"",
        ),
        (
            "bash ${CLAUDE_SKILL_DIR}/x.sh $0",
            "bash \"${__metier_0}\"/x.sh \"${__metier_1}\"",
        ),
        (
            "X=${METIER_PROJECT_DIR} ls >{baseDir}/x",
            "X=\"${__metier_0}\" ls >\"${__metier_1}\"/x",
        ),
        (
            "env A=1 timeout 5 gh $0",
            "env A=1 timeout 5 gh \"${__metier_0}\"",
        ),
        (
            "python3 - \"$0\" <<'E'\nx\nE",
            "python3 - \"${__metier_0}\" <<'E'\nx\nE",
        ),
        ("a\r\nb $0\r\n", "a\nb \"${__metier_0}\"\n"),
    ] {
        let script = body(text, &["one", "two"]);
        assert_eq!(script, expected, "{text:?}");
    }
}

#[test]
fn an_empty_text_has_no_words() {
    assert_eq!(body("gh pr view $ARGUMENTS --x", &[]), "gh pr view  --x");
    assert_eq!(body("gh x$ARGUMENTS", &[]), "gh x\"\"");
    assert_eq!(body("gh $ARGUMENTS#x", &[]), "gh \"\"#x");
    assert_eq!(body("gh 2$ARGUMENTS>x", &[]), "gh 2\"\">x");
    assert_eq!(body("gh \"$issue\"", &[]), "gh \"${__metier_0}\"");
}

#[test]
fn what_is_not_a_placeholder_is_the_shells() {
    for text in [
        "echo $HOME \"${x}\" $name ${ARGUMENTS} $issues $1000",
        "f() { echo hi; }",
        "echo 'unterminated",
    ] {
        let recipe = ready(text);
        assert_eq!(recipe.text(), text);
        assert_eq!(recipe.slots(), []);
        let invocation = recipe.instantiate(&values(&[])).expect("ready");
        assert_eq!(invocation.script, text);
        assert_eq!(invocation.parameters, Vec::<String>::new());
    }
}

#[test]
fn a_backslash_leaves_it_to_the_command() {
    assert_eq!(
        body("awk '{print \\$1}' $0", &["f"]),
        "awk '{print $1}' \"${__metier_0}\""
    );
    assert_eq!(body("echo \\$ARGUMENTS", &[]), "echo $ARGUMENTS");
    assert_eq!(body("echo \\\\$0", &["f"]), "echo \\\\\"${__metier_0}\"");
    assert_eq!(
        refused("echo \\\\\\$0").reason,
        PlaceholderReason::Elsewhere
    );
}

#[test]
fn a_number_in_single_quotes_is_the_commands_own_unless_arguments_are_declared() {
    let text = "git log $ARGUMENTS | awk '{ print $1 }'";
    match prepare(text, false) {
        Script::Ready(recipe) => {
            assert_eq!(recipe.text(), "git log ${__metier_0} | awk '{ print $1 }'");
            assert_eq!(recipe.slots().len(), 1);
        }
        Script::Refused(refused) => panic!("{refused}"),
    }
    assert_eq!(refused(text).reason, PlaceholderReason::SingleQuotes);
    assert_eq!(refused(text).placeholder, "$1");
}

// case 73, 74
#[test]
fn places_without_a_safe_reference_are_refused() {
    for (text, reason) in [
        ("echo '$ARGUMENTS'", PlaceholderReason::SingleQuotes),
        ("echo 'a'\\''$0'", PlaceholderReason::SingleQuotes),
        ("echo $'$ARGUMENTS'", PlaceholderReason::DollarQuotes),
        ("cat <<E\n$ARGUMENTS\nE\n", PlaceholderReason::HereDocument),
        (
            "cat <<'E'\n$ARGUMENTS\nE\n",
            PlaceholderReason::HereDocument,
        ),
        (
            "cat <<E\n$(gh $ARGUMENTS)\nE\n",
            PlaceholderReason::HereDocument,
        ),
        ("cat <<E\n{baseDir}\nE\n", PlaceholderReason::HereDocument),
        ("ls # $ARGUMENTS", PlaceholderReason::Comment),
        ("echo `gh $ARGUMENTS`", PlaceholderReason::Backticks),
        ("echo \"`gh $ARGUMENTS`\"", PlaceholderReason::Backticks),
        ("echo ${x:-$ARGUMENTS}", PlaceholderReason::Expansion),
        ("[[ a == $ARGUMENTS ]]", PlaceholderReason::Test),
        ("$ARGUMENTS", PlaceholderReason::Program),
        ("ls; x$0 b", PlaceholderReason::Program),
        ("echo $(\"$0\")", PlaceholderReason::Program),
        ("env $0", PlaceholderReason::Program),
        ("sudo -u root $0", PlaceholderReason::Program),
        ("timeout $0 ls", PlaceholderReason::Code),
        ("env $0 ls", PlaceholderReason::Program),
        ("find . -exec $0 {} +", PlaceholderReason::Program),
        ("x=$ARGUMENTS ls", PlaceholderReason::Assignment),
        ("x=$0", PlaceholderReason::Assignment),
        (
            "for x in $ARGUMENTS; do ls; done",
            PlaceholderReason::Assignment,
        ),
        ("ls >$0", PlaceholderReason::Redirect),
        ("cat <\"$ARGUMENTS\"", PlaceholderReason::Redirect),
        ("cat <<<$0", PlaceholderReason::Redirect),
        ("ls 2>&$0", PlaceholderReason::Redirect),
        ("sh -c \"gh $ARGUMENTS\"", PlaceholderReason::Code),
        ("bash -lc \"gh $0\" x", PlaceholderReason::Code),
        ("bash $0", PlaceholderReason::Code),
        ("eval gh $0", PlaceholderReason::Code),
        ("env A=1 sh -c \"gh $0\"", PlaceholderReason::Code),
        ("python3 -c \"print('$0')\"", PlaceholderReason::Code),
        (
            "python3 -W ignore -c \"print('$0')\"",
            PlaceholderReason::Code,
        ),
        ("awk \"/$0/\" f", PlaceholderReason::Code),
        ("sed \"s/a/$0/\" f", PlaceholderReason::Code),
        ("ssh h ls $0", PlaceholderReason::Code),
        ("xargs sh -c \"$0\"", PlaceholderReason::Code),
        ("find . -exec sh -c \"$0\" \\;", PlaceholderReason::Code),
        ("git -c $0 log", PlaceholderReason::Code),
        ("sh -c \"ls ${CLAUDE_SKILL_DIR}\"", PlaceholderReason::Code),
        ("source $0", PlaceholderReason::Code),
        ("trap \"$0\" EXIT", PlaceholderReason::Code),
        ("$x $0", PlaceholderReason::Code),
        ("case $0 in a) ls;; esac", PlaceholderReason::Elsewhere),
        ("case a in $0) ls;; esac", PlaceholderReason::Elsewhere),
        ("echo $$0", PlaceholderReason::Elsewhere),
        ("echo $__metier_0 $0", PlaceholderReason::Reserved),
    ] {
        assert_eq!(refused(text).reason, reason, "{text:?}");
    }
    for text in [
        "echo $((1 + $0))",
        "f() { gh $0; }",
        "echo 'a $0",
        "((x = $0))",
        "a[$0]=1",
        "echo ${x[$0]}",
    ] {
        assert!(
            matches!(refused(text).reason, PlaceholderReason::NotUnderstood(_)),
            "{text:?}"
        );
    }
    let many = format!("echo {}", "$0 ".repeat(65));
    assert_eq!(refused(&many).reason, PlaceholderReason::TooMany);
}

#[test]
fn a_refusal_shows_what_to_write() {
    assert_eq!(
        refused("echo '$ARGUMENTS'").to_string(),
        "`$ARGUMENTS` is in single quotes, where a shell expands nothing: use double quotes, or write \
         `\\$ARGUMENTS` to leave it to the command"
    );
    assert_eq!(
        refused("echo '{baseDir}'").to_string(),
        "`{baseDir}` is in single quotes, where a shell expands nothing: use double quotes"
    );
}

// case 76
#[test]
fn who_could_be_taken_for_an_option() {
    for (text, risk) in [
        ("gh pr view $ARGUMENTS", true),
        ("gh pr view \"$ARGUMENTS\"", true),
        ("gh pr view \"\"$0", true),
        ("gh pr view $HOME$0", true),
        ("gh pr view -- $ARGUMENTS", false),
        ("gh pr view \"--\" a $0", false),
        ("env -- gh $0", true),
        ("gh --title=$0", false),
        ("gh --title=$ARGUMENTS", true),
        ("gh x\"$ARGUMENTS\"", false),
        ("gh {baseDir}", false),
        ("gh -- \"$(git $0)\"", true),
    ] {
        let recipe = ready(text);
        let slot = recipe.slots().last().expect("a slot");
        assert_eq!(slot.option_risk, risk, "{text}");
    }
    let first = &ready("gh $0$1").slots;
    assert!(
        first[0].option_risk && first[1].option_risk,
        "the first may be empty"
    );
}

// case 76, 77
#[test]
fn values_that_are_refused() {
    let refusal = |text: &str, given: &[&str]| {
        let given = words(given);
        ready(text).instantiate(&values(&given)).unwrap_err()
    };
    for option in ["-rf", "--upload-pack=x", "-"] {
        for text in ["git fetch $ARGUMENTS", "git fetch $0", "git fetch $issue"] {
            assert!(
                matches!(
                    refusal(text, &[option]),
                    InvocationRefusal::LooksLikeOption { .. }
                ),
                "{text} {option}"
            );
        }
    }
    assert!(matches!(
        refusal("gh $ARGUMENTS", &["a", "-b"]),
        InvocationRefusal::LooksLikeOption { .. }
    ));
    assert!(matches!(
        refusal("gh -- $0", &["a\0b"]),
        InvocationRefusal::Nul { .. }
    ));
    let missing = refusal("gh $0 $2", &["a"]);
    assert_eq!(
        missing.to_string(),
        "`$2` is used in a command, and there is only 1 argument"
    );
    let long = "x".repeat(10 * 1024 * 1024);
    assert!(matches!(
        refusal("gh $0", &[&long]),
        InvocationRefusal::TooLong { .. }
    ));
    let many = vec!["x"; 5000];
    assert!(matches!(
        refusal("gh $ARGUMENTS", &many),
        InvocationRefusal::TooLong { .. }
    ));
    let large = "x".repeat(100 * 1024);
    assert!(matches!(
        refusal("gh $0 $0 $0 $0 $0 $0", &[&large]),
        InvocationRefusal::TooLong { .. }
    ));
}

#[test]
fn the_line_to_judge_knows_the_hosts_values() {
    let recipe = ready("bash ${CLAUDE_SKILL_DIR}/x.sh $ARGUMENTS | head");
    let line = recipe.line(|_| "/skills/a".to_owned()).expect("understood");
    let bash = &line.commands[0];
    assert_eq!(bash.runs(), crate::shell::RunArguments::File { at: 1 });
    assert_eq!(bash.words[1].literal(), Some("/skills/a/x.sh"));
    assert_eq!(bash.words[2].literal(), None);
    assert_eq!(line.commands[1].program(), Some("head"));
}

proptest! {
    // case 75, 78
    #[test]
    fn values_never_decide_about_the_text(first in any::<String>(), second in any::<String>()) {
        let text = "gh -- $ARGUMENTS \"$ARGUMENTS\" $0 x$issue {baseDir}";
        let script = |word: &str| {
            let given = words(&[word, "b"]);
            let values = Values { text: word, skill_dir: word, ..values(&given) };
            ready(text).instantiate(&values).map(|invocation| invocation.script)
        };
        if let (Ok(first), Ok(second)) = (script(&first), script(&second)) {
            prop_assert_eq!(first, second);
        }
    }

    #[test]
    fn any_command_is_prepared_without_panic(
        tokens in prop::collection::vec(
            prop::sample::select(vec![
                "gh ", "$ARGUMENTS", "$0", "$issue", "{baseDir}", " ", "\n", ";", "|", "$(", ")", "\"", "'", "`", "\\",
                "<<E\n", "\nE\n", "#", "x=", ">", "-- ", "${", "}", "[[ ", " ]]", "sh -c ", "env ",
            ]),
            0..24,
        )
    ) {
        let text = tokens.concat();
        if let Script::Ready(recipe) = prepare(&text, true) {
            let given = words(&["a", "b"]);
            let invocation = recipe.instantiate(&values(&given)).expect("harmless values");
            if !recipe.slots().is_empty() {
                let line = crate::shell::parse_references(recipe.text()).expect("understood");
                let (_, script) = invocation.script.split_once("set --\n").expect("a prologue");
                let made = crate::shell::parse(script).expect("what was made is understood as well");
                let programs = |line: &crate::shell::ShellLine| -> Vec<Option<String>> {
                    line.commands.iter().map(|one| one.program().map(str::to_owned)).collect()
                };
                prop_assert_eq!(programs(&line), programs(&made));
            }
        }
    }
}
