//! A skill that declares no permissions works once exactly its requests are approved, and reports the reason when it does not.

use metier_testkit::model_server::ScriptedTurn;

use crate::{
    skill_project::{SkillProject, field},
    test_agent::{TestAgent, last_message},
};

/// The frontmatter of a skill that reviews pull requests, as a third party would write it.
const FRONT: &str = "context: fork\nmodel: claude-sonnet-4-20250514\ntools: [Bash, Read, Grep]\n\
    metadata:\n  openclaw:\n    requires:\n      bins: [gh]\n      anyBins: [claude, codex]\n      env: [GITHUB_TOKEN]\n      config: [github.enabled]\n    primaryEnv: GITHUB_TOKEN\n";
const BODY: &str =
    "# Review\n\n!gh pr view $ARGUMENTS --json number,title\n\nSay what you think.\n";

/// A `gh` that reports whether it has its token and network access.
const GH: &str = "[ -n \"$GITHUB_TOKEN\" ] && token=yes; [ -n \"$https_proxy\" ] && net=yes\n\
    echo \"pull request $3: token ${token:-no}, network ${net:-no}\"";

#[test]
fn review_pr_works_after_approving_exactly_what_it_asks_for() {
    let mut room = TestAgent::new([ScriptedTurn::text("Looks good.")]);
    room.stage
        .context
        .unset("METIER_SKILLS_SECURITY_SCAN_ON_LOAD")
        .env("GITHUB_TOKEN", "ghp_0123456789abcdef");
    room.stage.context.bin("gh", GH);
    room.stage.context.bin("codex", "exit 0");
    room.skill("review-pr", FRONT, BODY);
    assert_eq!(
        room.run(&["config", "settings.github.enabled", "true"])
            .code,
        0
    );
    let asked = room.run(&["permissions", "review-pr"]);
    for want in [
        "shell:exec(gh pr view $ARGUMENTS --json number,title)",
        "env:read(GITHUB_TOKEN)",
        "net:fetch(api.github.com)",
    ] {
        assert!(asked.stdout.contains(want), "{want}\n{}", asked.snapshot());
    }
    let before = room.run(&["run", "review-pr", "12"]);
    assert_eq!(before.code, 1, "{}", before.snapshot());
    let approved = room.run(&["permissions", "review-pr", "--approve"]);
    assert_eq!(approved.code, 0, "{}", approved.snapshot());
    let output = room.run(&["run", "review-pr", "12"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let requests = room.finish();
    let said = last_message(&requests[0]);
    assert!(
        said.contains("pull request 12: token yes, network yes"),
        "{said}"
    );
    assert_eq!(requests[0].json["model"], "claude-sonnet-4-20250514");
}

#[test]
fn a_pipeline_that_fails_is_an_error_with_its_complaint() {
    let stage = SkillProject::new();
    stage.context.bin(
        "broken",
        "echo 'broken: could not resolve host' >&2; exit 6",
    );
    stage.context.bin("quiet", "exit 0");
    stage.context.bin("chatty", "echo careful >&2; echo fine");
    stage.skill("fails", "", "Context: begins.\n!broken | head -1\n");
    stage.skill("empty", "", "Context: begins.\n!quiet | head -1\n");
    stage.skill("warns", "", "!chatty | head -1\n");
    let failed = stage.show("fails", &[]);
    assert_eq!(failed.code, 1, "{}", failed.snapshot());
    assert!(
        failed.stderr.contains("`broken | head -1` failed")
            && failed.stderr.contains("could not resolve host"),
        "{}",
        failed.stderr
    );
    let receipts = stage.receipts();
    let line = receipts
        .iter()
        .find(|receipt| field(receipt, "detail").contains("broken"));
    assert_eq!(field(line.unwrap(), "outcome"), "error", "{receipts:?}");
    // An empty result, or a warning besides the output, is not a failure.
    assert_eq!(stage.show("empty", &[]).code, 0);
    let warned = stage.show("warns", &[]);
    assert_eq!(warned.stdout.trim(), "fine", "{}", warned.snapshot());
}

#[test]
fn a_script_asks_for_the_hosts_that_its_code_reaches_and_the_variables_it_requires() {
    let stage = SkillProject::new();
    let front = "metadata: {openclaw: {requires: {env: [ITEMS_KEY]}}}\n";
    stage.skill("fetches", front, "Run scripts/get.sh.\n");
    stage.context.write(
        "skills/fetches/scripts/get.sh",
        "#!/bin/sh\ncurl -sS https://api.example.net/v1/items\n",
    );
    let asked = stage.run(&["permissions", "fetches"]);
    for want in [
        "shell:exec(scripts/",
        "net:fetch(api.example.net)",
        "env:read(ITEMS_KEY)",
    ] {
        assert!(asked.stdout.contains(want), "{want}\n{}", asked.snapshot());
    }
}

#[test]
fn a_hook_asks_for_what_the_script_behind_its_command_needs() {
    let stage = SkillProject::new();
    stage.skill("hooked", "", "Text.\n");
    stage.context.write(
        "skills/hooked/hooks/hooks.json",
        r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "./scripts/check.sh"}]}]}}"#,
    );
    stage.context.write(
        "skills/hooked/scripts/check.sh",
        "#!/bin/sh\ncurl -sS \"https://policy.example.net/check?who=$BADGE\"\n",
    );
    let asked = stage.run(&["permissions", "hooked"]);
    for want in [
        "shell:exec(./scripts/check.sh)",
        "net:fetch(policy.example.net)",
        "env:read(BADGE)",
    ] {
        assert!(asked.stdout.contains(want), "{want}\n{}", asked.snapshot());
    }
}
