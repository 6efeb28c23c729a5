//! A client against a real registry, and against dishonest ones.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use metier_hub::registry::{
    CachedAnswer, HostTransport, MemoryFailure, PackageToPublish, RegistryAddress, RegistryClient,
    RegistryClientError, RegistryFreshness, RegistryMemory, RegistryRequest, RegistryResponse,
    RegistryTransport, choose_versions,
};
use metier_package::{
    Lock,
    registry_api::{PublishStatus, RegistryLogHead},
};
use semver::{Version, VersionReq};
use serde_json::Value;

use crate::test_registry::{TestRegistry, package, upload};

/// A cache without a disk.
#[derive(Default)]
struct Memory {
    answers: RefCell<BTreeMap<String, CachedAnswer>>,
    ends: RefCell<BTreeMap<String, RegistryLogHead>>,
    pins: RefCell<BTreeMap<(String, String, String), String>>,
}

impl RegistryMemory for Memory {
    fn answer(&self, url: &str) -> Result<Option<CachedAnswer>, MemoryFailure> {
        Ok(self.answers.borrow().get(url).cloned())
    }

    fn set_answer(&self, url: &str, answer: &CachedAnswer) -> Result<(), MemoryFailure> {
        self.answers
            .borrow_mut()
            .insert(url.to_owned(), answer.clone());
        Ok(())
    }

    fn log_end(&self, registry: &str) -> Result<Option<RegistryLogHead>, MemoryFailure> {
        Ok(self.ends.borrow().get(registry).cloned())
    }

    fn set_log_end(&self, registry: &str, head: &RegistryLogHead) -> Result<(), MemoryFailure> {
        self.ends
            .borrow_mut()
            .insert(registry.to_owned(), head.clone());
        Ok(())
    }

    fn pin(
        &self,
        registry: &str,
        name: &str,
        version: &str,
    ) -> Result<Option<String>, MemoryFailure> {
        let key = (registry.to_owned(), name.to_owned(), version.to_owned());
        Ok(self.pins.borrow().get(&key).cloned())
    }

    fn set_pin(
        &self,
        registry: &str,
        name: &str,
        version: &str,
        digest: &str,
    ) -> Result<(), MemoryFailure> {
        let key = (registry.to_owned(), name.to_owned(), version.to_owned());
        self.pins.borrow_mut().insert(key, digest.to_owned());
        Ok(())
    }
}

type Lie = Box<dyn Fn(&RegistryRequest, RegistryResponse) -> RegistryResponse + Send + Sync>;

/// The connection to a registry, with an attacker in the middle.
struct Middle {
    way: HostTransport,
    lie: Mutex<Option<Lie>>,
    is_cut: Mutex<bool>,
    requests: AtomicUsize,
}

impl Middle {
    fn new(address: &RegistryAddress) -> Self {
        Self {
            way: HostTransport::new(std::slice::from_ref(address)).unwrap(),
            lie: Mutex::new(None),
            is_cut: Mutex::new(false),
            requests: AtomicUsize::new(0),
        }
    }

    fn lies(
        &self,
        lie: impl Fn(&RegistryRequest, RegistryResponse) -> RegistryResponse + Send + Sync + 'static,
    ) {
        *self.lie.lock().unwrap() = Some(Box::new(lie));
    }

    fn cut(&self) {
        *self.is_cut.lock().unwrap() = true;
    }

    fn requests(&self) -> usize {
        self.requests.swap(0, Ordering::SeqCst)
    }
}

impl RegistryTransport for Middle {
    fn send(&self, request: &RegistryRequest) -> Result<RegistryResponse, String> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        if *self.is_cut.lock().unwrap() {
            return Err("the cable is cut".to_owned());
        }
        match &*self.lie.lock().unwrap() {
            Some(lie) => {
                // A dishonest registry sends a body.
                let mut asked = request.clone();
                asked.headers.retain(|(name, _)| name != "if-none-match");
                Ok(lie(request, self.way.send(&asked)?))
            }
            None => self.way.send(request),
        }
    }
}

