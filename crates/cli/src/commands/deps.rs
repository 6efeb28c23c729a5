//! `metier deps`

use std::io::{self, IsTerminal};

use metier::{
    dependencies::Dependencies,
    distribution::{RequiredSkill, RequirementState, RequirementTree},
};
use metier_wire::{DepsDocument, DepsTreeDocument, InstallerRow, RequiredRow};

use crate::{
    approver::confirmed,
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, one_line},
};

/// Show which programs and skills a skill requires
///
/// Nothing is installed without asking: --install shows the command, asks, runs that one installer with your rights, and
/// checks again. --tree shows the skills that it requires, and why their versions don't fit together.
#[derive(clap::Args)]
pub(crate) struct DepsArgs {
    /// The skill
    #[arg(required_unless_present = "tree")]
    name: Option<String>,
    /// Show the skills that it requires; without a name, for all skills
    #[arg(long, conflicts_with = "install")]
    tree: bool,
    /// Run an installer
    #[arg(long)]
    install: bool,
    /// Which installer, if there are several: its id, or a program that it installs
    #[arg(long, value_name = "ID", requires = "install")]
    with: Option<String>,
    /// Don't ask for confirmation (for scripts)
    #[arg(long, requires = "install")]
    yes: bool,
}

pub(crate) fn run(run: &CliRun, args: &DepsArgs) -> Result<Exit, Failure> {
    let (Some(name), false) = (&args.name, args.tree) else {
        let tree = run.requirement_tree(args.name.as_deref())?;
        return show_tree(run, &tree);
    };
    let plan = match args.install {
        true => run.plan_install(name, args.with.as_deref())?,
        false => None,
    };
    let Some(plan) = plan else {
        return answer(run, name, &run.dependencies(name)?);
    };
    let command = plan.command();
    if !args.yes && !agreed(command, run.output.is_json())? {
        return Err(
            Failure::unmet("not-agreed", format!("`{command}` was not run"))
                .skill(name)
                .hint(format!("run it yourself: {command}")),
        );
    }
    plan.run()?;
    answer(run, name, &run.dependencies(name)?)
}

fn show_tree(run: &CliRun, tree: &RequirementTree) -> Result<Exit, Failure> {
    let output = &run.output;
    let exit = Exit::unmet_if(!tree.conflicts.is_empty());
    if output.is_json() {
        let skills = tree.skills.iter().map(RequiredRow::from);
        output.document(&DepsTreeDocument {
            skills: skills.collect(),
            conflicts: tree.conflicts.clone(),
        })?;
        return Ok(exit);
    }
    let mut text = String::new();
    for skill in &tree.skills {
        push_branch(output, skill, "", "", &mut text);
    }
    if !tree.conflicts.is_empty() {
        text.push_str("\nthe versions are not compatible:\n");
    }
    for fact in &tree.conflicts {
        text.push_str(&format!("  {}\n", one_line(fact)));
    }
    output.report(&text)?;
    if tree.skills.is_empty() {
        output.note("no skill requires another skill");
    }
    Ok(exit)
}

/// One line of the tree and those below it. `first` is drawn before its name, `rest` before the lines below.
fn push_branch(output: &Output, skill: &RequiredSkill, first: &str, rest: &str, text: &mut String) {
    let bad = |words: String| output.paint(&words, Tone::Bad);
    let version = skill.version.as_deref().map(one_line).unwrap_or_default();
    let range = skill.range.as_deref().map(one_line).unwrap_or_default();
    let note = match skill.state {
        RequirementState::Installed if skill.is_repeated => "  (see above)".to_owned(),
        RequirementState::Installed => String::new(),
        RequirementState::Missing if skill.is_optional => "  not installed, optional".to_owned(),
        RequirementState::Missing => bad("  not installed".to_owned()),
        RequirementState::WrongVersion => bad(format!("  {range} is required")),
        RequirementState::Circular => "  (circular)".to_owned(),
    };
    let version = match version.is_empty() {
        true => String::new(),
        false => format!(" {version}"),
    };
    text.push_str(&format!(
        "{first}{}{version}{note}\n",
        one_line(&skill.name)
    ));
    let last = skill.requires.len().saturating_sub(1);
    for (position, below) in skill.requires.iter().enumerate() {
        let (branch, line) = if position == last {
            ("└── ", "    ")
        } else {
            ("├── ", "│   ")
        };
        let (first, rest) = (format!("{rest}{branch}"), format!("{rest}{line}"));
        push_branch(output, below, &first, &rest, text);
    }
}

/// Shows the command and asks. Without a terminal the answer is no.
fn agreed(command: &str, json: bool) -> Result<bool, Failure> {
    if json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::unmet(
            "not-agreed",
            format!("`{command}` needs confirmation, but there is no terminal"),
        )
        .hint("run it yourself, or add --yes"));
    }
    Ok(confirmed(&format!("Run `{}`?", one_line(command)))?)
}

fn answer(run: &CliRun, name: &str, needed: &Dependencies) -> Result<Exit, Failure> {
    let missing = &needed.missing;
    let exit = Exit::unmet_if(!missing.is_empty());
    let output = &run.output;
    if output.is_json() {
        let rows = needed.installers.iter().map(|installer| InstallerRow {
            id: installer.id.clone(),
            command: installer.command.clone(),
            brings: installer.installs.clone(),
        });
        output.document(&DepsDocument {
            name,
            missing,
            installers: rows.collect(),
        })?;
        return Ok(exit);
    }
    let mut text = String::new();
    for program in missing {
        let sign = output.paint("✗", Tone::Bad);
        text.push_str(&format!("{sign} {}\n", one_line(program)));
    }
    if missing.is_empty() {
        text.push_str(&format!(
            "{} all programs that {} requires are installed\n",
            output.paint("✓", Tone::Good),
            one_line(name)
        ));
    } else {
        for installer in &needed.installers {
            let absent = match installer.is_available {
                true => String::new(),
                false => format!("  (`{}` is not on PATH)", installer.program()),
            };
            text.push_str(&format!(
                "    {}  {}{absent}\n",
                one_line(&installer.id),
                one_line(&installer.command),
            ));
        }
    }
    output.report(&text)?;
    Ok(exit)
}
