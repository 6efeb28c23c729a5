//! Skills that a user invokes by name, as prompts; and what completes their arguments.

use std::{collections::BTreeMap, sync::Arc};

use metier::{Error, InvocationHelp, Skill, model_text::for_model_framed, text::one_line};
use rmcp::{
    ErrorData,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, JsonObject, ListPromptsResult,
        Prompt, PromptArgument, Reference,
    },
};
use serde_json::Value;

use super::{
    calls::CallRelay,
    pages::{self, PageLimits, PageRows},
    replies::{MAX_ANSWER, value},
    resources,
    server::not_there,
    skill_source::SkillSource,
};

/// How many prompts a page has.
const ROWS: usize = 100;

/// The name of the one argument of a skill whose author named none; it takes everything as one text.
const EVERYTHING: &str = "arguments";

/// A page of prompts.
pub(crate) fn list(
    source: &SkillSource,
    cursor: Option<&str>,
) -> Result<ListPromptsResult, ErrorData> {
    let after = resources::after(cursor)?;
    let now = source.now().map_err(|error| not_there(&error))?;
    let limits = PageLimits {
        rows: ROWS,
        bytes: MAX_ANSWER - (MAX_ANSWER >> 3),
    };
    let (mut page, mut prompts, mut next) = (PageRows::default(), Vec::new(), None);
    let mut last: Option<String> = None;
    for skill in now.workspace.invocable_skills(now.usable()) {
        let name = skill.name().into_owned();
        if after.as_ref().is_some_and(|after| name <= *after) || last.as_ref() == Some(&name) {
            continue;
        }
        let prompt = prompt(skill, &now.workspace.invocation_help(skill));
        if !page.add(value(&prompt), limits) {
            next = last.as_deref().map(pages::cursor_after);
            break;
        }
        prompts.push(prompt);
        last = Some(name);
    }
    let mut result = ListPromptsResult::with_all_items(prompts);
    result.next_cursor = next;
    Ok(result.with_ttl_ms(resources::TTL))
}

fn prompt(skill: Skill<'_>, help: &InvocationHelp) -> Prompt {
    let hint = help.hint.as_deref().map(one_line);
    let arguments = match help.arguments.as_slice() {
        [] => {
            let about = hint.unwrap_or_else(|| "What to give the skill, as one text".to_owned());
            vec![
                PromptArgument::new(EVERYTHING)
                    .with_description(about)
                    .with_required(false),
            ]
        }
        names => {
            let argument = |name: &String| {
                let argument = PromptArgument::new(one_line(name)).with_required(false);
                match &hint {
                    Some(hint) => argument.with_description(hint),
                    None => argument,
                }
            };
            names.iter().map(argument).collect()
        }
    };
    let description = one_line(skill.description());
    Prompt::new(skill.name(), Some(description), Some(arguments))
}

/// The text of a skill that a user invokes.
pub(crate) fn text(
    source: &SkillSource,
    call: &Arc<CallRelay>,
    name: &str,
    arguments: &JsonObject,
) -> Result<String, Error> {
    let now = source.now_for(name)?;
    let workspace = now.workspace.for_request(
        Arc::clone(call) as _,
        Arc::clone(call.stop()),
        Arc::clone(call) as _,
    );
    let skill = workspace.find(now.usable(), name)?;
    let help = workspace.invocation_help(skill);
    let words = words(&help, arguments)?;
    let shown = workspace.render_for_user(now.usable(), name, &words)?;
    Ok(for_model_framed(&shown.content).into_owned())
}

/// The arguments in their order.
fn words(help: &InvocationHelp, arguments: &JsonObject) -> Result<Vec<String>, Error> {
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in arguments {
        let Value::String(text) = value else {
            return Err(Error::broken(
                "usage",
                format!("the argument `{}` is not text", one_line(name)),
            ));
        };
        given.insert(name, text.clone());
    }
    if help.arguments.is_empty() {
        let text = given.remove(EVERYTHING).unwrap_or_default();
        unknown(&given, &[EVERYTHING.to_owned()])?;
        return Ok(metier::split_arguments(&text));
    }
    let mut words: Vec<String> = help
        .arguments
        .iter()
        .map(|name| given.remove(name.as_str()).unwrap_or_default())
        .collect();
    unknown(&given, &help.arguments)?;
    while words.last().is_some_and(String::is_empty) {
        words.pop();
    }
    Ok(words)
}

