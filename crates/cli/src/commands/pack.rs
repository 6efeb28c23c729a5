//! `metier pack`

use std::path::PathBuf;

use metier::distribution::packages::{PackOptions, PackedSkill};
use metier_wire::{PackDocument, PackedFileRow};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Pack a skill into a .skill file that others can install
///
/// The same files give the same bytes on every machine. A skill that is invalid, has a critical finding or contains links is
/// refused. `__pycache__`, `node_modules`, `.git`, `*.pyc`, `.DS_Store`, `evals/`,
/// `SKILL.schema.json` and other packages are left out.
#[derive(clap::Args)]
pub(crate) struct PackArgs {
    /// The skill's folder or name
    #[arg(default_value = ".")]
    path: String,
    /// The file to write, or a folder for it, which is created if it does not exist [default: NAME.skill]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a bill of materials (CycloneDX 1.6) to FILE.cdx.json
    #[arg(long)]
    sbom: bool,
    /// Require exactly the Agent Skills specification
    #[arg(long)]
    strict: bool,
    /// Replace a file with other content
    #[arg(long)]
    force: bool,
    /// Check everything, but write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &PackArgs) -> Result<Exit, Failure> {
    let options = PackOptions {
        output: args.output.clone(),
        strict: args.strict,
        sbom: args.sbom,
        replace: args.force,
        dry_run: args.dry_run,
    };
    let packed = run.pack(&args.path, &options)?;
    match run.output.is_json() {
        true => run.output.document(&document(packed))?,
        false => print(run, args, &packed)?,
    }
    Ok(Exit::Ok)
}

fn print(run: &CliRun, args: &PackArgs, packed: &PackedSkill) -> Result<(), Failure> {
    let output = &run.output;
    let version = packed.version.as_deref().unwrap_or_default();
    let title = one_line(&format!("{} {version}", packed.name));
    let did = match (args.dry_run, packed.is_written) {
        (true, _) => "would pack",
        (false, true) => "packed",
        (false, false) => "unchanged",
    };
    let unpacked: u64 = packed.files.iter().map(|(_, size)| size).sum();
    let mut page = format!(
        "{did} {} → {}\n  {}, {} ({} packed)\n  tree     {}\n  archive  {}\n",
        output.paint(&title, Tone::Strong),
        output.path(&packed.file),
        count(packed.files.len(), "file"),
        kilobytes(unpacked),
        kilobytes(packed.size as u64),
        packed.tree,
        packed.archive
    );
    if let Some(sbom) = &packed.sbom {
        page.push_str(&format!("  sbom     {}\n", output.path(sbom)));
    }
    output.report(&page)?;
    if !packed.left_out.is_empty() {
        let first = packed.left_out.iter().take(3);
        let first: Vec<String> = first.map(|path| one_line(path)).collect();
        let more = packed.left_out.len() - first.len();
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let number = count(packed.left_out.len(), "file");
        output.note(&format!("left out {number}: {}{more}", first.join(", ")));
    }
    Ok(())
}

fn document(packed: PackedSkill) -> PackDocument {
    let file = |(path, size)| PackedFileRow { path, size };
    PackDocument {
        name: packed.name,
        version: packed.version,
        file: packed.file.to_string_lossy().into_owned(),
        sbom: packed.sbom.map(|path| path.to_string_lossy().into_owned()),
        files: packed.files.into_iter().map(file).collect(),
        left_out: packed.left_out,
        size: packed.size,
        tree: packed.tree.to_string(),
        archive: packed.archive.to_string(),
        written: packed.is_written,
    }
}

/// A number of bytes for display.
fn kilobytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
