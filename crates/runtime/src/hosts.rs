//! The capabilities found in the code and the command lines of a skill, for skills that declare no permissions.

use metier_catalog::{Snapshot, SnapshotContent};
use metier_model::{Permission, Scope, Want};
use metier_policy::Purpose;
use metier_scan::{DeclaredFacts, FileToScan, RuleSet, ScanLimits, quietly, scan, suggested};

/// The name under which command lines are scanned.
const LINES: &str = "commands.sh";

/// The hosts that command lines or scripts were found to contact. A request that could go anywhere names none: for that a skill has to
/// declare its permissions.
pub(crate) fn reached(held: &Snapshot, purpose: Purpose<'_>) -> Vec<Want> {
    let wants = match purpose {
        Purpose::Render(lines) => of_lines(lines),
        Purpose::Script(path) => of_files(held, |file| file == path),
        Purpose::Scripts => of_files(held, |file| file.starts_with("scripts/")),
        Purpose::Code(_) => Vec::new(),
    };
    let is_host =
        |want: &Want| want.permission == Permission::NetFetch && !matches!(want.scope, Scope::All);
    wants.into_iter().filter(is_host).collect()
}

/// The capabilities found in command lines.
pub(crate) fn of_lines(lines: &[&str]) -> Vec<Want> {
    if lines.is_empty() {
        return Vec::new();
    }
    let text = lines.join("\n");
    seen(&[(LINES, text.as_bytes())])
}

/// The capabilities found in files of a skill, each separately: the requests of one script don't depend on the others.
pub(crate) fn of_files(held: &Snapshot, is_meant: impl Fn(&str) -> bool) -> Vec<Want> {
    let files = held.files.iter().filter_map(|file| match &file.content {
        SnapshotContent::Bytes(bytes) => Some((file.path.as_str()?, &bytes[..])),
        _ => None,
    });
    let files = files.filter(|(path, _)| is_meant(path));
    files.flat_map(|file| seen(&[file])).collect()
}

/// The capabilities found in files, as permissions.
pub(crate) fn seen(files: &[(&str, &[u8])]) -> Vec<Want> {
    let files: Vec<FileToScan<'_>> = files
        .iter()
        .map(|(path, bytes)| FileToScan {
            path,
            content: metier_scan::ScannedContent::Bytes(bytes),
        })
        .collect();
    let look = || {
        scan(
            &files,
            &DeclaredFacts::default(),
            &RuleSet::default(),
            &ScanLimits::default(),
        )
    };
    let Some(report) = quietly(look) else {
        return Vec::new();
    };
    let wants = suggested(&report.capabilities);
    let wants = wants.iter().filter_map(|want| want.parse::<Want>().ok());
    wants.collect()
}
