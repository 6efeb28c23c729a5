//! A reader that closes the output, as `head` does: the run ends, and its exit code is still that of the work.

use std::process::Stdio;

use metier_testkit::TestContext;

use crate::skill_project::SkillProject;

/// The exit code and stderr of a run whose stdout has no reader.
fn unread(context: &TestContext, arguments: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = context.command();
    command
        .args(arguments)
        .stdout(writer)
        .stderr(Stdio::piped());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

#[test]
fn a_closed_output_is_the_reader_s_choice() {
    let project = SkillProject::new();
    project.skill("notes", "", "Write notes.\n");
    assert_eq!(project.context.run(&["trust", "--yes"]).code, 0);
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["info", "notes"],
        &["show", "notes"],
        &["config"],
    ] {
        let (code, said) = unread(&project.context, arguments);
        assert_eq!(
            (code, said.contains("error:")),
            (Some(0), false),
            "{arguments:?}: {said}"
        );
    }
}

#[test]
fn a_failure_has_its_exit_code_without_a_reader() {
    let project = SkillProject::new();
    for (arguments, expected) in [
        (&["info", "none", "--json"][..], 1),
        (&["info", "none"], 1),
        (&["config", "skills.none", "--json"], 1),
        (&["list", "--events"], 2),
    ] {
        let (code, said) = unread(&project.context, arguments);
        assert_eq!(code, Some(expected), "{arguments:?}: {said}");
    }
}