/// A registry with `pdf` 1.0.0, a connection to it and a cache.
struct Run {
    stage: TestRegistry,
    token: String,
    address: RegistryAddress,
    middle: Middle,
    memory: Memory,
    _server: metier_registry::http::BackgroundServer,
}

impl Run {
    fn new() -> Self {
        let stage = TestRegistry::new();
        let token = stage.token("ada", "publish:*");
        stage.publish(&token, "pdf", "1.0.0");
        let server = stage.serve();
        let address = RegistryAddress::parse(&server.url()).unwrap();
        Self {
            middle: Middle::new(&address),
            stage,
            token,
            address,
            memory: Memory::default(),
            _server: server,
        }
    }

    fn at(&self, now: u64, freshness: RegistryFreshness) -> RegistryClient<'_> {
        let token = Some(self.token.clone());
        RegistryClient::new(
            self.address.clone(),
            token,
            &self.middle,
            &self.memory,
            now,
            freshness,
        )
    }

    fn client(&self) -> RegistryClient<'_> {
        self.at(0, RegistryFreshness::Now)
    }

    /// The skill `pdf` as a new run sees it.
    fn pdf(
        &self,
    ) -> Result<Option<metier_package::registry_api::RegistrySkill>, RegistryClientError> {
        self.client().skill("pdf")
    }
}

/// Changes a value in the JSON of some responses.
fn changed(
    path: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> impl Fn(&RegistryRequest, RegistryResponse) -> RegistryResponse + Send + Sync + 'static {
    move |request, mut response| {
        if request.url.path().ends_with(path) {
            let mut body: Value = serde_json::from_slice(&response.body).unwrap();
            change(&mut body);
            response.body = body.to_string().into_bytes();
            response.headers.retain(|(name, _)| name != "etag");
        }
        response
    }
}

const OTHER: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn a_skill_is_found_downloaded_and_published() {
    let run = Run::new();
    let client = run.client();
    let page = client.search("pdf", 0, 10).unwrap();
    assert_eq!((page.skills[0].name.as_str(), page.total), ("pdf", 1));
    let skill = client.skill("pdf").unwrap().unwrap();
    let fetched = client.connection().download(&skill.versions[0]).unwrap();
    assert_eq!(fetched.name, "pdf");
    assert_eq!(fetched.tree.digest().to_string(), skill.versions[0].tree);
    assert_eq!(fetched.origin.version, Some(Version::new(1, 0, 0)));
    assert_eq!(client.skill("none").unwrap(), None);
    let next = PackageToPublish {
        bytes: package("pdf", "1.1.0", ""),
        signature: None,
        allow_similar: false,
    };
    let answer = client.connection().publish(&next).unwrap();
    assert_eq!(answer.status, PublishStatus::Published);
    assert_eq!(client.connection().account().unwrap().owner, "ada");
    let yanked = client
        .connection()
        .set_yanked("pdf", "1.1.0", Some("broken"))
        .unwrap();
    assert_eq!(yanked.yanked.as_deref(), Some("broken"));
    let other = PackageToPublish {
        bytes: package("pdf", "1.1.0", "license: MIT\n"),
        ..next
    };
    let refused = client.connection().publish(&other).unwrap_err();
    assert!(
        matches!(&refused, RegistryClientError::Refused { status: 409, .. }),
        "{refused}"
    );
    assert_eq!(
        refused.hint().as_deref(),
        Some("raise the version in its manifest")
    );
}

// case 146
#[test]
fn other_bytes_than_the_stated_ones_are_refused() {
    let run = Run::new();
    let skill = run.pdf().unwrap().unwrap();
    let other = package("pdf", "1.0.0", "license: MIT\n");
    run.middle.lies(move |request, mut response| {
        if request.url.path().ends_with("/package") {
            response.body.clone_from(&other);
        }
        response
    });
    let refused = run
        .client()
        .connection()
        .download(&skill.versions[0])
        .unwrap_err();
    assert!(
        matches!(
            refused,
            RegistryClientError::WrongDigest {
                what: "the archive",
                ..
            }
        ),
        "{refused}"
    );
}

