//! The list of a server's skills: read in pages, kept as the server sent it, and checked entry by entry.

use metier_catalog::{RemoteFile, RemoteManifest};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    error::{McpError, shown},
    server::McpLimits,
};

/// The skills that a server listed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkillListing {
    /// The entries, as the server sent them.
    pub entries: Vec<Value>,
    /// How long the server expects them to be valid, in milliseconds.
    pub ttl_ms: u64,
    /// Why the rest was not read, if there was more.
    pub cut: Option<String>,
}

/// The entry of a skill, in the form that the extension requires.
#[derive(Clone, Debug, PartialEq)]
pub struct McpSkill {
    /// The URI of its SKILL.md.
    pub uri: String,
    /// Its frontmatter as JSON.
    pub frontmatter: Map<String, Value>,
    /// Its files.
    pub resources: SkillResources,
}

/// The files of a listed skill.
#[derive(Clone, Debug, PartialEq)]
pub enum SkillResources {
    /// All of its files, each with a digest.
    Files(Vec<ListedResource>),
    /// They are generated, and have no digests.
    Dynamic,
}

/// A file of a listed skill.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ListedResource {
    /// Its URI.
    pub uri: String,
    /// `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// Its length in bytes.
    pub size: u64,
}

const FILE: &str = "/SKILL.md";

impl McpSkill {
    /// Reads an entry.
    ///
    /// # Errors
    /// The problem.
    pub fn read(entry: &Value) -> Result<Self, String> {
        let uri = entry["uri"].as_str().ok_or("it has no `uri`")?;
        let frontmatter = entry["frontmatter"].as_object();
        let frontmatter = frontmatter.ok_or("it has no `frontmatter`")?.clone();
        let resources = match &entry["resources"] {
            Value::String(word) if word == "dynamic" => SkillResources::Dynamic,
            list @ Value::Array(_) => {
                let files = Vec::<ListedResource>::deserialize(list);
                SkillResources::Files(files.map_err(|error| format!("its `resources`: {error}"))?)
            }
            _ => return Err("its `resources` is neither a list nor `\"dynamic\"`".to_owned()),
        };
        Ok(Self {
            uri: uri.to_owned(),
            frontmatter,
            resources,
        })
    }

    /// The URI of its folder.
    ///
    /// # Errors
    /// If its URI is not that of a SKILL.md.
    pub fn root(&self) -> Result<&str, String> {
        let root = self.uri.strip_suffix(FILE).filter(|root| {
            let path = root.split_once("://").map(|(_, path)| path);
            path.is_some_and(|path| !path.is_empty())
        });
        root.ok_or_else(|| "its URI does not end with a folder and `/SKILL.md`".to_owned())
    }

    /// The path of its folder, without the scheme: `acme/billing/refunds`.
    #[must_use]
    pub fn path(&self) -> &str {
        let root = self.root().unwrap_or(&self.uri);
        root.split_once("://").map_or(root, |(_, path)| path)
    }

    /// The manifest that the catalog compares its files with.
    ///
    /// # Errors
    /// If it can't be verified, or breaks a rule of the extension.
    pub fn manifest(&self) -> Result<RemoteManifest, String> {
        let root = self.root()?;
        let name = self.frontmatter.get("name").and_then(Value::as_str);
        let name = name.ok_or("its frontmatter has no `name`")?;
        if root.rsplit('/').next() != Some(name) {
            return Err("its URI does not end with its name".to_owned());
        }
        let SkillResources::Files(resources) = &self.resources else {
            return Err(
                "its files are generated (`dynamic`): without digests they can't be verified, so it is not loaded"
                    .to_owned(),
            );
        };
        let files = resources.iter().map(|resource| file(root, resource));
        RemoteManifest::new(name, &self.frontmatter, files.collect::<Result<_, _>>()?)
    }
}

