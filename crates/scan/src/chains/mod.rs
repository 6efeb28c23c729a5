//! Chains of evidence across texts and programs: what the text states against what the code does.

mod disguise;
mod lures;
mod promises;
mod secrets;
mod tracks;
mod triggers;

use crate::{
    flow::Act,
    matching::{self, Context},
    prose::Document,
    report::{Finding, FoundBy, Place},
    rule::{Chain, When},
    rules,
    scan::Scanner,
};

/// Reports all chains.
pub(crate) fn look(scanner: &mut Scanner<'_>, acts: &[Act], context: &Context) {
    let documents = std::mem::take(&mut scanner.documents);
    for (index, document) in &documents {
        lures::lures(scanner, *index, document, context);
        lures::stranger_programs(scanner, *index, document, context);
        disguise::playbook(scanner, *index, document);
        disguise::decode_by_hand(scanner, *index, document);
        secrets::gather_and_send(scanner, *index, document, acts);
        triggers::outside_triggers(scanner, *index, document);
        triggers::planted_orders(scanner, *index, document);
    }
    lures::lure_commands(scanner, &documents, acts, context);
    promises::broken_promise(scanner, &documents, acts, context);
    secrets::unexplained_secrets(scanner, &documents, acts);
    secrets::harvests(scanner);
    secrets::browser_storage(scanner);
    disguise::hidden_programs(scanner, acts);
    triggers::takeover(scanner, &documents);
    disguise::hidden_documents(scanner);
    lures::lockfiles(scanner);
    disguise::private_imports(scanner);
    let spoken = spoken(scanner, &documents);
    promises::odd_addresses(scanner, acts, &spoken, context);
    promises::unspoken_variables(scanner, acts, &spoken);
    tracks::covers_tracks(scanner, acts, &spoken);
    tracks::open_to_planting(scanner, acts);
    promises::named_for_harm(scanner, acts, &spoken);
    for act in acts {
        disguise::prints_blob(scanner, act);
        promises::endpoints(scanner, act, &spoken, context);
    }
    for (index, document) in &documents {
        disguise::pseudo_tags(scanner, *index, document);
    }
    scanner.documents = documents;
}

fn found(
    scanner: &mut Scanner<'_>,
    chain: Chain,
    place: Place,
    evidence: &str,
    detail: &str,
    milder: bool,
) {
    let Some(rule) =
        rules::all().find(|rule| matches!(rule.when, When::Chain(own) if own == chain))
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
fn spoken(scanner: &Scanner<'_>, documents: &[(usize, Document)]) -> String {
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
