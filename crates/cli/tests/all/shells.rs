//! The Tab key in real shells: the output of `metier completions` is installed as its help describes, and used.

use std::{path::PathBuf, process::Command};

use metier_testkit::{NotRun, TestContext, needed, needs};

use crate::{
    agent_terminal::{ENTER, Person},
    skill_project::SkillProject,
};

/// A machine with a skill, the program on `PATH`, and a shell if there is one.
fn machine(shell: &str) -> Result<(SkillProject, PathBuf), NotRun> {
    let shell = needs::program(shell)?;
    let stage = SkillProject::new();
    stage.skill_in("~/.claude/skills", "weather-report", "", "Look outside.\n");
    let command = stage.context.command();
    let program = command.get_program().to_str().unwrap();
    stage
        .context
        .bin("metier", &format!("#!/bin/sh\nexec {program} \"$@\"\n"));
    Ok((stage, shell))
}

fn script(context: &TestContext, shell: &str) -> String {
    let output = context.run(&["completions", shell]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    output.stdout
}

/// The first Tab of a shell, which loads the function, already completes.
#[test]
fn zsh_completes() {
    let (stage, zsh) = needed!(machine("zsh"));
    needed!(needs::program("script"));
    let context = &stage.context;
    context.write("~/.zfunc/_metier", script(context, "zsh"));
    context.write(
        "~/.zshrc",
        "fpath=(~/.zfunc $fpath)\nautoload -Uz compinit\ncompinit -u\nPS1='ready> '\n",
    );
    let mut person = Person::typing(context, &format!("{} -i", zsh.display()));
    for (typed, seen) in [
        ("metier info weather-r\t", "called by"),
        ("metier config skills.validation st\t", "strict"),
        ("metier list --read\t", "weather-report"),
    ] {
        person.sees("ready> ");
        person.types(&format!("{typed}{ENTER}"));
        person.sees(seen);
    }
    person.sees("ready> ");
    person.types(&format!("exit{ENTER}"));
    let (code, shown) = person.leaves();
    assert_eq!(code, 0, "{shown:?}");
}

#[test]
fn fish_completes() {
    let (stage, fish) = needed!(machine("fish"));
    let context = &stage.context;
    context.write(
        "~/.config/fish/completions/metier.fish",
        script(context, "fish"),
    );
    let plain = context.command();
    let offered = |line: &str| {
        let output = Command::new(&fish)
            .args(["-c", &format!("complete -C '{line}'")])
            .env_clear()
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(plain.get_current_dir().unwrap())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = text
            .lines()
            .map(|line| line.split('\t').next().unwrap_or_default().to_owned());
        first.collect::<Vec<String>>()
    };
    assert_eq!(offered("metier info weather-r"), ["weather-report"]);
    assert_eq!(offered("metier config skills.validation st"), ["strict"]);
    assert_eq!(offered("metier list --read"), ["--ready"]);
    context.write("notes/one.txt", "");
    assert_eq!(offered("metier validate no"), ["notes/"]);
}
