//! Skills that MCP servers serve, as entries of the catalog.
//!
//! **Decision.** A list never waits for a server: it shows the server's last answer ([`metier_mcp::SkillCache`]).
//! [`Workspace::list_servers`] asks servers, for `metier list` only those whose list is missing or old. No file is read for a list. When a
//! skill is loaded its files are read, each compared with what was listed; if the server has changed them, its list is read again, so that
//! the next request sees the new version, under a new digest.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use metier_catalog::{Catalog, CatalogEntry, RemoteFile, RemoteReader, RemoteSkill};
use metier_config::ServerSettings;
use metier_mcp::{KnownListing, McpError, McpSkill, ServerEntry, SkillCache};
use metier_model::{Diagnostic, DiagnosticCode, DiagnosticSeverity, Strictness, text::visible};

use super::servers::ServerPool;
use crate::{Workspace, machine};

/// How long a list is not requested again, unless its server states a longer time.
const FRESH: Duration = Duration::from_secs(3600);
/// The longest time that a server can state.
const FRESH_AT_MOST: Duration = Duration::from_secs(24 * 3600);
/// How long a server that failed is not contacted again.
const LEFT_ALONE: Duration = Duration::from_secs(60);
/// Servers that are asked at the same time.
const AT_ONCE: usize = 8;
/// The longest name of a skill that is shown for an entry that can't be used.
const MAX_SHOWN: usize = 64;

const KIND: &str = "skills";

/// The result of asking a server for its skills.
///
/// An example is at [`Workspace::list_servers`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerListing {
    /// The user's name for the server.
    pub server: String,
    /// How many skills it lists, or why that is not known.
    pub skills: Result<usize, String>,
}

impl Workspace {
    /// Asks the servers of `skills.mcp` which skills they have: all of them, or only those whose list is missing or old. Later lists show
    /// their answers.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for listing in workspace.list_servers(true) {
    ///     println!("{}: {:?}", listing.server, listing.skills);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_servers(&self, all: bool) -> Vec<ServerListing> {
        let (Some(cache), false) = (self.skill_cache(), self.config.mcp.is_empty()) else {
            return Vec::new();
        };
        let labels: Vec<&str> = self.config.mcp.keys().map(String::as_str).collect();
        cache.keep_only(&labels);
        let now = seconds(machine::now());
        let is_due = |server: &ServerEntry| all || is_due(&cache.known(server), now);
        let configured = self.config.mcp.iter();
        let mut done = Vec::new();
        let mut due: Vec<ServerEntry> = Vec::new();
        for (label, settings) in configured {
            match self.server(label, settings) {
                Ok(server) if is_due(&server) => due.push(server),
                Ok(_) => {}
                Err(problem) => done.push(ServerListing {
                    server: label.clone(),
                    skills: Err(problem),
                }),
            }
        }
        for batch in due.chunks(AT_ONCE) {
            thread::scope(|scope| {
                let asked: Vec<_> = batch
                    .iter()
                    .map(|server| scope.spawn(|| self.list_server(&cache, server)))
                    .collect();
                let answers = asked.into_iter().filter_map(|asked| asked.join().ok());
                done.extend(answers);
            });
        }
        // The connection is closed afterwards: a list is requested rarely, and a program that stays open costs memory.
        self.mcp.close();
        done.sort_by(|a, b| a.server.cmp(&b.server));
        done
    }

    fn list_server(&self, cache: &SkillCache, server: &ServerEntry) -> ServerListing {
        let stop = || self.is_stopped();
        let pool = &self.mcp;
        let asked = pool.connection(KIND, server, &stop);
        let asked = asked.and_then(|connection| connection.skills(&stop));
        ServerListing {
            server: server.label.clone(),
            skills: keep(cache, server, asked),
        }
    }

    pub(crate) fn skill_cache(&self) -> Option<SkillCache> {
        let cache = self.machine.cache.as_ref()?;
        Some(SkillCache::new(cache.join("mcp")))
    }
}

/// Keeps a server's list, and returns how many skills it has.
fn keep(
    cache: &SkillCache,
    server: &ServerEntry,
    asked: Result<metier_mcp::SkillListing, McpError>,
) -> Result<usize, String> {
    let now = seconds(machine::now());
    let mut known = cache.known(server);
    let result = match asked {
        Ok(listing) => {
            let count = listing.entries.len();
            known = KnownListing {
                listing: Some(listing),
                listed_at: now,
                ..KnownListing::default()
            };
            Ok(count)
        }
        Err(error) => {
            let text = error.to_string();
            known.failure = Some(text.clone());
            known.failed_at = now;
            Err(text)
        }
    };
    // A list that could not be kept is requested again next time.
    cache.keep(server, &known).ok();
    result
}

/// Whether a server should be asked.
fn is_due(known: &KnownListing, now: u64) -> bool {
    let age = |at: u64| Duration::from_secs(now.saturating_sub(at));
    if known.failure.is_some() && age(known.failed_at) < LEFT_ALONE {
        return false;
    }
    let Some(listing) = &known.listing else {
        return true;
    };
    let fresh = Duration::from_millis(listing.ttl_ms).clamp(FRESH, FRESH_AT_MOST);
    age(known.listed_at) >= fresh
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs())
}

