//! A package before it is accepted: read strictly, validated, scanned.

use std::collections::BTreeSet;

use metier_model::{
    Backend, DiagnosticSeverity, FileText, Files, Need, SkillManifest, Strictness, parse,
};
use metier_package::registry_api::{
    RegistryFile, RegistryFinding, RegistryRequirement, RegistryVersion, is_published_name,
};
use metier_package::{
    ArchiveLimits, PackageTree, PublicKey, SignedPackage, pack, read_archive, verify,
};
use metier_scan::{
    DeclaredFacts, FileToScan, FindingSeverity, RuleSet, ScanLimits, ScanReport, ScannedContent,
    Unread, Verdict, quietly,
};
use semver::VersionReq;

use crate::blobs::digest_of;
use crate::database::{StoredVersion, VersionState};
use crate::registry::{PackageUpload, RegistryError};

/// The limits of a package: lower than a client's.
const LIMITS: ArchiveLimits = ArchiveLimits {
    packed: 32 << 20,
    unpacked: 64 << 20,
    file: 16 << 20,
    entries: 2_000,
    ratio: 100,
};

/// The bytes of the largest package.
pub(crate) const MAX_PACKAGE: usize = LIMITS.packed;

/// A package that can be published.
pub(crate) struct CheckedPackage {
    pub(crate) version: StoredVersion,
    /// The files of the package as a zip archive without a folder around them.
    pub(crate) flat: Vec<u8>,
}

/// Reads, validates and scans a package.
pub(crate) fn check(upload: &PackageUpload, now: &str) -> Result<CheckedPackage, RegistryError> {
    let tree = read_archive(&upload.bytes, LIMITS)
        .map_err(|error| RegistryError::package("archive-refused", &error))?;
    let tree = tree
        .only_skill()
        .map_err(|error| RegistryError::package("not-a-skill", &error))?;
    let manifest = manifest_of(&tree)?;
    let name = manifest.card.name.to_string();
    if !is_published_name(&name) {
        let message = format!("`{name}` can't be published");
        return Err(RegistryError::refused("invalid-name", message)
            .hint("use lower-case letters, digits and single hyphens, at most 64 characters"));
    }
    let version = manifest.card.version.as_ref();
    let version = version.and_then(|version| version.semver().cloned());
    let Some(version) = version.filter(|version| version.build.is_empty()) else {
        let message = format!("skill `{name}` has no SemVer version");
        return Err(RegistryError::refused("no-version", message)
            .hint("add `version: 1.0.0` to its manifest"));
    };
    let signer = signer_of(upload, &name, &version.to_string(), &tree)?;
    let report = scan(&tree, &manifest);
    let flat =
        pack("", &tree).map_err(|error| RegistryError::package("archive-refused", &error))?;
    let verdict = report.verdict();
    let public = RegistryVersion {
        version: version.to_string(),
        description: manifest.card.description.to_string(),
        license: manifest.about.license.as_deref().map(str::to_owned),
        tags: manifest
            .about
            .tags
            .iter()
            .map(ToString::to_string)
            .collect(),
        archive: digest_of(&upload.bytes).to_string(),
        size: upload.bytes.len() as u64,
        flat_archive: digest_of(&flat).to_string(),
        tree: tree.digest().to_string(),
        files: files_of(&tree),
        requires: requirements_of(&manifest, &name)?,
        permissions: manifest.wants.iter().map(ToString::to_string).collect(),
        verdict: verdict.word().to_owned(),
        signer,
        published_at: now.to_owned(),
        yanked: None,
        name,
    };
    let state = match verdict {
        Verdict::Critical => VersionState::Quarantined,
        _ => VersionState::Served,
    };
    let version = StoredVersion {
        public,
        state,
        signature: upload.signature.clone(),
        findings: findings_of(&report),
    };
    Ok(CheckedPackage { version, flat })
}

/// The manifest of a tree, which must be valid.
fn manifest_of(tree: &PackageTree) -> Result<SkillManifest, RegistryError> {
    let text = |path: &str| tree.get(path).map(|bytes| String::from_utf8_lossy(bytes));
    let texts = [
        text("SKILL.md"),
        text("SKILL.yaml"),
        text("agents/openai.yaml"),
    ];
    let names = ["SKILL.md", "SKILL.yaml", "agents/openai.yaml"];
    let file = |index: usize| {
        let text = texts[index].as_deref()?;
        Some(FileText {
            name: names[index],
            text,
        })
    };
    let parsed = parse(
        &Files {
            folder: None,
            skill_md: file(0),
            skill_yaml: file(1),
            sidecar: file(2),
        },
        Strictness::Lenient,
    );
    let mistakes: Vec<String> = parsed
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error)
        .map(|diagnostic| format!("{}: {}", diagnostic.file, diagnostic.message))
        .collect();
    parsed.manifest.ok_or_else(|| {
        let message = format!("the skill is invalid: {}", mistakes.join("; "));
        RegistryError::refused("invalid-skill", message).hint("metier validate PATH")
    })
}

