//! Chains of evidence across texts and programs: the statements of the text against the behaviour of the code.

mod automatic;
mod combinations;
mod covering_up;
mod install_prompts;
mod network_claims;
mod obfuscation;
mod orders;
mod secrets;
mod triggers;

use crate::{
    flow::ProgramAct,
    matching::{self, DeclaredContext},
    prose::MarkdownDocument,
    report::{Finding, FindingLocation, FoundBy},
    rule::{Chain, RuleCondition},
    rules,
    scan::SkillScanner,
};

/// Reports all chains.
pub(crate) fn look(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct], context: &DeclaredContext) {
    let documents = std::mem::take(&mut scanner.documents);
    for (index, document) in &documents {
        install_prompts::lures(scanner, *index, document, context);
        install_prompts::stranger_programs(scanner, *index, document, context);
        install_prompts::impostors(scanner, *index, document);
        obfuscation::decode_by_hand(scanner, *index, document);
        secrets::gather_and_send(scanner, *index, document, acts);
        triggers::outside_triggers(scanner, *index, document);
        triggers::planted_orders(scanner, *index, document);
        orders::look(scanner, *index, document, context);
    }
    install_prompts::lure_commands(scanner, &documents, acts, context);
    network_claims::broken_promise(scanner, &documents, acts, context);
    secrets::unexplained_secrets(scanner, &documents, acts);
    secrets::harvests(scanner);
    secrets::browser_storage(scanner);
    obfuscation::hidden_programs(scanner, acts);
    triggers::takeover(scanner, &documents);
    orders::only_skill(scanner, &documents);
    automatic::hooks(scanner, acts, context);
    automatic::planted_commands(scanner, acts);
    automatic::acts_of_intruders(scanner, &documents);
    combinations::look(scanner, &documents, context);
    automatic::unprotects_much(scanner, acts);
    obfuscation::hidden_documents(scanner);
    install_prompts::lockfiles(scanner);
    obfuscation::private_imports(scanner);
    let spoken = spoken(scanner, &documents);
    network_claims::odd_addresses(scanner, acts, &spoken, context);
    network_claims::unspoken_variables(scanner, acts, &spoken);
    covering_up::covers_tracks(scanner, acts, &spoken);
    covering_up::open_to_planting(scanner, acts);
    network_claims::named_for_harm(scanner, acts, &spoken);
    for act in acts {
        obfuscation::prints_blob(scanner, act);
        network_claims::endpoints(scanner, act, &spoken, context);
    }
    for (index, document) in &documents {
        obfuscation::pseudo_tags(scanner, *index, document);
    }
    scanner.documents = documents;
}

fn found(
    scanner: &mut SkillScanner<'_>,
    chain: Chain,
    place: FindingLocation,
    evidence: &str,
    detail: &str,
    milder: bool,
) {
    let Some(rule) =
        rules::all().find(|rule| matches!(rule.when, RuleCondition::Chain(own) if own == chain))
    else {
        return;
    };
    let message = if detail.is_empty() {
        rule.message.to_owned()
    } else {
        format!("{}: {detail}", rule.message)
    };
    scanner.push(Finding {
        rule: FoundBy::Builtin(rule),
        severity: if milder {
            rule.severity.lower()
        } else {
            rule.severity
        },
        place,
        message,
        evidence: matching::shown(evidence),
        steps: Vec::new(),
    });
}

/// All texts of the skill, in upper case.
fn spoken(scanner: &SkillScanner<'_>, documents: &[(usize, MarkdownDocument)]) -> String {
    let mut spoken = format!("{} {} ", scanner.about.name, scanner.about.description);
    for (index, document) in documents {
        let text = &scanner.texts.0[*index];
        if !text.file.to_ascii_lowercase().ends_with(".md") {
            continue;
        }
        for sentence in &document.sentences {
            spoken.push_str(text.content.get(sentence.at.clone()).unwrap_or_default());
            spoken.push(' ');
        }
    }
    spoken.make_ascii_uppercase();
    spoken
}