/// Puts the skills of all configured servers into a catalog, below everything else.
pub(crate) fn remote_skills(workspace: &Workspace, catalog: &mut Catalog, mode: Strictness) {
    if workspace.config.mcp.is_empty() {
        return;
    }
    let Some(cache) = workspace.skill_cache() else {
        return;
    };
    let mut entries = Vec::new();
    for (label, settings) in &workspace.config.mcp {
        let (found, problem) = of_server(workspace, &cache, label, settings, mode);
        entries.extend(found);
        catalog.diagnostics.extend(problem.map(|(message, hint)| {
            let file = workspace.machine.config_file.clone().unwrap_or_default();
            problem_of(label, &message, hint, &file)
        }));
    }
    catalog.entries.splice(0..0, entries);
}

/// The message about a server that requires a login.
fn no_authorization() -> String {
    let challenge = String::new();
    McpError::Authorization { challenge }.to_string()
}

type ServerProblem = (String, Option<String>);

/// The skills that one server listed last, and what is wrong with it.
fn of_server(
    workspace: &Workspace,
    cache: &SkillCache,
    label: &str,
    settings: &ServerSettings,
    mode: Strictness,
) -> (Vec<CatalogEntry>, Option<ServerProblem>) {
    let refresh = || Some("metier list --refresh".to_owned());
    let server = match workspace.server(label, settings) {
        Ok(server) => server,
        Err(problem) => {
            let hint = format!("check `skills.mcp.{label}` with: metier config");
            return (Vec::new(), Some((problem, Some(hint))));
        }
    };
    let known = cache.known(&server);
    let problem = match (&known.failure, &known.listing) {
        (Some(failure), _) if *failure == no_authorization() => {
            Some((failure.clone(), Some(format!("metier login --mcp {label}"))))
        }
        (Some(failure), _) => Some((failure.clone(), refresh())),
        (None, None) => Some(("its skills have not been listed yet".to_owned(), refresh())),
        (None, Some(listing)) => listing.cut.clone().map(|cut| (cut, None)),
    };
    let listing = known.listing.unwrap_or_default();
    let read: Vec<Result<McpSkill, (String, String)>> = listing
        .entries
        .iter()
        .map(|entry| {
            let uri = entry["uri"].as_str().unwrap_or_default();
            McpSkill::read(entry).map_err(|problem| (uri.to_owned(), problem))
        })
        .collect();
    let names = names(read.iter().filter_map(|skill| skill.as_ref().ok()));
    let source = Arc::new(ServedBy {
        pool: Arc::clone(&workspace.mcp),
        stop: Arc::clone(&workspace.settings.stop),
        cache: cache.clone(),
        server,
    });
    let entry = |skill: Result<McpSkill, (String, String)>| match skill {
        Err((uri, problem)) => refused(label, &uri, &problem),
        Ok(skill) => {
            let name = names.get(&skill.uri).and_then(Option::as_deref);
            served(&source, &skill, name, mode)
                .unwrap_or_else(|problem| refused(label, &skill.uri, &problem))
        }
    };
    (read.into_iter().map(entry).collect(), problem)
}

/// The name of each skill in its server's namespace, by its URI: its own, or its path if another one has the same; `None` if that is not enough.
fn names<'s>(skills: impl Iterator<Item = &'s McpSkill>) -> BTreeMap<String, Option<String>> {
    let skills: Vec<&McpSkill> = skills.collect();
    let own = |skill: &McpSkill| {
        let path = skill.path();
        path.rsplit('/').next().unwrap_or(path).to_owned()
    };
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for skill in &skills {
        *taken.entry(own(skill)).or_default() += 1;
    }
    let mut used = BTreeSet::new();
    let mut names = BTreeMap::new();
    for skill in skills {
        let name = match taken.get(&own(skill)) {
            Some(1) => own(skill),
            _ => skill.path().replace('/', "."),
        };
        let is_new = used.insert(name.clone()) && !names.contains_key(&skill.uri);
        names.insert(skill.uri.clone(), is_new.then_some(name));
    }
    names
}

fn served(
    source: &Arc<ServedBy>,
    skill: &McpSkill,
    name: Option<&str>,
    mode: Strictness,
) -> Result<CatalogEntry, String> {
    let name = name.ok_or("the server lists another skill under the same name")?;
    let manifest = skill.manifest()?;
    let label = &source.server.label;
    let reader = Arc::new(ServedSkill {
        source: Arc::clone(source),
        uri: skill.uri.clone(),
        root: skill.root()?.to_owned(),
    });
    let address = address(label, skill.path());
    let served = RemoteSkill::new(&address, manifest, reader);
    Ok(CatalogEntry::remote(
        &format!("{label}:{name}"),
        served,
        mode,
    ))
}