fn unknown(left: &BTreeMap<&str, String>, known: &[String]) -> Result<(), Error> {
    match left.keys().next() {
        None => Ok(()),
        Some(name) => {
            let message = format!("there is no argument `{}`", one_line(name));
            Err(Error::broken("usage", message)
                .hint(format!("its arguments are: {}", known.join(", "))))
        }
    }
}

/// Values for an argument of a prompt, or for a variable of a template of resources.
pub(crate) fn complete(
    source: &SkillSource,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = request.argument.value.as_str();
    let all = match &request.r#ref {
        Reference::Prompt(prompt) => {
            let now = source.now().map_err(|error| not_there(&error))?;
            let skill = now
                .workspace
                .find(now.usable(), &prompt.name)
                .map_err(|error| not_there(&error))?;
            let help = now.workspace.invocation_help(skill);
            choices(&help, &request.argument.name, typed)
        }
        Reference::Resource(template) if template.uri == resources::TEMPLATE => {
            let context = request
                .context
                .as_ref()
                .and_then(|context| context.arguments.as_ref());
            let skill = context.and_then(|known| known.get("name"));
            resources::complete(
                source,
                &request.argument.name,
                typed,
                skill.map(String::as_str),
            )?
        }
        _ => {
            return Err(ErrorData::invalid_params(
                format!("the only template is {}", resources::TEMPLATE),
                None,
            ));
        }
    };
    let total = u32::try_from(all.len()).unwrap_or(u32::MAX);
    let mut values = all;
    let has_more = values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let found = CompletionInfo::with_pagination(values, Some(total), has_more);
    found
        .map(CompleteResult::new)
        .map_err(|error| ErrorData::internal_error(error, None))
}

/// The words that an author lists as alternatives, such as `[high|low]`: those of the argument at this position, or all.
fn choices(help: &InvocationHelp, argument: &str, typed: &str) -> Vec<String> {
    let Some(hint) = &help.hint else {
        return Vec::new();
    };
    let groups: Vec<&str> = hint.split_whitespace().collect();
    let position = help.arguments.iter().position(|name| name == argument);
    let groups = match position {
        Some(position) => groups.get(position..=position).unwrap_or_default(),
        None => &groups,
    };
    let (before, last) = match position {
        Some(_) => ("", typed),
        None => typed
            .rfind(' ')
            .map_or(("", typed), |at| typed.split_at(at + 1)),
    };
    let is_bracket = |c: char| matches!(c, '[' | ']' | '<' | '>' | '(' | ')' | '{' | '}');
    let mut found: Vec<String> = groups
        .iter()
        .filter(|group| group.contains('|'))
        .flat_map(|group| group.trim_matches(is_bracket).split('|'))
        .filter(|word| !word.is_empty() && word.starts_with(last))
        .map(|word| format!("{before}{}", one_line(word)))
        .collect();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn help(arguments: &[&str], hint: Option<&str>) -> InvocationHelp {
        InvocationHelp {
            arguments: arguments.iter().map(ToString::to_string).collect(),
            hint: hint.map(str::to_owned),
        }
    }

    #[test]
    fn arguments_come_in_the_order_of_the_author() {
        let named = help(&["issue", "risk"], None);
        let given = json!({"risk": "high", "issue": "12"});
        assert_eq!(
            words(&named, given.as_object().unwrap()).unwrap(),
            ["12", "high"]
        );
        let one = json!({"issue": "12"});
        assert_eq!(words(&named, one.as_object().unwrap()).unwrap(), ["12"]);
        let text = json!({"arguments": "12 'two words'"});
        assert_eq!(
            words(&help(&[], None), text.as_object().unwrap()).unwrap(),
            ["12", "two words"]
        );
        for wrong in [json!({"x": "1"}), json!({"issue": 12})] {
            assert!(words(&named, wrong.as_object().unwrap()).is_err());
        }
    }

    #[test]
    fn alternatives_of_the_hint_are_offered() {
        let named = help(&["issue", "risk"], Some("[issue] [high|low]"));
        assert_eq!(choices(&named, "risk", "h"), ["high"]);
        assert!(choices(&named, "issue", "").is_empty());
        let text = help(&[], Some("<dev|prod> [--dry-run]"));
        assert_eq!(choices(&text, "arguments", ""), ["dev", "prod"]);
        assert_eq!(choices(&text, "arguments", "12 p"), ["12 prod"]);
        assert!(choices(&help(&[], None), "arguments", "").is_empty());
    }
}
