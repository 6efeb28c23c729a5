//! Promises: the text's statements about the network, against the hosts that the code contacts.

use super::found;
use crate::{
    flow::{ActKind, HostKind, ProgramAct, RemoteHost, urls_in},
    matching::{self, DeclaredContext},
    prose::{MarkdownDocument, PhraseClass as C, SentenceRole},
    rule::Chain,
    scan::SkillScanner,
};

/// A claim that no data leaves the machine, and a program that sends or downloads.
pub(super) fn broken_promise(
    scanner: &mut SkillScanner<'_>,
    documents: &[(usize, MarkdownDocument)],
    acts: &[ProgramAct],
    context: &DeclaredContext,
) {
    let promise = documents.iter().find_map(|(index, document)| {
        let file = &scanner.texts.0[*index].file;
        let about = file.eq_ignore_ascii_case("SKILL.md") || file.eq_ignore_ascii_case("README.md");
        let sentence = document
            .sentences
            .iter()
            .find(|sentence| about && sentence.classes.contains(C::NoNetwork))?;
        Some((*index, sentence.at.clone()))
    });
    let Some((index, at)) = promise else { return };
    let said = scanner.texts.0[index]
        .content
        .get(at)
        .unwrap_or_default()
        .replace('\n', " ");
    for act in acts {
        let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
            continue;
        };
        if !matches!(act.kind, ActKind::Send | ActKind::Fetch)
            || !origin.is_file
            || matching::is_aside(&scanner.texts.0[origin.text].file)
        {
            continue;
        }
        // A program that downloads may still send nothing.
        let lower = said.to_ascii_lowercase();
        let offline = ["network", "offline", "internet", "网"]
            .iter()
            .any(|word| lower.contains(word));
        if act.kind == ActKind::Fetch && !offline {
            continue;
        }
        let stranger = match &act.host {
            Some(host) => {
                matches!(
                    host.kind,
                    HostKind::Other
                        | HostKind::Example
                        | HostKind::Address
                        | HostKind::Drop
                        | HostKind::Anonymous
                ) && !context.is_related(host)
            }
            None => {
                act.kind == ActKind::Send
                    && (said.to_ascii_lowercase().contains("network") || said.contains("网"))
            }
        };
        if stranger {
            let name = act.host.as_ref().map_or("", |host| &host.name).to_owned();
            let place = scanner.place(act.site);
            let evidence = format!("{} ← {}", scanner.evidence(act, &origin), said.trim());
            found(
                scanner,
                Chain::BrokenPromise,
                place,
                &evidence,
                &name,
                false,
            );
            return;
        }
    }
}

/// Hosts that a script contacts, against those that the text mentions.
pub(super) fn endpoints(
    scanner: &mut SkillScanner<'_>,
    act: &ProgramAct,
    spoken: &str,
    context: &DeclaredContext,
) {
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let (ActKind::Send | ActKind::Fetch, Some(host), SentenceRole::Instruction) =
        (act.kind, &act.host, origin.role)
    else {
        return;
    };
    let aside = matching::is_aside(&scanner.texts.0[origin.text].file);
    if matches!(
        host.kind,
        HostKind::Known | HostKind::Local | HostKind::Code
    ) || aside
    {
        return;
    }
    let mentioned = spoken.contains(&host.name.to_ascii_uppercase())
        || (host.kind != HostKind::Example && spoken.contains(&host.owner().to_ascii_uppercase()));
    let hidden = origin.is_file && !mentioned && !context.is_related(host);
    let chain = match (host.has_odd_port(), hidden) {
        (true, true) => Chain::HiddenEndpoint,
        (true, false) => Chain::OddPort,
        (false, true) if act.kind == ActKind::Send => Chain::Undisclosed,
        (false, _) => return,
    };
    let detail = host
        .port
        .map_or_else(|| host.name.clone(), |port| format!("{}:{port}", host.name));
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    found(scanner, chain, place, &evidence, &detail, false);
}

