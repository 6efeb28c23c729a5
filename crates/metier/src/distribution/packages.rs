//! Packing a skill into a `.skill` file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use metier_catalog::{CatalogEntry, Snapshot, SnapshotContent, SnapshotFile};
use metier_model::{
    Digest, SkillManifest, Strictness,
    name::{MAX_NAME, departures},
    text::shell_word,
};
use metier_package::{
    ArchiveLimits, BillOfMaterials, PACKAGE_EXTENSION, PackageFile, PackagePath, PackageTree,
    SBOM_EXTENSION, is_left_out, pack, read_archive,
};
use metier_scan::{Finding, ScanReport, Verdict};
use sha2::{Digest as _, Sha256};

use super::package_files::{beside, unwritten, write_whole};
use crate::{
    Error, Workspace, scanner_skills,
    text::{count, one_line},
    validating::ValidationReport,
};

/// How many findings an error lists.
const SHOWN_FINDINGS: usize = 5;

/// Options of [`Workspace::pack`]: by default the package is written to the working directory.
///
/// An example is at [`Workspace::pack`].
#[derive(Clone, Debug, Default)]
pub struct PackOptions {
    /// The file to write, or the folder to write it to; by default NAME.skill in the working directory.
    pub output: Option<PathBuf>,
    /// Whether the skill must conform to the Agent Skills specification exactly.
    pub strict: bool,
    /// Whether a bill of materials is written next to the package.
    pub sbom: bool,
    /// Whether a file with other content is replaced.
    pub replace: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// A skill that was packed.
///
/// [`Workspace::pack`] returns it and has an example.
#[derive(Clone, Debug)]
pub struct PackedSkill {
    /// The name of the skill.
    pub name: String,
    /// The version in its manifest.
    pub version: Option<String>,
    /// The package.
    pub file: PathBuf,
    /// The bill of materials, if it was requested.
    pub sbom: Option<PathBuf>,
    /// The files in the package, with their sizes.
    pub files: Vec<(String, u64)>,
    /// Files of the folder that are not in the package.
    pub left_out: Vec<String>,
    /// The size of the package in bytes.
    pub size: usize,
    /// The digest of the files.
    pub tree: Digest,
    /// The digest of the package.
    pub archive: Digest,
    /// Whether the package was written; `false` for a dry run, and if the file already had this content.
    pub is_written: bool,
}

impl Workspace {
    /// Packs a skill, by folder or name, into a `.skill` file. The same files give the same bytes on every machine.
    ///
    /// ```no_run
    /// use metier::distribution::packages::PackOptions;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let packed = workspace.pack("skills/pdf", &PackOptions::default())?;
    /// println!("{} {}", packed.file.display(), packed.archive);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill or more than one, when it is not valid, when the scanner finds something critical in it or can't read all of
    /// it, when a file can't be in a package, or when another file is at the place of the package.
    pub fn pack(&self, what: &str, options: &PackOptions) -> Result<PackedSkill, Error> {
        let checked = self.validate(&[what], options.strict)?;
        let entry = only_valid(&checked, options.strict)?;
        let (mut snapshot, left_out) = self.packed_files(entry)?;
        let tree = tree_of(entry, &snapshot)?;
        snapshot.digest = tree.digest();
        let manifest = manifest_of(entry, &snapshot, &left_out)?;
        self.check_scan(entry, &snapshot)?;
        let name = manifest.card.name.to_string();
        let bytes = packed(&name, &tree)?;
        let archive = Digest(Sha256::digest(&bytes).into());
        let file = self.package_path(&name, options.output.as_deref());
        let sbom = options.sbom.then(|| beside(&file, SBOM_EXTENSION));
        let bill = BillOfMaterials::new(&manifest, &tree, archive, env!("CARGO_PKG_VERSION"));
        let mut is_written = false;
        if !options.dry_run {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder).map_err(|error| unwritten(&file, &error))?;
            }
            is_written = write_whole(&file, &bytes, options.replace)?;
        }
        if let Some(sbom) = sbom.as_ref().filter(|_| !options.dry_run) {
            let mut text = serde_json::to_string_pretty(&bill)
                .map_err(|error| Error::broken("sbom", error.to_string()))?;
            text.push('\n');
            write_whole(sbom, text.as_bytes(), options.replace)?;
        }
        let files = tree.files().iter();
        Ok(PackedSkill {
            version: manifest.card.version.as_ref().map(ToString::to_string),
            name,
            file,
            sbom,
            files: files
                .map(|file| (file.path.to_string(), file.bytes.len() as u64))
                .collect(),
            left_out,
            size: bytes.len(),
            tree: snapshot.digest,
            archive,
            is_written,
        })
    }

    /// The files of a skill that belong to a package, read once, and the paths of the others.
    fn packed_files(&self, entry: &CatalogEntry) -> Result<(Snapshot, Vec<String>), Error> {
        let usual = self.catalog().unwrap_or_default();
        let snapshot = self.screening(&usual).snapshot(entry).map_err(|error| {
            let message = format!("skill `{}` can't be read: {error}", entry.name());
            Error::unmet("unreadable", message).path(entry.place.path())
        })?;
        let (left_out, files): (Vec<SnapshotFile>, Vec<SnapshotFile>) = snapshot
            .files
            .into_iter()
            .partition(|file| is_left_out(&file.path.text()));
        let left_out = left_out.iter().map(|file| file.path.to_string());
        let left_out = left_out.collect();
        let snapshot = Snapshot { files, ..snapshot };
        Ok((snapshot, left_out))
    }

    /// Refuses a skill with a critical finding, and one that can't be read completely. An acceptance does not count: it is a decision of this
    /// user, and the package is for others.
    fn check_scan(&self, entry: &CatalogEntry, snapshot: &Snapshot) -> Result<(), Error> {
        let usual = self.catalog().unwrap_or_default();
        let gate = self.screening(&usual);
        gate.check_rules()?;
        let (mut report, _) = gate.scan_held(entry, snapshot);
        if scanner_skills::is_any(&usual) {
            let held = scanner_skills::HeldScan {
                entry,
                snapshot,
                report: &report,
            };
            let added = scanner_skills::of(self, &[held])?;
            report.add(added.into_iter().flatten().collect());
        }
        match report.verdict() {
            Verdict::Critical | Verdict::Incomplete => Err(refused(entry, &report)),
            Verdict::Clean | Verdict::Info | Verdict::Warning => Ok(()),
        }
    }

    /// Where the package is written. A name without an extension is a folder, even if it does not exist yet.
    fn package_path(&self, name: &str, output: Option<&Path>) -> PathBuf {
        let own = format!("{name}.{PACKAGE_EXTENSION}");
        let path = self.machine.work.join(output.unwrap_or(Path::new("")));
        let is_folder = path.is_dir() || path.extension().is_none() && !path.is_file();
        match output.is_none() || is_folder {
            true => path.join(own),
            false => path,
        }
    }
}