fn files_of(tree: &PackageTree) -> Vec<RegistryFile> {
    let files = tree.files().iter().map(|file| RegistryFile {
        path: file.path.to_string(),
        size: file.bytes.len() as u64,
        digest: digest_of(&file.bytes).to_string(),
    });
    files.collect()
}

/// The required skills, each with a range that every client understands.
fn requirements_of(
    manifest: &SkillManifest,
    skill: &str,
) -> Result<Vec<RegistryRequirement>, RegistryError> {
    let mut requirements = Vec::new();
    for requirement in &manifest.card.requirements {
        let Need::Skill(dependency) = &requirement.need else {
            continue;
        };
        if dependency.optional {
            continue;
        }
        let range = dependency.version.as_deref().unwrap_or("*");
        if VersionReq::parse(range).is_err() || !is_published_name(&dependency.name) {
            let message = format!(
                "skill `{skill}` requires `{} {range}`, which is not a skill and a range of versions",
                dependency.name
            );
            return Err(RegistryError::refused("invalid-requirement", message)
                .hint("write a range such as `^1.2`"));
        }
        requirements.push(RegistryRequirement {
            name: dependency.name.to_string(),
            versions: range.to_owned(),
        });
    }
    Ok(requirements)
}

/// The key that signed the package, after its signature was verified.
fn signer_of(
    upload: &PackageUpload,
    name: &str,
    version: &str,
    tree: &PackageTree,
) -> Result<Option<String>, RegistryError> {
    let (signature, signer) = match (&upload.signature, &upload.signer) {
        (None, None) => return Ok(None),
        (Some(signature), Some(signer)) => (signature, signer),
        _ => {
            let message = "a signature and the public key that made it are sent together";
            return Err(RegistryError::refused(
                "invalid-signature",
                message.to_owned(),
            ));
        }
    };
    let package = SignedPackage {
        name: name.to_owned(),
        version: version.to_owned(),
        tree: tree.digest(),
    };
    let key = PublicKey::parse(signer);
    let key = key.map_err(|error| RegistryError::package("invalid-signature", &error))?;
    verify(&key, signature, &upload.bytes, &package)
        .map_err(|error| RegistryError::package("invalid-signature", &error))?;
    Ok(Some(key.to_string()))
}

/// Scans with the built-in rules. A scanner that fails has not read the skill.
fn scan(tree: &PackageTree, manifest: &SkillManifest) -> ScanReport {
    let files: Vec<FileToScan<'_>> = tree
        .files()
        .iter()
        .map(|file| FileToScan {
            path: file.path.as_str(),
            content: ScannedContent::Bytes(&file.bytes),
        })
        .collect();
    let declared: BTreeSet<_> = manifest.wants.iter().map(|want| want.permission).collect();
    let module = manifest.code.entrypoint.as_deref().unwrap_or("skill.wasm");
    let module = module.strip_prefix("./").unwrap_or(module);
    let about = DeclaredFacts {
        name: &manifest.card.name,
        description: &manifest.card.description,
        homepage: manifest.about.homepage.as_deref().unwrap_or_default(),
        declared: (!declared.is_empty()).then_some(declared),
        module: (manifest.card.backend == Some(Backend::Wasm)).then_some(module),
    };
    let scan = || metier_scan::scan(&files, &about, &RuleSet::default(), &ScanLimits::default());
    quietly(scan).unwrap_or_else(|| ScanReport {
        unread: vec![Unread {
            file: String::new(),
            why: "the scanner failed".to_owned(),
        }],
        ..ScanReport::default()
    })
}

fn findings_of(report: &ScanReport) -> Vec<RegistryFinding> {
    let shown = report
        .findings
        .iter()
        .filter(|finding| finding.severity >= FindingSeverity::Warning);
    let findings = shown.map(|finding| RegistryFinding {
        rule: finding.rule.id().to_owned(),
        severity: finding.severity.word().to_owned(),
        file: finding.place.file.clone(),
        line: finding.place.line,
        message: finding.message.clone(),
    });
    findings.collect()
}
