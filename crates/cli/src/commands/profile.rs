//! `metier profile`

use metier::distribution::{SettingsChange, SkillProfile};
use metier_wire::ProfilesDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Enable a named set of skills
///
/// A profile is a list of skills in the configuration. While one is in use, all other skills are disabled except the built-in ones; nothing is
/// removed. `metier profile` lists the profiles, `profile save NAME [SKILL …]` saves one (without skills: those that are enabled now), `profile use
/// NAME` applies it, `profile clear` enables all skills again, `profile remove NAME` deletes one. `metier undo` reverts each change.
#[derive(clap::Args)]
pub(crate) struct ProfileArgs {
    /// What to do [default: list]
    #[arg(value_enum)]
    action: Option<ProfileAction>,
    /// The profile
    name: Option<String>,
    /// Its skills, for `save`
    #[arg(value_name = "SKILL")]
    skills: Vec<String>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ProfileAction {
    /// List the profiles
    List,
    /// Enable the skills of a profile, and disable the others
    Use,
    /// Use no profile
    Clear,
    /// Save a profile
    Save,
    /// Delete a profile
    Remove,
}

impl ProfileAction {
    const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Use => "use",
            Self::Clear => "clear",
            Self::Save => "save",
            Self::Remove => "remove",
        }
    }
}

pub(crate) fn run(run: &CliRun, args: &ProfileArgs) -> Result<Exit, Failure> {
    let action = args.action.unwrap_or(ProfileAction::List);
    let settings = change(run, args, action)?;
    let profiles = run.profiles()?;
    let output = &run.output;
    if output.is_json() {
        let document =
            ProfilesDocument::of(&profiles, action.as_str(), settings.as_ref(), args.dry_run);
        output.document(&document)?;
        return Ok(Exit::Ok);
    }
    match (&settings, args.name.as_deref()) {
        (None, _) => list(run, &profiles)?,
        (Some(settings), name) => {
            let name = one_line(name.unwrap_or_default());
            let done = match action {
                ProfileAction::Use => format!("the profile {name} is in use"),
                ProfileAction::Save => format!("the profile {name} is saved"),
                ProfileAction::Remove => format!("the profile {name} is removed"),
                ProfileAction::Clear | ProfileAction::List => "no profile is in use".to_owned(),
            };
            let sign = output.paint("✓", Tone::Good);
            output.report(&match (args.dry_run, settings.is_different) {
                (true, _) => format!("with this change, {done}\n"),
                (false, true) => format!("{sign} {done}\n"),
                (false, false) => format!("{done} already\n"),
            })?;
            if settings.change.is_some() {
                let file = output.path(&settings.file);
                output.note(&format!("wrote {file}; undo with `metier undo`"));
            }
        }
    }
    Ok(Exit::Ok)
}

/// Carries out the action, if it is one that changes something.
fn change(
    run: &CliRun,
    args: &ProfileArgs,
    action: ProfileAction,
) -> Result<Option<SettingsChange>, Failure> {
    let too_many = match action {
        ProfileAction::List | ProfileAction::Clear => args.name.is_some(),
        ProfileAction::Use | ProfileAction::Remove => !args.skills.is_empty(),
        ProfileAction::Save => false,
    };
    if too_many {
        let message = format!("too many arguments for `profile {}`", action.as_str());
        return Err(Failure::broken("usage", message).hint("metier help profile"));
    }
    let name = || {
        args.name.as_deref().ok_or_else(|| {
            let message = "the name of the profile is missing";
            Failure::broken("usage", message)
                .hint(format!("metier profile {} NAME", action.as_str()))
        })
    };
    Ok(match action {
        ProfileAction::List => None,
        ProfileAction::Use => Some(run.use_profile(Some(name()?), args.dry_run)?),
        ProfileAction::Clear => Some(run.use_profile(None, args.dry_run)?),
        ProfileAction::Save => Some(run.save_profile(name()?, &args.skills, args.dry_run)?.1),
        ProfileAction::Remove => Some(run.remove_profile(name()?, args.dry_run)?),
    })
}

fn list(run: &CliRun, profiles: &[SkillProfile]) -> Result<(), Failure> {
    let output = &run.output;
    let mut text = String::new();
    for profile in profiles {
        let sign = match profile.is_active {
            true => output.paint("✓", Tone::Good),
            false => " ".to_owned(),
        };
        let name = one_line(&profile.name);
        let skills = profile.skills.iter().map(|skill| one_line(skill));
        let skills = skills.collect::<Vec<_>>().join(", ");
        let number = count(profile.skills.len(), "skill");
        text.push_str(&format!("{sign} {name}  {number}: {skills}\n"));
        if !profile.missing.is_empty() {
            let missing = one_line(&profile.missing.join(", "));
            text.push_str(&format!("    not on this machine: {missing}\n"));
        }
    }
    output.report(&text)?;
    if profiles.is_empty() {
        output.note("there are no profiles; save one with `metier profile save NAME SKILL …`");
    }
    Ok(())
}