/// The one skill that was found, if it is valid and has a name that every tool accepts.
fn only_valid(checked: &ValidationReport, strict: bool) -> Result<&CatalogEntry, Error> {
    let inventory = checked.inventory();
    let [skill] = inventory.skills.as_slice() else {
        let names = inventory.skills.iter();
        let names = names.map(|skill| inventory.entry(skill).name().into_owned());
        let message = format!(
            "there are {} there: {}",
            count(inventory.skills.len(), "skill"),
            names.collect::<Vec<_>>().join(", ")
        );
        return Err(Error::unmet("several-skills", message).hint("name the folder of one skill"));
    };
    let entry = inventory.entry(skill);
    let name = entry.name();
    let folder = entry.place.path();
    if entry.is_plugin() {
        let message = format!("`{name}` is a Claude plugin, not a skill");
        return Err(Error::unmet("plugin", message)
            .path(&folder)
            .hint("pack a folder with a SKILL.md or SKILL.yaml"));
    }
    if !checked.is_skill_valid(skill) {
        let mut diagnostics = entry.diagnostics.iter();
        let wrong = diagnostics.find(|one| one.severity == metier_model::DiagnosticSeverity::Error);
        let word = if strict { "--strict " } else { "" };
        let error = Error::unmet("invalid", format!("skill `{name}` is not valid"));
        let error = wrong.into_iter().fold(error, |error, wrong| {
            let line = wrong.position.map(|position| position.line);
            error
                .detail(wrong.message.to_string())
                .path(folder.join(&*wrong.file))
                .line(line)
        });
        return Err(error.skill(&*name).hint(format!(
            "metier validate {word}{}",
            shell_word(&folder.to_string_lossy())
        )));
    }
    if departures(&name).next().is_some() {
        let message = format!("`{}` can't be the name of a package", one_line(&name));
        return Err(Error::unmet("name", message)
            .path(entry.manifest_path())
            .detail(format!(
                "a name has lower-case letters, digits and single hyphens between them, at most {MAX_NAME} characters"
            ))
            .hint("change `name` in the manifest"));
    }
    Ok(entry)
}

