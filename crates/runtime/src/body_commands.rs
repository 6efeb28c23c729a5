//! Activation: the body of a skill with its commands run, each with a permit and a receipt.

use metier_config::OnCommandError;
use metier_host::{
    child::{ChildOutcome, Exit},
    execution::ActResult,
};
use metier_model::shell;
use metier_model::template::{BodyCommand, BodyPiece, HostVariable, Script, Values};
use metier_policy::{Act, CommandLine, Purpose};
use metier_store::Receipt;

use crate::{
    approvals::GrantRefused,
    granted_skill::{ActError, GrantedSkill, failed_in_pipeline},
    guarded::Guarded,
    render::{
        self, Arguments, CommandRunner, LoadedSkill, NoCommands, RenderError, RenderVariables,
        Rendered,
    },
    skill_environment::{SkillEnvironment, StartError},
};

pub use crate::render::RanCommand;

/// A skill, ready for a model.
#[derive(Debug)]
pub struct RenderedBody {
    /// Its body and the files next to it.
    pub rendered: Rendered,
    /// The commands that ran.
    pub commands: Vec<RanCommand>,
    /// The receipts.
    pub receipts: Vec<Receipt>,
}

/// Why a skill could not be activated.
#[derive(Debug, thiserror::Error)]
pub enum BodyCommandError {
    /// Its body can't be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The command is not permitted.
    #[error(transparent)]
    Refused(#[from] GrantRefused),
    /// One of its acts was not done.
    #[error(transparent)]
    Failed(#[from] ActError),
    /// The arguments can't be passed to a command.
    #[error("`{command}` can't be run: {reason}")]
    Arguments {
        /// As its author wrote it.
        command: String,
        /// Why the command can't be run.
        reason: String,
    },
    /// It requires an unsupported shell.
    #[error("it requires the shell `{0}`, but commands only run in sh or bash")]
    Shell(String),
    /// A program of a pipeline failed, and the pipeline has no output.
    #[error("`{command}` failed: it printed nothing but errors")]
    Pipeline {
        /// As its author wrote it.
        command: String,
        /// The standard error of its programs.
        stderr: String,
    },
    /// A command ran and failed.
    #[error("`{command}` failed: {ended}")]
    Command {
        /// As its author wrote it.
        command: String,
        /// How the command ended.
        ended: Exit,
        /// Its standard error.
        stderr: String,
    },
}

/// Activates a skill. Without commands in its body no permission is needed.
///
/// # Errors
/// When a permission is missing, or when a command fails and the configuration makes that an error.
pub fn activate(
    skill: &LoadedSkill,
    arguments: &Arguments,
    project: &str,
    environment: &SkillEnvironment,
) -> Result<RenderedBody, BodyCommandError> {
    let pieces = skill.pieces();
    let here = RenderVariables {
        project,
        session: &environment.approvals.session,
        reads: true,
    };
    let commands: Vec<&str> = pieces.iter().filter_map(text).collect();
    if commands.is_empty() {
        return Ok(RenderedBody {
            rendered: render::render(skill, &pieces, arguments, here, &NoCommands)?,
            commands: Vec::new(),
            receipts: Vec::new(),
        });
    }
    let shell = skill.manifest.invocation.shell.as_deref();
    if let Some(other) = shell.filter(|shell| !["sh", "bash"].contains(shell)) {
        return Err(BodyCommandError::Shell(other.to_owned()));
    }
    let worker = environment.worker(skill, Purpose::Render(&commands))?;
    let hands = PermittedRunner {
        worker: &worker,
        on_error: environment.config.security.on_command_error,
        ran: Guarded::default(),
    };
    let rendered = render::render(skill, &pieces, arguments, here, &hands)?;
    Ok(RenderedBody {
        rendered,
        commands: hands.ran.into_inner(),
        receipts: worker.receipts(),
    })
}

/// Runs a command that must succeed before or after a skill works, in the project: whether it ended with exit code 0, otherwise why not.
///
/// # Errors
/// When the skill has no permission to run it.
pub fn check_command(
    skill: &LoadedSkill,
    command: &str,
    environment: &SkillEnvironment,
) -> Result<Result<(), String>, BodyCommandError> {
    let conditions = skill.condition_commands();
    let worker = environment.worker(skill, Purpose::Render(&conditions))?;
    let understood = shell::parse(command).ok();
    let line = CommandLine::new(command, understood.as_ref(), command, Vec::new());
    let ActResult::Child(ended, _) = worker.act(&Act::Line(line.in_project()))? else {
        return Ok(Ok(()));
    };
    Ok(match ended.exit {
        Exit::Code(0) => Ok(()),
        exit => Err(format!("`{command}` failed: {exit}")),
    })
}

fn text<'a>(piece: &BodyPiece<'a>) -> Option<&'a str> {
    match piece {
        BodyPiece::Command(command) => Some(command.text),
        _ => None,
    }
}

