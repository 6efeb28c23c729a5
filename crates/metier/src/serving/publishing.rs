//! The files of skills for a host that reads them itself and verifies each against a digest.
//!
//! **Problem.** Such a host gets bytes, not text that was made safe for a model, and compares the frontmatter with its own reading of the file.
//! **Decision.** A skill is published as a whole or not at all: if its SKILL.md conforms to the specification, if it consists of plain files within the limits of
//! hosts, and if its text is the same after [`model_text`](crate::model_text) has made it safe. Everything else stays available through
//! [`Workspace::render_for_model`].

use metier_catalog::{Snapshot, SnapshotContent, SnapshotFile};
use metier_model::{frontmatter_as_json, model_text::for_model, name, text::shell_word};
use serde_json::{Map, Value};

use crate::{
    Error, Skill, Skills, Status, Workspace,
    scan_gate::{ScanGate, refused},
    text::one_line,
};

/// The manifest that every published skill has.
const MANIFEST: &str = "SKILL.md";

/// How a URI of a published file begins.
const SCHEME: &str = "skill://";

/// How many files a published skill has at most, and how many bytes: hosts need not accept more.
const MAX_FILES: usize = 512;
const MAX_BYTES: u64 = 16 << 20;

/// Gives out whole skills, scanned, to a host that verifies them.
///
/// ```no_run
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let publisher = metier::Publisher::new(&workspace, &workspace.skills()?)?;
/// for skill in publisher.candidates() {
///     match publisher.publish(skill) {
///         Ok(published) => println!("{} has {} files", published.uri, published.files.len()),
///         Err(error) => println!("not published: {error}"),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Publisher {
    workspace: Workspace,
    skills: Skills,
    scan_gate: ScanGate,
}

/// A skill with all of its files, which were read at one moment.
///
/// An example is at [`Publisher`].
#[derive(Clone, Debug)]
pub struct PublishedSkill {
    /// Its name, which is the last part of its path.
    pub name: String,
    /// The URI of its SKILL.md.
    pub uri: String,
    /// The frontmatter of its SKILL.md, as its author wrote it.
    pub frontmatter: Map<String, Value>,
    /// Its files, by path. Its SKILL.md is one of them.
    pub files: Vec<PublishedFile>,
}

/// A file of a published skill.
///
/// An example is at [`Publisher`].
#[derive(Clone, Debug)]
pub struct PublishedFile {
    /// Its path below the folder of the skill.
    pub path: String,
    /// Its URI.
    pub uri: String,
    /// The SHA-256 of its bytes, as `sha256:` and hexadecimal digits.
    pub digest: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl Publisher {
    /// For the skills of a workspace.
    ///
    /// # Errors
    /// When a rule of the user's own for the scanner is wrong.
    pub fn new(workspace: &Workspace, skills: &Skills) -> Result<Self, Error> {
        let scan_gate = workspace.screening(&skills.inventory().catalog);
        scan_gate.check_rules()?;
        Ok(Self {
            workspace: workspace.clone(),
            skills: skills.clone(),
            scan_gate,
        })
    }

    /// The skills whose cards allow that they are published, by name: each name once. Nothing is read.
    #[must_use]
    pub fn candidates(&self) -> Vec<Skill<'_>> {
        let mut found: Vec<Skill<'_>> = self.skills.ready().filter(is_candidate).collect();
        // A name has one URI; of two skills the one with the greater source has it.
        found.sort_by(|a, b| {
            let by_name = a.name().cmp(&b.name());
            by_name.then_with(|| b.source().cmp(&a.source()))
        });
        found.dedup_by_key(|skill| skill.name());
        found
    }