/// The manifest in the files that are packed.
fn manifest_of(
    entry: &CatalogEntry,
    snapshot: &Snapshot,
    left_out: &[String],
) -> Result<SkillManifest, Error> {
    let name = entry.name();
    let loaded = entry.load_held(snapshot, Strictness::Lenient, u64::MAX);
    let manifest = loaded.ok().and_then(|(parsed, _)| parsed.manifest);
    let manifest = manifest.filter(|manifest| *manifest.card.name == *name);
    let manifest = manifest.ok_or_else(|| {
        let message = format!("skill `{name}` changed while it was packed");
        Error::unmet("changed", message).path(entry.place.path())
    })?;
    let code = &manifest.code;
    let named = code.entrypoint.iter().chain(&code.system_prompt_file);
    let named = named.chain(&code.context_files);
    let mut named = named.map(|path| path.strip_prefix("./").unwrap_or(path));
    if let Some(absent) = named.find(|path| left_out.iter().any(|left| left == path)) {
        let message = format!("skill `{name}` uses `{absent}`, which packages leave out");
        return Err(Error::unmet("left-out", message)
            .skill(&*name)
            .path(entry.manifest_path())
            .hint("move the file to another folder"));
    }
    Ok(manifest)
}

/// The files as a tree. Links and special files are refused: no package contains them.
fn tree_of(entry: &CatalogEntry, snapshot: &Snapshot) -> Result<PackageTree, Error> {
    let name = entry.name();
    let refuse = |file: &SnapshotFile, why: &str| {
        let message = format!("skill `{name}` can't be packed: `{}` {why}", file.path);
        Error::unmet("not-packed", message)
            .skill(&*name)
            .path(entry.place.path().join(file.path.as_path()))
    };
    let mut files = Vec::new();
    for file in &snapshot.files {
        let bytes = match &file.content {
            SnapshotContent::Bytes(bytes) if bytes.len() as u64 == file.size => bytes.clone(),
            SnapshotContent::Bytes(_) | SnapshotContent::Left => {
                return Err(refuse(file, "is too large to be scanned"));
            }
            SnapshotContent::Link(_) => {
                return Err(refuse(file, "is a link").hint("replace the link with the file"));
            }
            SnapshotContent::Special => {
                return Err(refuse(file, "is a FIFO, a socket or a device"));
            }
        };
        let path = PackagePath::new(file.path.as_bytes()).map_err(|error| {
            let message = format!("skill `{name}` can't be packed: {error}");
            Error::unmet("not-packed", message)
                .skill(&*name)
                .path(entry.place.path())
                .hint("rename the file")
        })?;
        files.push(PackageFile { path, bytes });
    }
    PackageTree::new(files).map_err(|error| {
        let message = format!("skill `{name}` can't be packed: {error}");
        Error::unmet("not-packed", message)
            .skill(&*name)
            .path(entry.place.path())
    })
}

/// The archive, which is read again: a package that metier refuses to install is not written.
fn packed(name: &str, tree: &PackageTree) -> Result<Vec<u8>, Error> {
    let failed = |why: String| {
        let message = format!("skill `{name}` can't be packed: {why}");
        Error::unmet("not-packed", message).skill(name)
    };
    let bytes = pack(name, tree).map_err(|error| failed(error.to_string()))?;
    let read = read_archive(&bytes, ArchiveLimits::default());
    let read = read.map_err(|error| failed(error.to_string()))?;
    let read = read
        .only_skill()
        .map_err(|error| failed(error.to_string()))?;
    match read == *tree {
        true => Ok(bytes),
        false => Err(failed("its archive contains other files".to_owned())),
    }
}

/// The error for a skill that the scanner objects to.
fn refused(entry: &CatalogEntry, report: &ScanReport) -> Error {
    let name = entry.name();
    let verdict = report.verdict().word();
    let message = format!("skill `{name}` is not packed: its scan is {verdict}");
    let lines: Vec<String> = match report.verdict() {
        Verdict::Incomplete => {
            let unread = report.unread.iter();
            unread
                .map(|unread| format!("not read: {} ({})", unread.file, unread.why))
                .collect()
        }
        _ => {
            let findings = report.findings.iter();
            let line = |finding: &Finding| {
                let place = &finding.place;
                format!("{}:{}: {}", place.file, place.line, finding.message)
            };
            findings.map(line).collect()
        }
    };
    let more = lines.len().saturating_sub(SHOWN_FINDINGS);
    let mut lines: Vec<String> = lines.into_iter().take(SHOWN_FINDINGS).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    let error = Error::unmet("blocked", message).skill(&*name);
    let path = entry.place.path();
    lines
        .iter()
        .fold(error, |error, line| error.detail(one_line(line)))
        .hint(format!(
            "metier scan {}",
            shell_word(&path.to_string_lossy())
        ))
}