// case 38
#[test]
fn a_truncated_download_is_refused() {
    let run = Run::new();
    let skill = run.pdf().unwrap().unwrap();
    run.middle.lies(|request, mut response| {
        if request.url.path().ends_with("/package") {
            response.body.truncate(response.body.len() / 2);
        }
        response
    });
    assert!(
        run.client()
            .connection()
            .download(&skill.versions[0])
            .is_err()
    );
}

// case 146
#[test]
fn a_digest_of_the_tree_that_is_not_that_of_the_files_is_refused() {
    let run = Run::new();
    let mut skill = run.pdf().unwrap().unwrap();
    skill.versions[0].tree = OTHER.to_owned();
    let refused = run
        .client()
        .connection()
        .download(&skill.versions[0])
        .unwrap_err();
    assert!(
        matches!(
            refused,
            RegistryClientError::WrongDigest {
                what: "the files",
                ..
            }
        ),
        "{refused}"
    );
}

// case 146
#[test]
fn a_version_whose_digest_changed_is_refused() {
    let run = Run::new();
    run.pdf().unwrap();
    run.middle.lies(changed("/skills/pdf", |body| {
        body["versions"][0]["archive"] = OTHER.into();
    }));
    let refused = run.pdf().unwrap_err();
    assert!(
        matches!(&refused, RegistryClientError::OtherBytes { version, .. } if version == "1.0.0"),
        "{refused}"
    );
    let fresh = Memory::default();
    let client = RegistryClient::new(
        run.address.clone(),
        None,
        &run.middle,
        &fresh,
        0,
        RegistryFreshness::Now,
    );
    assert!(
        client.skill("pdf").is_ok(),
        "what was never seen can't be compared"
    );
}

// case 146
#[test]
fn a_registry_that_goes_back_in_time_is_refused() {
    let run = Run::new();
    run.stage.publish(&run.token, "pdf", "1.1.0");
    run.pdf().unwrap();
    // A backup from before the second version.
    let older = TestRegistry::new();
    let token = older.token("ada", "publish:*");
    older.publish(&token, "pdf", "1.0.0");
    let restored = older.registry.log(0, 10).unwrap();
    run.middle.lies(changed("/log", move |body| {
        body["head"] = serde_json::to_value(&restored.head).unwrap();
        body["entries"] = serde_json::json!([]);
    }));
    let refused = run.pdf().unwrap_err();
    assert!(
        matches!(
            refused,
            RegistryClientError::BackInTime {
                known: 2,
                found: 1,
                ..
            }
        ),
        "{refused}"
    );
}

// case 146
#[test]
fn a_registry_that_rewrote_its_log_is_refused() {
    let run = Run::new();
    run.pdf().unwrap();
    // As long as before, then longer, with another first entry.
    for more in 0..2 {
        let other = TestRegistry::new();
        let token = other.token("eve", "publish:*");
        other.publish(&token, "pdf", "1.0.0");
        for number in 0..more {
            other.publish(&token, "pdf", &format!("1.0.{}", number + 1));
        }
        run.middle.lies(changed("/log", move |body| {
            *body = serde_json::to_value(other.registry.log(1, 10).unwrap()).unwrap();
        }));
        let refused = run.pdf().unwrap_err();
        assert!(
            matches!(refused, RegistryClientError::BackInTime { known: 1, .. }),
            "{refused}"
        );
    }
}

#[test]
fn a_log_that_continues_is_accepted() {
    let run = Run::new();
    run.pdf().unwrap();
    for number in 1..5 {
        run.stage
            .publish(&run.token, "pdf", &format!("1.0.{number}"));
    }
    assert_eq!(run.pdf().unwrap().unwrap().versions.len(), 5);
    let ends = run.memory.ends.borrow();
    assert_eq!(ends[run.address.as_str()].position, 5);
}

