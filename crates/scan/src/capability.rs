//! What a skill was seen to do, and what it says that it needs.

use std::collections::BTreeSet;

use metier_sdk::Permission;

use crate::{
    flow::{Act, ActKind, HostKind, PathKind, path_kind},
    prose::Role,
    report::{Capabilities, Finding, FoundBy, Place, Severity},
    rule::When,
    rules,
    scan::Scanner,
    texts::Origin,
};

/// Gathers capabilities from acts; what stands in warnings and tables isn't done.
pub(crate) fn of(acts: &[Act], origins: &[Origin]) -> Capabilities {
    let mut found = Capabilities::default();
    for act in acts {
        let Some(origin) = origins.get(act.site.unit as usize) else {
            continue;
        };
        if matches!(origin.role, Role::Warning | Role::Quotation) {
            continue;
        }
        match act.kind {
            ActKind::Send | ActKind::Fetch | ActKind::RemoteShell => network(&mut found, act),
            ActKind::Run
            | ActKind::Eval
            | ActKind::Install
            | ActKind::Unprotect
            | ActKind::Permit => program(&mut found, act, origin),
            ActKind::Read => {
                if is_outside(&act.subject) {
                    found.reads.insert(act.subject.clone());
                    found.permissions.insert(Permission::FileRead);
                }
            }
            ActKind::Write | ActKind::Delete => {
                if !act.subject.contains('\0') && !act.subject.contains(':') {
                    found.writes.insert(act.subject.clone());
                }
                found.permissions.insert(Permission::FileWrite);
            }
            ActKind::Environment => {
                found.variables.insert(act.subject.clone());
                found.permissions.insert(Permission::EnvRead);
            }
            ActKind::Show => {}
            ActKind::Listen => {
                found.permissions.insert(Permission::NetFetch);
            }
        }
    }
    found
}

fn network(found: &mut Capabilities, act: &Act) {
    match &act.host {
        Some(host) if matches!(host.kind, HostKind::Example) => {}
        Some(host) => {
            found.hosts.insert(host.name.clone());
        }
        None => found.any_host = true,
    }
    found.permissions.insert(Permission::NetFetch);
}

fn program(found: &mut Capabilities, act: &Act, origin: &Origin) {
    let name = act.subject.split_whitespace().next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    let plausible = !name.is_empty()
        && name.len() <= 40
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'));
    if plausible && act.kind != ActKind::Eval {
        found.programs.insert(name.to_owned());
    }
    if act.kind != ActKind::Eval || !origin.is_file {
        found.permissions.insert(Permission::ShellExec);
    }
}

/// Whether a path leads out of the skill and of the folder that it works in.
fn is_outside(path: &str) -> bool {
    path.starts_with('~')
        || path.starts_with('/') && !path.starts_with("/tmp")
        || path.starts_with("..")
        || !matches!(path_kind(path), PathKind::Other)
}

/// Names the permissions that the skill takes and doesn't declare.
pub(crate) fn undeclared(scanner: &mut Scanner<'_>) {
    let Some(declared) = &scanner.about.declared else {
        return;
    };
    let missing: BTreeSet<Permission> = scanner
        .report
        .capabilities
        .permissions
        .difference(declared)
        .copied()
        .collect();
    let Some(rule) = rules::all().find(|rule| matches!(rule.when, When::Undeclared)) else {
        return;
    };
    for permission in missing {
        let finding = Finding {
            rule: FoundBy::Builtin(rule),
            severity: Severity::Warning,
            place: Place {
                file: "SKILL.md".to_owned(),
                line: 1,
                column: 1,
            },
            message: format!("{}: `{permission}`", rule.message),
            evidence: evidence(&scanner.report.capabilities, permission),
            steps: Vec::new(),
        };
        scanner.push(finding);
    }
}

fn evidence(seen: &Capabilities, permission: Permission) -> String {
    let some = |set: &BTreeSet<String>| {
        set.iter()
            .take(4)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match permission {
        Permission::NetFetch => some(&seen.hosts),
        Permission::ShellExec => some(&seen.programs),
        Permission::FileRead => some(&seen.reads),
        Permission::FileWrite => some(&seen.writes),
        Permission::EnvRead => some(&seen.variables),
        _ => String::new(),
    }
}