fn refused(label: &str, uri: &str, problem: &str) -> CatalogEntry {
    let path = uri.split_once("://").map_or(uri, |(_, path)| path);
    let path = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let last = path.rsplit('/').next().unwrap_or(path);
    let shown: String = visible(last).chars().take(MAX_SHOWN).collect();
    CatalogEntry::remote_refused(&format!("{label}:{shown}"), &address(label, path), problem)
}

/// The location of a skill, for display.
fn address(label: &str, path: &str) -> String {
    let path: String = visible(path).chars().take(4 * MAX_SHOWN).collect();
    format!("mcp:{label}/{path}")
}

fn problem_of(label: &str, message: &str, hint: Option<String>, file: &Path) -> Diagnostic {
    Diagnostic {
        severity: DiagnosticSeverity::Warning,
        code: DiagnosticCode::McpServer,
        message: format!("MCP server `{label}`: {message}").into(),
        hint: hint.map(Into::into),
        file: file.to_string_lossy().into(),
        position: None,
    }
}

/// A server that serves skills.
struct ServedBy {
    pool: Arc<ServerPool>,
    stop: Arc<std::sync::atomic::AtomicBool>,
    cache: SkillCache,
    server: ServerEntry,
}

impl ServedBy {
    fn connected<T>(
        &self,
        work: impl Fn(&metier_mcp::McpConnection, &dyn Fn() -> bool) -> Result<T, McpError>,
    ) -> Result<T, McpError> {
        let stop = || self.stop.load(std::sync::atomic::Ordering::Acquire);
        let connection = self.pool.connection(KIND, &self.server, &stop)?;
        match work(&connection, &stop) {
            // The connection ended meanwhile: one more attempt, with a new one.
            Err(McpError::Connection(_)) if connection.is_closed() => {
                let connection = self.pool.connection(KIND, &self.server, &stop)?;
                work(&connection, &stop)
            }
            done => done,
        }
    }
}

/// The way to the files of one skill: the cache, then its own server and no other.
struct ServedSkill {
    source: Arc<ServedBy>,
    uri: String,
    root: String,
}

impl RemoteReader for ServedSkill {
    fn read(&self, file: &RemoteFile) -> Result<Vec<u8>, String> {
        let ServedBy { cache, server, .. } = &*self.source;
        let kept = cache.file(&server.label, &self.uri, &file.hash, file.size);
        if let Some(bytes) = kept.filter(|bytes| file.is(bytes)) {
            return Ok(bytes);
        }
        let uri = format!("{}/{}", self.root, file.path);
        let read = self
            .source
            .connected(|connection, stop| connection.read(&uri, stop));
        read.map_err(|error| format!("MCP server `{}`: {error}", server.label))
    }

    fn verified(&self, file: &RemoteFile, bytes: &[u8]) {
        let ServedBy { cache, server, .. } = &*self.source;
        cache.keep_file(&server.label, &self.uri, &file.hash, bytes);
    }

    fn differs(&self) {
        let ServedBy { cache, server, .. } = &*self.source;
        let listed = self
            .source
            .connected(|connection, stop| connection.skills(stop));
        keep(cache, server, listed).ok();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed(uris: &[&str]) -> BTreeMap<String, Option<String>> {
        let skills: Vec<McpSkill> = uris
            .iter()
            .map(|uri| {
                let entry = json!({ "uri": uri, "frontmatter": {}, "resources": "dynamic" });
                McpSkill::read(&entry).unwrap()
            })
            .collect();
        names(skills.iter())
    }

    #[test]
    fn names_that_collide_are_distinguished_by_their_paths() {
        let uris = [
            "skill://pdf/SKILL.md",
            "skill://a/refunds/SKILL.md",
            "skill://b/refunds/SKILL.md",
        ];
        let names = listed(&uris);
        let name = |uri: &str| names[uri].as_deref();
        assert_eq!(name(uris[0]), Some("pdf"));
        assert_eq!(name(uris[1]), Some("a.refunds"));
        assert_eq!(name(uris[2]), Some("b.refunds"));
    }

    #[test]
    fn the_same_skill_twice_has_no_name() {
        let names = listed(&["skill://a/x/SKILL.md", "skill://a/x/SKILL.md"]);
        assert_eq!(names["skill://a/x/SKILL.md"], None);
    }

    #[test]
    fn a_list_is_read_again_when_it_is_old_and_a_failure_is_left_alone() {
        let known = |ttl_ms: u64, listed_at: u64| KnownListing {
            listing: Some(metier_mcp::SkillListing {
                ttl_ms,
                ..metier_mcp::SkillListing::default()
            }),
            listed_at,
            ..KnownListing::default()
        };
        let now = 1_000_000;
        assert!(is_due(&KnownListing::default(), now));
        assert!(!is_due(&known(0, now - 60), now));
        assert!(is_due(&known(0, now - 3600), now));
        assert!(!is_due(&known(7_200_000, now - 3600), now));
        assert!(is_due(&known(u64::MAX, now - 25 * 3600), now));
        let failed = KnownListing {
            failure: Some("down".to_owned()),
            failed_at: now - 10,
            ..KnownListing::default()
        };
        assert!(!is_due(&failed, now));
        assert!(is_due(&failed, now + 60));
    }
}
