//! Executing a skill: its text, its workflow, or an agent that follows it.

use std::{sync::Arc, time::SystemTime};

use metier::{
    Approver, CurrentSkills, Error, RenderedSkill, Runnable, SessionOptions, ShowOptions, Skill,
    Workspace,
    agent::{AgentRole, Cancel, ConversationOptions, EventListener, ReportedEvent},
    receipts::ReceiptQuery,
    text::{one_line, split_arguments},
    workflow_input,
};
use metier_wire::{
    ApprovalsField, ArgumentsField, CommandRow, ExecuteRequest, ExecutedDocument, ReceiptRow,
};
use serde_json::Value;

/// The number of receipts in an answer.
const MAX_RECEIPTS: u32 = 100;

/// A workspace that asks its questions in the way that the request chose.
pub(super) fn asking(
    now: &CurrentSkills,
    approvals: ApprovalsField,
    queue: &metier::ApprovalQueue,
) -> Workspace {
    match approvals {
        ApprovalsField::Refuse => now.workspace.clone(),
        ApprovalsField::Ask => {
            let approver: Arc<dyn Approver> = Arc::new(queue.clone());
            now.workspace.with_approver(approver)
        }
    }
}

/// Executes a skill, or the workflow with that name.
pub(super) fn execute(
    now: &CurrentSkills,
    workspace: &Workspace,
    name: &str,
    request: &ExecuteRequest,
    cancel: &Cancel,
) -> Result<ExecutedDocument, Error> {
    let found = workspace.find_runnable(now.usable(), name)?;
    // A skill that is not ready can be shown, but not run.
    workspace.find_ready(now.usable(), &found.skill.path().to_string_lossy())?;
    let warnings = warnings(now, &found.skill);
    let executed = if found.is_workflow {
        run_workflow(now, workspace, &found, request, cancel)
    } else if found.is_fork {
        run_agent(now, workspace, found.skill, request, cancel)
    } else {
        render(workspace, found.skill, &request.arguments)
    };
    executed.map(|executed| ExecutedDocument {
        warnings,
        ..executed
    })
}

/// A warning if the last good version is used because the files are broken now.
pub(super) fn warnings(now: &CurrentSkills, skill: &Skill<'_>) -> Vec<String> {
    let Some(broken) = now.broken(skill) else {
        return Vec::new();
    };
    let problems = &broken.entry().diagnostics;
    let why = problems.iter().map(|problem| one_line(&problem.message));
    let why = why.take(3).collect::<Vec<_>>().join("; ");
    vec![format!(
        "the files of skill `{}` are currently invalid ({why}); its last good version was used",
        skill.name()
    )]
}

fn render(
    workspace: &Workspace,
    skill: Skill<'_>,
    arguments: &ArgumentsField,
) -> Result<ExecutedDocument, Error> {
    let before = SystemTime::now();
    let shown = show(workspace, skill, arguments, ShowOptions::default())?;
    let receipts = match shown.commands.is_empty() {
        true => Vec::new(),
        // The commands of a body leave receipts; it has no session that collects them.
        false => workspace.receipts(&ReceiptQuery {
            skill: Some(shown.name.clone()),
            since: Some(before),
            limit: Some(MAX_RECEIPTS),
        })?,
    };
    Ok(ExecutedDocument {
        name: shown.name,
        mode: "inline",
        content: shown.content,
        output: None,
        is_error: false,
        commands: shown.commands.iter().map(CommandRow::from).collect(),
        receipts: receipts.iter().map(ReceiptRow::from).collect(),
        warnings: Vec::new(),
    })
}

/// The text of a skill with its arguments.
pub(super) fn show(
    workspace: &Workspace,
    skill: Skill<'_>,
    arguments: &ArgumentsField,
    how: ShowOptions,
) -> Result<RenderedSkill, Error> {
    let place = skill.path().to_string_lossy().into_owned();
    match arguments {
        ArgumentsField::Text(text) => workspace.render_text(&place, text, how),
        ArgumentsField::Words(words) => workspace.render_with(&place, words.clone(), how),
    }
}

fn words(arguments: &ArgumentsField) -> Vec<String> {
    match arguments {
        ArgumentsField::Text(text) => split_arguments(text),
        ArgumentsField::Words(words) => words.clone(),
    }
}

/// Runs the handler of a workflow, with a model that it can ask.
fn run_workflow(
    now: &CurrentSkills,
    workspace: &Workspace,
    found: &Runnable<'_>,
    request: &ExecuteRequest,
    cancel: &Cancel,
) -> Result<ExecutedDocument, Error> {
    let words = words(&request.arguments);
    let input = request.input.clone();
    let input = input.unwrap_or_else(|| workflow_input(&words, &words.join(" ")));
    let listener: Arc<dyn EventListener> = Arc::new(NoListener);
    let (skills, model) = (now.usable(), request.model.as_deref());
    let options = SessionOptions {
        model: Some(workspace.skill_model(skills, model, &listener, cancel)?),
        stop: Some(cancel.flag()),
        ..SessionOptions::default()
    };
    let mut session = workspace.session(skills, options)?;
    session.activate(&found.skill.path().to_string_lossy())?;
    let workflow = found.workflow.as_deref().or(request.workflow.as_deref());
    let called = session.run(&found.skill.name(), workflow, &input);
    let ended = session.end();
    let called = called?;
    ended?;
    Ok(ExecutedDocument {
        name: found.skill.name().into_owned(),
        mode: "workflow",
        content: text(&called.output),
        output: Some(called.output.clone()),
        is_error: called.is_error,
        commands: Vec::new(),
        receipts: called.receipts.iter().map(ReceiptRow::from).collect(),
        warnings: Vec::new(),
    })
}

/// A text as it is, anything else as JSON.
fn text(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        output => output.to_string(),
    }
}

/// Lets an agent follow a skill.
fn run_agent(
    now: &CurrentSkills,
    workspace: &Workspace,
    skill: Skill<'_>,
    request: &ExecuteRequest,
    cancel: &Cancel,
) -> Result<ExecutedDocument, Error> {
    let before = SystemTime::now();
    let task = skill.invocation(&words(&request.arguments))?;
    let options = ConversationOptions {
        role: AgentRole::Primary,
        model: request.model.clone(),
        cancel: cancel.clone(),
        ..ConversationOptions::about(&task)
    };
    let mut conversation = workspace.conversation(&now.agent_skills()?, options)?;
    let turn = conversation.send(&task);
    let ended = conversation.end();
    let turn = turn?;
    ended?;
    let receipts = workspace.receipts(&ReceiptQuery {
        since: Some(before),
        limit: Some(MAX_RECEIPTS),
        ..ReceiptQuery::default()
    })?;
    Ok(ExecutedDocument {
        name: skill.name().into_owned(),
        mode: "fork",
        content: turn.text,
        output: None,
        is_error: false,
        commands: Vec::new(),
        receipts: receipts.iter().map(ReceiptRow::from).collect(),
        warnings: Vec::new(),
    })
}

/// The events of a workflow's model are not reported.
struct NoListener;

impl EventListener for NoListener {
    fn hear(&self, _told: &ReportedEvent) {}
}