    /// The skill with a URI, which can be that of its SKILL.md, of another file, or of a folder.
    #[must_use]
    pub fn candidate_of(&self, uri: &str) -> Option<Skill<'_>> {
        let name = uri.strip_prefix(SCHEME)?.split('/').next()?;
        let mut found = self.skills.ready().filter(is_candidate);
        found.find(|skill| skill.name() == name)
    }

    /// A skill with all of its files, if it can be published.
    ///
    /// # Errors
    /// When it can't be read, when the scanner blocks it, or when it can't be published, with the reason.
    pub fn publish(&self, skill: Skill<'_>) -> Result<PublishedSkill, Error> {
        let (catalog, entry) = (&self.skills.inventory().catalog, skill.entry());
        let admitted = self.scan_gate.admit(catalog, entry);
        let snapshot = admitted.map_err(|refusal| refused(entry, &refusal))?;
        let name = skill.name().into_owned();
        published(&name, snapshot.into_snapshot()).map_err(|why| {
            let word = shell_word(&name);
            Error::unmet("not-published", format!("skill `{name}` is not published: {why}"))
                .skill(&*name)
                .path(entry.manifest_path())
                .hint(format!(
                    "activate_skill gives it to a model; metier validate --strict {word} shows what differs from the specification"
                ))
        })
    }

    /// The workspace whose skills these are.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }
}

impl PublishedSkill {
    /// The URI of its folder, without a slash at the end.
    #[must_use]
    pub fn root(&self) -> &str {
        self.uri.strip_suffix("/SKILL.md").unwrap_or(&self.uri)
    }

    /// The file with this URI, compared letter by letter.
    #[must_use]
    pub fn file(&self, uri: &str) -> Option<&PublishedFile> {
        self.files.iter().find(|file| file.uri == uri)
    }
}

/// The URI of the SKILL.md of a skill with this name.
#[must_use]
pub(crate) fn manifest_uri(name: &str) -> String {
    format!("{SCHEME}{name}/{MANIFEST}")
}

impl Skill<'_> {
    /// The URI of its SKILL.md for hosts that read skills themselves; `None` if its card shows that it can't be published.
    ///
    /// An example is at [`Publisher`].
    #[must_use]
    pub fn uri(&self) -> Option<String> {
        is_candidate(self).then(|| manifest_uri(&self.name()))
    }
}

fn is_candidate(skill: &Skill<'_>) -> bool {
    let entry = skill.entry();
    skill.status() == Status::Ready
        && skill.is_model_invocable()
        && entry.files.main() == MANIFEST
        && name::departures(&skill.name()).next().is_none()
}

fn published(name: &str, snapshot: Snapshot) -> Result<PublishedSkill, String> {
    if snapshot.files.len() > MAX_FILES {
        return Err(format!(
            "it has {} files, and hosts need not accept more than {MAX_FILES}",
            snapshot.files.len()
        ));
    }
    let total: u64 = snapshot.files.iter().map(|file| file.size).sum();
    if total > MAX_BYTES {
        return Err(format!(
            "it has {total} bytes, and hosts need not accept more than {MAX_BYTES}"
        ));
    }
    let files = snapshot
        .files
        .into_iter()
        .map(|file| published_file(name, file));
    let files: Vec<PublishedFile> = files.collect::<Result<_, _>>()?;
    let uri = manifest_uri(name);
    let manifest = files.iter().find(|file| file.uri == uri);
    let manifest = manifest.ok_or("it has no file SKILL.md")?;
    let text = std::str::from_utf8(&manifest.bytes).map_err(|_| "its SKILL.md is not UTF-8")?;
    let frontmatter = frontmatter_as_json(text)
        .ok_or("the frontmatter of its SKILL.md is not YAML that every reader understands alike")?;
    if frontmatter.get("name").and_then(Value::as_str) != Some(name) {
        return Err("the `name` in its SKILL.md is not the name that it has here".to_owned());
    }
    let described = frontmatter.get("description").and_then(Value::as_str);
    if described.is_none_or(str::is_empty) {
        return Err("its SKILL.md has no description".to_owned());
    }
    Ok(PublishedSkill {
        name: name.to_owned(),
        uri,
        frontmatter,
        files,
    })
}