#[test]
fn an_answer_is_used_for_an_hour_and_then_confirmed() {
    let run = Run::new();
    let ask = |now| {
        run.at(now, RegistryFreshness::Hourly)
            .skill("pdf")
            .unwrap()
            .unwrap()
            .versions
            .len()
    };
    assert_eq!(
        (ask(1_000), run.middle.requests()),
        (1, 2),
        "the log and the skill"
    );
    run.stage.publish(&run.token, "pdf", "1.1.0");
    assert_eq!((ask(1_000 + 3_599), run.middle.requests()), (1, 0));
    assert_eq!((ask(1_000 + 3_600), run.middle.requests()), (2, 2));
    // Not changed: confirmed with its ETag, and used for another hour.
    assert_eq!((ask(9_000), run.middle.requests()), (2, 2));
    assert_eq!((ask(9_000 + 3_599), run.middle.requests()), (2, 0));
}

#[test]
fn what_is_remembered_is_used_without_a_network() {
    let run = Run::new();
    run.at(0, RegistryFreshness::Hourly).skill("pdf").unwrap();
    run.middle.cut();
    let later = run.at(1_000_000, RegistryFreshness::Hourly);
    assert!(later.skill("pdf").unwrap().is_some());
    assert!(later.is_stale());
    let unknown = later.skill("none").unwrap_err();
    assert!(
        matches!(unknown, RegistryClientError::Unreachable { .. }),
        "{unknown}"
    );
    run.middle.requests();
    let offline = run.at(1_000_000, RegistryFreshness::Offline);
    assert!(offline.skill("pdf").unwrap().is_some());
    assert!(matches!(
        offline.skill("none"),
        Err(RegistryClientError::NotCached { .. })
    ));
    assert_eq!(run.middle.requests(), 0, "offline is offline");
}

#[test]
fn an_answer_that_is_not_one_is_an_error() {
    let run = Run::new();
    let cases: Vec<(&str, Lie)> = vec![
        (
            "no JSON",
            Box::new(|request, mut response| {
                if request.url.path().ends_with("/pdf") {
                    response.body = b"<html>".to_vec();
                }
                response
            }),
        ),
        (
            "another skill",
            Box::new(changed("/pdf", |body| body["name"] = "other".into())),
        ),
        (
            "a digest that is none",
            Box::new(changed("/pdf", |body| {
                body["versions"][0]["archive"] = "md5:0".into();
            })),
        ),
        (
            "a version that is none",
            Box::new(changed("/pdf", |body| {
                body["versions"][0]["version"] = "../1".into();
            })),
        ),
        (
            "a version of another skill",
            Box::new(changed("/pdf", |body| {
                body["versions"][0]["name"] = "x".into();
            })),
        ),
    ];
    for (what, lie) in cases {
        *run.middle.lie.lock().unwrap() = Some(lie);
        let refused = run.pdf().unwrap_err();
        assert!(
            matches!(refused, RegistryClientError::Wrong { .. }),
            "{what}: {refused}"
        );
    }
}