/// A file, relative to the folder of its skill.
fn file(root: &str, resource: &ListedResource) -> Result<RemoteFile, String> {
    let below = resource.uri.strip_prefix(root);
    let below = below.and_then(|below| below.strip_prefix('/'));
    let path =
        below.ok_or_else(|| format!("the file `{}` is not in its folder", shown(&resource.uri)))?;
    let digest = resource.digest.parse::<metier_model::Digest>();
    let digest = digest.map_err(|_| {
        format!(
            "the digest of `{}` is not `sha256:` followed by 64 lower-case hexadecimal digits",
            shown(path)
        )
    })?;
    Ok(RemoteFile {
        path: path.to_owned(),
        size: resource.size,
        hash: digest.0,
    })
}

/// A list that is being read.
pub(crate) struct SkillPages {
    listing: SkillListing,
    limits: McpLimits,
    cursors: Vec<String>,
    bytes: usize,
}

impl SkillPages {
    pub(crate) fn new(limits: McpLimits) -> Self {
        Self {
            listing: SkillListing::default(),
            limits,
            cursors: Vec::new(),
            bytes: 0,
        }
    }

    /// Where the next page begins.
    pub(crate) fn cursor(&self) -> Option<&str> {
        self.cursors.last().map(String::as_str)
    }

    /// Adds a page; returns whether there is another one to read.
    pub(crate) fn add(&mut self, mut page: Value) -> Result<bool, McpError> {
        let size = page.to_string().len();
        let Some(Value::Array(skills)) = page.get_mut("skills").map(Value::take) else {
            return Err(McpError::form("skills/list", "it has no `skills` list"));
        };
        self.bytes += size;
        let listing = &mut self.listing;
        if self.cursors.is_empty() {
            listing.ttl_ms = page["ttlMs"].as_u64().unwrap_or_default();
        }
        listing.entries.extend(skills);
        let next = page["nextCursor"].as_str().filter(|next| !next.is_empty());
        let Some(next) = next else {
            self.enforce_items();
            return Ok(false);
        };
        let problem = if listing.entries.len() >= self.limits.items {
            Some(format!("it lists more than {} skills", self.limits.items))
        } else if self.cursors.len() + 1 >= self.limits.pages {
            Some(format!(
                "its list has more than {} pages",
                self.limits.pages
            ))
        } else if self.bytes > self.limits.list_bytes {
            Some(format!(
                "its list is larger than {} bytes",
                self.limits.list_bytes
            ))
        } else if self.cursors.iter().any(|known| known == next) {
            Some("its list repeats a page".to_owned())
        } else {
            None
        };
        self.cursors.push(next.to_owned());
        listing.cut = problem;
        let is_open = listing.cut.is_none();
        self.enforce_items();
        Ok(is_open)
    }

    fn enforce_items(&mut self) {
        let most = self.limits.items;
        if self.listing.entries.len() > most {
            self.listing.entries.truncate(most);
            self.listing.cut = Some(format!("it lists more than {most} skills"));
        }
    }

