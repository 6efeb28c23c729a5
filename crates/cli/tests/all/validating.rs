//! The files that `metier validate` reads.

use metier_testkit::TestContext;

#[test]
fn a_folder_of_skills_is_validated_like_each_of_them_or_reports_what_was_not_read() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let skill =
        |name: &str| format!("---\nname: {name}\ndescription: Does {name}.\n---\n!(git log)\n");
    context.write("skills/a/SKILL.md", skill("a"));
    let warning = "skills/a/SKILL.md: warning: `!(git log)` is not run";
    for path in ["skills", "skills/a"] {
        let output = context.run(&["validate", path]);
        assert!(output.stdout.contains(warning), "{}", output.snapshot());
        assert_eq!(output.stderr, "", "{}", output.snapshot());
    }
    for number in 0..500 {
        let name = format!("s{number}");
        context.write(&format!("skills/{name}/SKILL.md"), skill(&name));
    }
    let output = context.run(&["validate", "skills"]);
    assert!(
        output
            .stderr
            .contains("the bodies of 501 skills were not read"),
        "{}",
        output.snapshot()
    );
    let output = context.run(&["validate", "skills/a"]);
    assert!(output.stdout.contains(warning), "{}", output.snapshot());
}