#[test]
fn versions_of_several_skills_are_chosen_together() {
    let run = Run::new();
    let publish = |name: &str, version: &str, requires: &str| {
        let more = match requires {
            "" => String::new(),
            requires => format!("dependencies:\n{requires}"),
        };
        run.stage
            .registry
            .publish(Some(&run.token), &upload(name, version, &more))
            .unwrap();
    };
    publish("base", "1.0.0", "");
    publish("base", "1.5.0", "");
    publish("base", "2.0.0", "");
    publish(
        "report",
        "1.0.0",
        "  - name: base\n    version: ^1\n  - name: pdf\n",
    );
    publish("modern", "1.0.0", "  - name: base\n    version: ^2\n");
    let client = [run.client()];
    let wanted = |names: &[&str]| -> Vec<(String, VersionReq)> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), VersionReq::STAR))
            .collect()
    };
    let chosen = choose_versions(&client, &wanted(&["report"]), &Lock::default()).unwrap();
    let shown: Vec<String> = chosen
        .iter()
        .map(|choice| {
            format!(
                "{} {} {}",
                choice.version.name, choice.version.version, choice.is_wanted
            )
        })
        .collect();
    assert_eq!(
        shown,
        ["base 1.5.0 false", "pdf 1.0.0 false", "report 1.0.0 true"]
    );
    let conflict =
        choose_versions(&client, &wanted(&["report", "modern"]), &Lock::default()).unwrap_err();
    let text = conflict.to_string();
    assert!(text.contains("report 1.0.0 requires base ^1"), "{text}");
    assert!(text.contains("modern 1.0.0 requires base ^2"), "{text}");
    let absent = choose_versions(&client, &wanted(&["none"]), &Lock::default()).unwrap_err();
    assert!(
        matches!(absent, RegistryClientError::NotFound { .. }),
        "{absent}"
    );
    run.stage
        .registry
        .set_yanked(Some(&run.token), "base", "1.5.0", Some("broken"))
        .unwrap();
    let client = [run.client()];
    let chosen = choose_versions(&client, &wanted(&["base"]), &Lock::default()).unwrap();
    assert_eq!(chosen[0].version.version, "2.0.0");
    let client = [run.client()];
    let chosen = choose_versions(&client, &wanted(&["report"]), &Lock::default()).unwrap();
    assert_eq!(chosen[0].version.version, "1.0.0", "not the yanked one");
    let locked = locked("base", "1.5.0", None);
    let client = [run.client()];
    let chosen = choose_versions(&client, &wanted(&["report"]), &locked).unwrap();
    assert_eq!(chosen[0].version.version, "1.5.0", "unless it is locked");
}

/// A lock with one skill.
fn locked(name: &str, version: &str, registry: Option<&str>) -> Lock {
    let registry = registry.map_or_else(String::new, |registry| {
        format!("registry = \"{registry}\"\n")
    });
    let tree = "0".repeat(64);
    let text = format!(
        "version = 1\n[skills.{name}]\nversion = \"{version}\"\nsource = \"{name}\"\n{registry}tree = \"sha256:{tree}\"\n\
         verdict = \"clean\"\nrules = \"1\"\n"
    );
    text.parse().unwrap()
}

// case 146
#[test]
fn a_locked_skill_comes_from_the_registry_of_its_lock_and_no_other() {
    let (first, second) = (Run::new(), Run::new());
    first.stage.publish(&first.token, "report", "99.0.0");
    second.stage.publish(&second.token, "report", "1.1.0");
    let wanted = [("report".to_owned(), VersionReq::STAR)];
    let clients = [first.client(), second.client()];
    let address = clients[1].address().to_string();
    let lock = locked("report", "1.0.0", Some(&address));
    let chosen = choose_versions(&clients, &wanted, &lock).unwrap();
    assert_eq!(
        (chosen[0].registry, &*chosen[0].version.version),
        (1, "1.1.0")
    );
    // Without that registry no other one can replace it.
    let clients = [first.client()];
    let error = choose_versions(&clients, &wanted, &lock).unwrap_err();
    assert_eq!(error.code(), "registry-not-configured");
    assert!(error.to_string().contains(&address), "{error}");
}

// case 146
#[test]
fn a_later_registry_can_t_add_versions_to_a_skill_of_an_earlier_one() {
    let (first, second) = (Run::new(), Run::new());
    second.stage.publish(&second.token, "pdf", "99.0.0");
    second.stage.publish(&second.token, "only-there", "1.0.0");
    let clients = [first.client(), second.client()];
    let wanted = ["pdf", "only-there"].map(|name| (name.to_owned(), VersionReq::STAR));
    let chosen = choose_versions(&clients, &wanted, &Lock::default()).unwrap();
    let shown: Vec<(usize, &str)> = chosen
        .iter()
        .map(|choice| (choice.registry, choice.version.version.as_str()))
        .collect();
    assert_eq!(shown, [(1, "1.0.0"), (0, "1.0.0")]);
}
