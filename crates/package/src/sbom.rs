//! The bill of materials of a package: CycloneDX 1.6 in JSON.
//!
//! It lists every file with its hash, and everything that the manifest requires: skills, programs, and packages of other ecosystems. It
//! contains no time and no random number, so the same package has the same bill.

use metier_model::{Card, Digest, Installer, Need, SkillManifest};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::tree::PackageTree;

/// The bill of materials of one package.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BillOfMaterials<'a> {
    bom_format: &'static str,
    spec_version: &'static str,
    serial_number: String,
    version: u32,
    metadata: BomMetadata<'a>,
    components: Vec<BomComponent<'a>>,
    dependencies: Vec<BomDependencies>,
}

#[derive(Serialize)]
struct BomMetadata<'a> {
    tools: BomTools<'a>,
    component: BomComponent<'a>,
}

#[derive(Serialize)]
struct BomTools<'a> {
    components: Vec<BomComponent<'a>>,
}

#[derive(Serialize, Default)]
struct BomComponent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(rename = "bom-ref", skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hashes: Vec<BomHash>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    licenses: Vec<BomLicense<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purl: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    properties: Vec<BomProperty<'a>>,
}

#[derive(Serialize)]
struct BomHash {
    alg: &'static str,
    content: String,
}

#[derive(Serialize)]
struct BomLicense<'a> {
    license: BomLicenseName<'a>,
}

#[derive(Serialize)]
struct BomLicenseName<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct BomProperty<'a> {
    name: &'static str,
    value: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BomDependencies {
    #[serde(rename = "ref")]
    reference: String,
    depends_on: Vec<String>,
}

impl<'a> BillOfMaterials<'a> {
    /// Fills in a bill of materials from a package: its manifest, its files, and its archive.
    #[must_use]
    pub fn new(
        manifest: &'a SkillManifest,
        tree: &'a PackageTree,
        archive: Digest,
        metier: &'a str,
    ) -> Self {
        let card = &manifest.card;
        let skill = skill(manifest, archive);
        let mut components: Vec<BomComponent<'a>> = tree
            .files()
            .iter()
            .map(|file| BomComponent {
                kind: "file",
                reference: Some(format!("file:{}", file.path)),
                name: file.path.as_str(),
                hashes: vec![sha256(&Sha256::digest(&file.bytes))],
                ..BomComponent::default()
            })
            .collect();
        let required = required(card);
        let depends_on = required.iter().filter_map(|one| one.reference.clone());
        let dependencies = vec![BomDependencies {
            reference: skill.reference.clone().unwrap_or_default(),
            depends_on: depends_on.collect(),
        }];
        components.extend(required);
        let tool = BomComponent {
            kind: "application",
            name: "metier",
            version: Some(metier),
            ..BomComponent::default()
        };
        Self {
            bom_format: "CycloneDX",
            spec_version: "1.6",
            serial_number: serial_number(archive),
            version: 1,
            metadata: BomMetadata {
                tools: BomTools {
                    components: vec![tool],
                },
                component: skill,
            },
            components,
            dependencies,
        }
    }
}

/// The skill itself.
fn skill(manifest: &SkillManifest, archive: Digest) -> BomComponent<'_> {
    let card = &manifest.card;
    let version = card.version.as_ref().map(|version| version.as_str());
    let license = manifest.about.license.as_deref();
    BomComponent {
        kind: "application",
        reference: Some(format!("skill:{}@{}", card.name, version.unwrap_or("0"))),
        name: card.name.as_str(),
        version,
        description: Some(&card.description),
        hashes: vec![sha256(&archive.0)],
        licenses: license
            .filter(|name| !name.is_empty())
            .map(|name| BomLicense {
                license: BomLicenseName { name },
            })
            .into_iter()
            .collect(),
        ..BomComponent::default()
    }
}

/// Skills, programs and packages that the manifest requires, each of them once.
fn required(card: &Card) -> Vec<BomComponent<'_>> {
    let mut all: Vec<BomComponent<'_>> = Vec::new();
    for requirement in &card.requirements {
        match &requirement.need {
            Need::Skill(skill) => all.push(BomComponent {
                kind: "application",
                reference: Some(format!("skill:{}", skill.name)),
                name: &skill.name,
                scope: Some(if skill.optional {
                    "optional"
                } else {
                    "required"
                }),
                properties: range("metier:version-range", skill.version.as_deref()),
                ..BomComponent::default()
            }),
            Need::Bin(name) => all.push(program(name, "required")),
            Need::AnyBin(names) => all.extend(names.iter().map(|name| program(name, "optional"))),
            Need::Metier(versions) => all.push(BomComponent {
                kind: "application",
                reference: Some("program:metier".to_owned()),
                name: "metier",
                scope: Some("required"),
                properties: range("metier:version-range", Some(versions)),
                ..BomComponent::default()
            }),
            Need::Env(_) | Need::Config(_) | Need::Os(_) | Need::Tool(_) => {}
        }
    }
    all.extend(card.installers.iter().filter_map(package));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|one| seen.insert(one.reference.clone()));
    all
}

fn program<'a>(name: &'a str, scope: &'static str) -> BomComponent<'a> {
    BomComponent {
        kind: "application",
        reference: Some(format!("program:{name}")),
        name,
        scope: Some(scope),
        ..BomComponent::default()
    }
}

fn range<'a>(name: &'static str, value: Option<&'a str>) -> Vec<BomProperty<'a>> {
    value
        .map(|value| BomProperty { name, value })
        .into_iter()
        .collect()
}

/// The package that an installer names; one of several ways to get a program.
fn package(installer: &Installer) -> Option<BomComponent<'_>> {
    let ecosystem = match &*installer.kind {
        "brew" => "brew",
        "apt" => "deb/debian",
        "npm" | "node" => "npm",
        "go" => "golang",
        "uv" | "pip" => "pypi",
        "cargo" => "cargo",
        _ => return None,
    };
    // A version after the name, as in npm and pip; the scope of npm begins with `@` too.
    let name = &*installer.package;
    let end = name.char_indices().skip(1);
    let mut end = end.filter(|(_, c)| matches!(c, '@' | '=' | '<' | '>' | '!' | '~' | '['));
    let name = end.next().map_or(name, |(at, _)| &name[..at]);
    if name.is_empty() {
        return None;
    }
    let purl = format!("pkg:{ecosystem}/{}", encoded(name));
    Some(BomComponent {
        kind: "library",
        reference: Some(purl.clone()),
        name,
        scope: Some("optional"),
        purl: Some(purl),
        properties: range("metier:installer", Some(&installer.package)),
        ..BomComponent::default()
    })
}

/// A name in a package URL.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn sha256(hash: &[u8]) -> BomHash {
    BomHash {
        alg: "SHA-256",
        content: hex(hash),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A UUID of version 8 from the digest of the archive.
fn serial_number(archive: Digest) -> String {
    let mut bytes = archive.0;
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex(&bytes[..16]);
    format!(
        "urn:uuid:{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}