/// Runs the commands of a body.
struct PermittedRunner<'a> {
    worker: &'a GrantedSkill,
    on_error: OnCommandError,
    ran: Guarded<Vec<RanCommand>>,
}

impl BodyCommandError {
    /// The standard error of the failed command.
    #[must_use]
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Command { stderr, .. } | Self::Pipeline { stderr, .. } => Some(stderr),
            _ => None,
        }
    }
}

impl From<StartError> for BodyCommandError {
    fn from(stopped: StartError) -> Self {
        match stopped {
            StartError::Refused(refused) => Self::Refused(refused),
            StartError::Failed(failed) => Self::Failed(failed),
        }
    }
}

impl CommandRunner for PermittedRunner<'_> {
    type Error = BodyCommandError;

    fn run(
        &self,
        command: &BodyCommand<'_>,
        values: &Values<'_>,
    ) -> Result<String, BodyCommandError> {
        let act = act(command, values)?;
        let ActResult::Child(ended, _) = self.worker.act(&act)? else {
            return Ok(String::new());
        };
        self.ran.lock().push(RanCommand {
            command: command.text.to_owned(),
            exit: match ended.exit {
                Exit::Code(code) => Some(code),
                _ => None,
            },
            ms: ended.ms,
            truncated: ended.truncated,
        });
        if failed_in_pipeline(&act, &ended) {
            let (command, stderr) = (command.text, self.worker.clean(&ended.stderr));
            return match self.on_error {
                OnCommandError::Inline => Ok(format!("[`{command}` failed]\n{}", stderr.trim())),
                OnCommandError::Abort => Err(BodyCommandError::Pipeline {
                    command: command.to_owned(),
                    stderr,
                }),
            };
        }
        match (&ended.exit, self.on_error) {
            (Exit::Code(0), _) => Ok(self.output(&ended)),
            (_, OnCommandError::Inline) => Ok(format!(
                "[`{}` failed: {}]\n{}",
                command.text,
                ended.exit,
                self.output(&ended)
            )),
            (_, OnCommandError::Abort) => Err(BodyCommandError::Command {
                command: command.text.to_owned(),
                ended: ended.exit.clone(),
                stderr: self.worker.clean(&ended.stderr),
            }),
        }
    }
}

impl PermittedRunner<'_> {
    fn output(&self, ended: &ChildOutcome) -> String {
        let text = self.worker.clean(&ended.stdout);
        let cut = if ended.truncated {
            "\n[output truncated]"
        } else {
            ""
        };
        format!("{}{cut}", text.trim_end())
    }
}

/// The input of the shell for a command: its author's text with references, and the values as separate parameters.
fn act(command: &BodyCommand<'_>, values: &Values<'_>) -> Result<Act, BodyCommandError> {
    let refuse = |reason: String| BodyCommandError::Arguments {
        command: command.text.to_owned(),
        reason,
    };
    let recipe = match &command.script {
        Script::Ready(recipe) => recipe,
        Script::Refused(refused) => return Err(refuse(refused.to_string())),
    };
    let value = |variable| match variable {
        HostVariable::SkillDir => values.skill_dir,
        HostVariable::ProjectDir => values.project_dir,
        HostVariable::SessionId => values.session_id,
    };
    let understood = recipe.line(|variable| value(variable).to_owned()).ok();
    let invocation = recipe
        .instantiate(values)
        .map_err(|refusal| refuse(refusal.to_string()))?;
    let line = CommandLine::new(
        command.text,
        understood.as_ref(),
        &invocation.script,
        invocation.parameters,
    );
    Ok(Act::Line(match recipe.unlisted() {
        Some(unlisted) => line.with_value(&unlisted.placeholder, &unlisted.program),
        None => line,
    }))
}
