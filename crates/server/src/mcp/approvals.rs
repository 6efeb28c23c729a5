//! Requests for permission that a client shows to its user.
//!
//! The question has the text of the terminal. A client can answer once, for its session, or no; an answer that lasts longer is given at a terminal only.
//! Clients of the older protocol are asked with an elicitation while the call waits. In the newer one a server asks nothing by itself: the call
//! returns what it needs, waits on its own thread, and continues when the client repeats the request with the answer.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use metier::{ApprovalQuestion, ApprovalSubject, Reply, approval_text};
use rmcp::model::{
    ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, EnumSchema, InputRequest, InputRequests, InputRequiredResult,
    InputResponses,
};

/// The key of the only request in a result that needs an answer.
const KEY: &str = "approval";
/// The field of the form that the answer is in.
const FIELD: &str = "answer";

/// How a client can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskingMode {
    /// With a separate request, while the call waits.
    Elicitation,
    /// With a result that asks for more input.
    InputRequired,
    /// Not at all: what was not approved before is refused.
    Never,
}

impl AskingMode {
    pub(crate) fn of(capabilities: Option<&ClientCapabilities>, is_modern: bool) -> Self {
        let elicitation = capabilities.and_then(|all| all.elicitation.as_ref());
        // An empty object means forms: before there were other modes, a client could declare nothing else.
        let has_forms = elicitation.is_some_and(|one| one.form.is_some() || one.url.is_none());
        match (has_forms, is_modern) {
            (false, _) => Self::Never,
            (true, true) => Self::InputRequired,
            (true, false) => Self::Elicitation,
        }
    }
}

/// The form that a client shows.
pub(crate) fn form(question: &ApprovalQuestion) -> ElicitRequestParams {
    let answers = approval_text::client_answers(question);
    let mut message = approval_text::card(question);
    message.push_str("\n\n");
    for (_, word, covers) in &answers {
        message.push_str(&format!("{word}: {covers}\n"));
    }
    let words: Vec<String> = answers
        .iter()
        .map(|(_, word, _)| (*word).to_owned())
        .collect();
    let choice = EnumSchema::builder(words)
        .untitled()
        .title("Allow it?")
        .build();
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.trim_end().to_owned(),
        requested_schema: ElicitationSchema::builder()
            .required_enum_schema(FIELD, choice)
            .build_unchecked(),
    }
}

/// The result that asks for an answer, under this state.
pub(crate) fn input_required(question: &ApprovalQuestion, state: String) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(question)));
    let requests = InputRequests::from([(KEY.to_owned(), request)]);
    InputRequiredResult::new(Some(requests), Some(state))
}

/// The answer in a repeated request; `None` if the client did not answer this question.
pub(crate) fn answer_in(
    question: &ApprovalQuestion,
    responses: Option<&InputResponses>,
) -> Option<Reply> {
    let response = responses?.get(KEY)?;
    let result = serde_json::from_value::<ElicitResult>(response.clone());
    Some(result.map_or(Reply::Deny, |result| reply(question, &result)))
}

/// The answer that a form contains. Everything but an offered answer is a no.
pub(crate) fn reply(question: &ApprovalQuestion, result: &ElicitResult) -> Reply {
    if result.action != ElicitationAction::Accept {
        return Reply::Deny;
    }
    let answer = result
        .content
        .as_ref()
        .and_then(|content| content[FIELD].as_str());
    let answers = approval_text::client_answers(question);
    let found = answers.iter().find(|(_, word, _)| Some(*word) == answer);
    found.map_or(Reply::Deny, |(reply, _, _)| *reply)
}

/// The questions that a user answered for the whole session of a client: exactly these permissions, for exactly these bytes.
#[derive(Default)]
pub(crate) struct SessionAnswers(Mutex<BTreeSet<String>>);

impl SessionAnswers {
    pub(crate) fn covers(&self, question: &ApprovalQuestion) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        key(question).is_some_and(|key| known.contains(&key))
    }

    /// The reply for the question itself. Permissions of a skill that starts are granted for one start, so an answer for the session is remembered
    /// here and given again.
    pub(crate) fn taken(&self, question: &ApprovalQuestion, reply: Reply) -> Reply {
        match (reply, key(question)) {
            (Reply::Session, Some(key)) => {
                let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(key);
                Reply::Once
            }
            (reply, _) => reply,
        }
    }
}

/// The identity of a question about the permissions of a skill.
fn key(question: &ApprovalQuestion) -> Option<String> {
    let ApprovalSubject::Permissions { asked, .. } = &question.subject else {
        return None;
    };
    let identity = &question.identity;
    let wants: BTreeSet<String> = asked.iter().map(|one| one.want.to_string()).collect();
    Some(format!(
        "{:?}",
        (
            &identity.skill,
            identity.source.as_str(),
            identity.digest.to_string(),
            &question.place,
            wants
        )
    ))
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
