//! Promises: what the text says of the network, against whom the code talks to.

use super::found;
use crate::{
    flow::{Act, ActKind, HostKind},
    matching::{self, Context},
    prose::{Class as C, Document, Role},
    rule::Chain,
    scan::Scanner,
};

/// A promise that nothing leaves, and a program that sends or fetches all the same.
pub(super) fn broken_promise(
    scanner: &mut Scanner<'_>,
    documents: &[(usize, Document)],
    acts: &[Act],
    context: &Context,
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

/// Hosts that a script talks to, against those that the text speaks of.
pub(super) fn endpoints(scanner: &mut Scanner<'_>, act: &Act, spoken: &str, context: &Context) {
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let (ActKind::Send | ActKind::Fetch, Some(host), Role::Instruction) =
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
