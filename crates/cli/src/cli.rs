//! The command line: the flags that every command takes, and the commands.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum, builder::styling};

pub(crate) use metier::NamedRoot;

use crate::commands::{
    agent, call, chat, check, completions, compose, config, deps, doctor, enable, eval, exec,
    improve, info, install, keygen, list, log, login, man, mcp, new, outdated, pack, permissions,
    profile, prompt, publish, read, remove, rollback, run, scan, schema, search, select, serve,
    show, sign, spawn, sync, test, tools, trust, ui, undo, update, validate, verify,
    verify_signature, why, yank,
};

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Green.on_default().bold())
    .usage(styling::AnsiColor::Green.on_default().bold())
    .literal(styling::AnsiColor::Cyan.on_default().bold())
    .placeholder(styling::AnsiColor::Cyan.on_default());

/// Find, check and use the skills of every agent on this machine.
///
/// A skill is a folder with a SKILL.md or SKILL.yaml. metier finds them where Claude Code, Codex,
/// OpenClaw and sixty other agents keep them, reports what is wrong with each and how to fix it, scans
/// them, runs their code in a sandbox and serves them to a model. Without a command it prints an overview.
#[derive(Parser)]
#[command(name = "metier", version, styles = STYLES, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<CliCommand>,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Work as if started in this folder
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(crate) directory: Option<PathBuf>,
    /// Read this file instead of the user's configuration
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// Look for skills here and nowhere else; SOURCE is extra, builtin, user, project or inline
    #[arg(long, value_name = "[SOURCE=]DIR", global = true, value_parser = parse_root)]
    pub(crate) root: Vec<NamedRoot>,
    /// Select skills by name
    #[arg(long, value_name = "A,B", global = true, value_delimiter = ',')]
    pub(crate) skills: Vec<String>,
    /// Add a skill, or a folder of skills, for this run; it shadows all others
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) skill_dir: Vec<PathBuf>,
    /// Approve the permissions that these skills request, for this run
    #[arg(long, value_name = "A,B", global = true, value_delimiter = ',')]
    pub(crate) approve_skills: Vec<String>,
    /// Run programs of skills without a sandbox; the receipts record it
    #[arg(long, global = true)]
    pub(crate) unsandboxed: bool,
    /// Print one JSON document and nothing else
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// With --json: report progress and warnings as lines of JSON on standard error
    #[arg(long, global = true)]
    pub(crate) events: bool,
    /// Print fewer messages
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more messages
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, global = true)]
    pub(crate) color: Color,
    /// Read every skill again instead of trusting the index
    #[arg(long, global = true)]
    pub(crate) no_index: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// A word before `=` is a source; a path can contain a `=`.
fn parse_root(text: &str) -> Result<NamedRoot, String> {
    if text.is_empty() {
        return Err("the folder is missing".into());
    }
    match text.split_once('=') {
        Some((word, path)) if !word.contains(['/', '.']) => {
            let source = word
                .parse()
                .map_err(|error: metier::skill::UnknownWord| error.to_string())?;
            Ok(NamedRoot {
                source,
                path: path.into(),
            })
        }
        _ => Ok(NamedRoot {
            source: metier::Source::Project,
            path: text.into(),
        }),
    }
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    List(list::ListArgs),
    Info(info::InfoArgs),
    Validate(validate::ValidateArgs),
    Prompt(prompt::PromptArgs),
    Show(show::ShowArgs),
    Read(read::ReadArgs),
    Scan(scan::ScanArgs),
    Check(check::CheckArgs),
    Eval(eval::EvalArgs),
    Improve(improve::ImproveArgs),
    Select(select::SelectArgs),
    Why(why::WhyArgs),
    Compose(compose::ComposeArgs),
    Doctor(doctor::DoctorArgs),
    Run(run::RunArgs),
    Agent(agent::AgentArgs),
    Chat(chat::ChatArgs),
    Spawn(spawn::SpawnArgs),
    Tools(tools::ToolsArgs),
    Call(call::CallArgs),
    Test(test::Args),
    Exec(exec::ExecArgs),
    Install(install::InstallArgs),
    Add(install::AddArgs),
    #[command(alias = "uninstall", alias = "rm")]
    Remove(remove::RemoveArgs),
    Undo(undo::UndoArgs),
    Verify(verify::VerifyArgs),
    Trust(trust::TrustArgs),
    Permissions(permissions::PermissionsArgs),
    Log(log::LogArgs),
    Deps(deps::DepsArgs),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    Profile(profile::ProfileArgs),
    Sync(sync::SyncArgs),
    Update(update::UpdateArgs),
    Outdated(outdated::OutdatedArgs),
    Rollback(rollback::RollbackArgs),
    Search(search::SearchArgs),
    Publish(publish::PublishArgs),
    Login(login::LoginArgs),
    Yank(yank::YankArgs),
    #[command(alias = "create")]
    New(new::NewArgs),
    Pack(pack::PackArgs),
    Keygen(keygen::KeygenArgs),
    Sign(sign::SignArgs),
    VerifySignature(verify_signature::VerifySignatureArgs),
    Mcp(mcp::McpArgs),
    Serve(serve::ServeArgs),
    Ui(ui::UiArgs),
    Config(config::ConfigArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// `metier skills list` and `metier skill list` are `metier list`: the word is dropped where a
/// command is expected.
pub(crate) fn without_seed_spelling(mut arguments: Vec<OsString>) -> Vec<OsString> {
    const WITH_VALUE: &[&str] = &[
        "-C",
        "--config",
        "--root",
        "--skills",
        "--skill-dir",
        "--approve-skills",
        "--color",
    ];
    let mut index = 1;
    while let Some(argument) = arguments.get(index).and_then(|argument| argument.to_str()) {
        match argument {
            "skill" | "skills" => {
                arguments.remove(index);
                break;
            }
            flag if WITH_VALUE.contains(&flag) => index += 2,
            flag if flag.starts_with('-') && flag != "--" => index += 1,
            _ => break,
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn seed_spellings_are_the_same_commands() {
        let check = |text: &str| {
            let words = without_seed_spelling(text.split(' ').map(OsString::from).collect());
            words
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(check("metier skills list --json"), "metier list --json");
        assert_eq!(
            check("metier -C skills --json skill info x"),
            "metier -C skills --json info x"
        );
        assert_eq!(check("metier info skills"), "metier info skills");
        assert_eq!(
            check("metier --skills skill list"),
            "metier --skills skill list"
        );
    }
}