/// An address with an unusual port in a file of the skill, and a program that contacts a host from a setting: the
/// address is the setting's default.
pub(super) fn odd_addresses(
    scanner: &mut SkillScanner<'_>,
    acts: &[ProgramAct],
    spoken: &str,
    context: &DeclaredContext,
) {
    let talks = acts.iter().any(|act| {
        matches!(act.kind, ActKind::Send | ActKind::Fetch)
            && act.host.is_none()
            && scanner
                .origins
                .get(act.site.unit as usize)
                .is_some_and(|origin| origin.is_file)
    });
    if !talks {
        return;
    }
    for index in 0..scanner.texts.0.len() {
        let text = &scanner.texts.0[index];
        if text.within.is_some() || matching::is_aside(&text.file) {
            continue;
        }
        let odd = urls_in(&text.content).find_map(|(at, url)| {
            let host = RemoteHost::of(url)?;
            (host.has_odd_port()
                && !matches!(host.kind, HostKind::Known | HostKind::Code)
                && !context.is_related(&host))
            .then_some((at, host))
        });
        let Some((at, host)) = odd else { continue };
        let mentioned = spoken.contains(&host.name.to_ascii_uppercase());
        let evidence = text.line_at(at).to_owned();
        let detail = format!("{}:{}", host.name, host.port.unwrap_or_default());
        let place = scanner.texts.place(index, at);
        found(
            scanner,
            Chain::OddAddress,
            place,
            &evidence,
            &detail,
            mentioned,
        );
        return;
    }
}

/// Parts of names of variables that contain a destination.
const PLACES: &[&str] = &[
    "URL",
    "ENDPOINT",
    "HOST",
    "SINK",
    "WEBHOOK",
    "CALLBACK",
    "COLLECTOR",
];

/// A program sends data to a host from a variable that the text does not mention.
pub(super) fn unspoken_variables(
    scanner: &mut SkillScanner<'_>,
    acts: &[ProgramAct],
    spoken: &str,
) {
    let variable = acts.iter().find(|act| {
        let upper = act.subject.to_ascii_uppercase();
        let sends = |other: &&ProgramAct| {
            other.kind == ActKind::Send && other.host.is_none() && other.site.unit == act.site.unit
        };
        act.kind == ActKind::Environment
            && PLACES.iter().any(|place| upper.contains(place))
            && !spoken.contains(&upper)
            && acts.iter().any(|other| sends(&other))
            && scanner
                .origins
                .get(act.site.unit as usize)
                .is_some_and(|origin| {
                    origin.is_file && !matching::is_aside(&scanner.texts.0[origin.text].file)
                })
    });
    let Some(act) = variable else { return };
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    found(
        scanner,
        Chain::UnspokenVariable,
        place,
        &evidence,
        &act.subject,
        false,
    );
}

/// Words in texts about attacks.
const ATTACKS: &[&str] = &[
    "ATTACK",
    "PENTEST",
    "PENETRATION",
    "EXPLOIT",
    "VULNERAB",
    "INJECTION",
    "PHISHING",
    "MALICIOUS",
    "MALWARE ",
    "FORENSIC",
    "EXFILTRAT",
    "RED TEAM",
    "PAYLOAD",
];

/// Data goes to `exfil.example.net`, in a skill that is not about attacks: manuals for testers often use such names.
pub(super) fn named_for_harm(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct], spoken: &str) {
    let sent = acts.iter().find(|act| {
        matches!(act.kind, ActKind::Send | ActKind::Fetch)
            && act.host.as_ref().is_some_and(RemoteHost::is_named_for_harm)
            && scanner
                .origins
                .get(act.site.unit as usize)
                .is_some_and(|origin| origin.role == SentenceRole::Instruction && !origin.inline)
    });
    let Some(act) = sent else { return };
    let about_attacks = ATTACKS.iter().any(|word| spoken.contains(word));
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    if about_attacks && !origin.is_file {
        return;
    }
    let name = act.host.as_ref().map_or("", |host| &host.name).to_owned();
    let place = scanner.place(act.site);
    let evidence = scanner.evidence(act, &origin);
    found(
        scanner,
        Chain::NamedForHarm,
        place,
        &evidence,
        &name,
        about_attacks,
    );
}