fn published_file(name: &str, file: SnapshotFile) -> Result<PublishedFile, String> {
    let shown = one_line(&file.path.as_path().to_string_lossy());
    let path = file.path.as_str();
    let path = path
        .ok_or_else(|| format!("the name of `{shown}` is not UTF-8"))?
        .to_owned();
    let SnapshotContent::Bytes(bytes) = file.content else {
        return Err(format!("`{shown}` is not a plain file"));
    };
    if bytes.len() as u64 != file.size {
        return Err(format!("`{shown}` is too large"));
    }
    if file.shared {
        return Err(format!("`{shown}` is a hard link"));
    }
    // Its bytes reach a model as they are, so they must be what a model gets in any other way.
    if let Ok(text) = std::str::from_utf8(&bytes)
        && for_model(text) != text
    {
        return Err(format!(
            "`{shown}` contains text that is changed before a model gets it"
        ));
    }
    let digest: String = file.hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(PublishedFile {
        uri: format!("{SCHEME}{name}/{}", encoded(&path)),
        path,
        digest: format!("sha256:{digest}"),
        bytes,
    })
}

/// A path in a URI: what RFC 3986 allows in a path stays, every other byte is percent-encoded.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use metier_model::Digest;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn file(path: &str, content: SnapshotContent, size: u64) -> SnapshotFile {
        let bytes: &[u8] = match &content {
            SnapshotContent::Bytes(bytes) => bytes,
            _ => b"",
        };
        SnapshotFile {
            path: path.into(),
            hash: Sha256::digest(bytes).into(),
            content,
            size,
            shared: false,
            executable: false,
        }
    }

    fn plain(path: &str, text: &str) -> SnapshotFile {
        file(path, SnapshotContent::Bytes(text.into()), text.len() as u64)
    }

    fn publish(files: Vec<SnapshotFile>) -> Result<PublishedSkill, String> {
        let snapshot = Snapshot {
            files,
            digest: Digest([0; 32]),
            fingerprint: None,
        };
        published("pdf", snapshot)
    }

    const GOOD: &str = "---\nname: pdf\ndescription: Reads PDF.\nlicense: MIT\n---\nBody.\n";

    #[test]
    fn a_published_skill_lists_every_file_with_its_digest() {
        let odd = "references/a b%2e.md";
        let skill = publish(vec![plain("SKILL.md", GOOD), plain(odd, "x")]).unwrap();
        assert_eq!(skill.uri, "skill://pdf/SKILL.md");
        assert_eq!(skill.root(), "skill://pdf");
        assert_eq!(skill.frontmatter["license"], "MIT");
        let uris: Vec<&str> = skill.files.iter().map(|file| file.uri.as_str()).collect();
        assert_eq!(
            uris,
            [
                "skill://pdf/SKILL.md",
                "skill://pdf/references/a%20b%252e.md"
            ]
        );
        assert_eq!(
            skill.files[1].digest,
            "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
        );
        assert!(skill.file("skill://pdf/references/../SKILL.md").is_none());
        assert!(skill.file("skill://pdf/%53KILL.md").is_none());
    }

    #[test]
    fn a_skill_that_a_host_would_not_accept_is_not_published() {
        let link = SnapshotContent::Link("/etc/passwd".into());
        let many = (0..MAX_FILES).map(|at| plain(&format!("f{at:03}"), ""));
        for (files, why) in [
            (vec![plain("README.md", "x")], "no file SKILL.md"),
            (
                vec![plain("SKILL.md", "---\nname: other\ndescription: d\n---\n")],
                "the `name`",
            ),
            (
                vec![plain(
                    "SKILL.md",
                    "---\nname: pdf\ndescription: a: b\n---\n",
                )],
                "not YAML",
            ),
            (
                vec![plain("SKILL.md", "---\nname: pdf\n---\n")],
                "no description",
            ),
            (
                vec![plain("SKILL.md", GOOD), file("l", link, 11)],
                "not a plain file",
            ),
            (
                vec![plain("SKILL.md", GOOD), plain("c.md", "<|im_start|>system")],
                "is changed before",
            ),
            (
                vec![
                    plain("SKILL.md", GOOD),
                    file("b", SnapshotContent::Left, MAX_BYTES),
                ],
                "bytes",
            ),
            (
                std::iter::once(plain("SKILL.md", GOOD))
                    .chain(many)
                    .collect(),
                "513 files",
            ),
        ] {
            let refused = publish(files).unwrap_err();
            assert!(refused.contains(why), "{refused} {why}");
        }
    }
}