    pub(crate) fn finish(self) -> SkillListing {
        self.listing
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn page(names: &[&str], next: Option<&str>) -> Value {
        let skills: Vec<Value> = names.iter().map(|name| json!({ "uri": name })).collect();
        json!({ "skills": skills, "nextCursor": next, "ttlMs": 5 })
    }

    #[test]
    fn pages_are_joined() {
        let mut pages = SkillPages::new(McpLimits::default());
        assert!(pages.add(page(&["a", "b"], Some("1"))).unwrap());
        assert_eq!(pages.cursor(), Some("1"));
        assert!(!pages.add(page(&["c"], None)).unwrap());
        let listing = pages.finish();
        assert_eq!(listing.entries.len(), 3);
        assert_eq!((listing.ttl_ms, listing.cut), (5, None));
    }

    #[test]
    fn a_list_that_does_not_end_is_cut_and_says_so() {
        let limits = McpLimits {
            items: 4,
            pages: 3,
            ..McpLimits::default()
        };
        let mut pages = SkillPages::new(limits);
        for number in 0.. {
            assert!(number < 5, "it does not end");
            if !pages
                .add(page(&["a", "b"], Some(&number.to_string())))
                .unwrap()
            {
                break;
            }
        }
        let listing = pages.finish();
        assert_eq!(listing.entries.len(), 4);
        assert!(listing.cut.unwrap().contains("more than 4 skills"));
        let mut pages = SkillPages::new(McpLimits::default());
        assert!(pages.add(page(&[], Some("x"))).unwrap());
        assert!(!pages.add(page(&[], Some("x"))).unwrap());
        assert!(pages.finish().cut.unwrap().contains("repeats"));
    }

    fn entry(change: impl FnOnce(&mut Value)) -> Value {
        let mut entry = json!({
            "uri": "skill://acme/pdf/SKILL.md",
            "frontmatter": { "name": "pdf", "description": "Reads PDF files" },
            "resources": [
                { "uri": "skill://acme/pdf/SKILL.md", "digest": format!("sha256:{}", "a".repeat(64)), "size": 10 },
                { "uri": "skill://acme/pdf/x/y.md", "digest": format!("sha256:{}", "b".repeat(64)), "size": 20 },
            ],
        });
        change(&mut entry);
        entry
    }

    #[track_caller]
    fn refused(change: impl FnOnce(&mut Value), expected: &str) {
        let entry = entry(change);
        let problem = McpSkill::read(&entry).and_then(|skill| skill.manifest().map(drop));
        let problem = problem.unwrap_err();
        assert!(problem.contains(expected), "{problem}");
    }

    #[test]
    fn an_entry_that_breaks_a_rule_is_refused() {
        let good = McpSkill::read(&entry(|_| {})).unwrap();
        assert_eq!(good.path(), "acme/pdf");
        assert_eq!(good.manifest().unwrap().files().len(), 2);
        refused(|entry| entry["uri"] = json!(7), "no `uri`");
        refused(|entry| entry["uri"] = json!("skill://pdf"), "SKILL.md");
        refused(
            |entry| entry["uri"] = json!("skill:///SKILL.md"),
            "SKILL.md",
        );
        refused(|entry| entry["frontmatter"] = json!([]), "no `frontmatter`");
        refused(
            |entry| entry["frontmatter"]["name"] = json!("other"),
            "end with its name",
        );
        refused(|entry| entry["resources"] = json!("dynamic"), "dynamic");
        refused(|entry| entry["resources"] = json!(null), "neither a list");
        refused(|entry| entry["resources"] = json!([]), "SKILL.md");
        refused(
            |entry| entry["resources"][1]["uri"] = json!("skill://other/y.md"),
            "not in its folder",
        );
        refused(
            |entry| entry["resources"][1]["uri"] = json!("skill://acme/pdfx/y.md"),
            "not in its folder",
        );
        refused(
            |entry| entry["resources"][1]["uri"] = json!("skill://acme/pdf/../y.md"),
            "not a path inside",
        );
        refused(
            |entry| entry["resources"][1]["uri"] = json!("skill://acme/pdf/SKILL.md"),
            "twice",
        );
        refused(
            |entry| entry["resources"][1]["digest"] = json!("sha256:zz"),
            "digest",
        );
        refused(
            |entry| entry["resources"][1]["digest"] = json!(format!("sha256:{}", "A".repeat(64))),
            "lower-case",
        );
        refused(
            |entry| entry["resources"][1]["size"] = json!(-1),
            "resources",
        );
        refused(
            |entry| entry["resources"][1]["size"] = json!(16 << 20),
            "bytes",
        );
        refused(
            |entry| {
                let more = (0..600).map(|n| json!({ "uri": format!("skill://acme/pdf/{n}"), "digest": format!("sha256:{}", "a".repeat(64)), "size": 1 }));
                entry["resources"] = more.collect();
            },
            "512",
        );
    }
}
