//! The program with a real registry on this machine.

use std::any::Any;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use metier_registry::http::BackgroundServer;
use metier_registry::{
    FolderBlobs, NewToken, Registry, RegistryDatabase, SqliteDatabase, TokenScope,
};
use metier_testkit::TestContext;

const NOW: &str = "2026-01-31T09:00:00Z";

/// A registry in a folder, until it is dropped.
struct Served {
    server: BackgroundServer,
    registry: Registry,
    token: String,
    _folder: tempfile::TempDir,
}

impl Served {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = SqliteDatabase::open(&folder.path().join("registry.db")).unwrap();
        let scope: TokenScope = "publish:*".parse().unwrap();
        let token = NewToken::generate("ada", &scope, NOW).unwrap();
        database.add_token(&token.stored).unwrap();
        let blobs = FolderBlobs::open(&folder.path().join("packages")).unwrap();
        let registry = Registry::new(Arc::new(database), Arc::new(blobs), || NOW.to_owned());
        Self {
            server: BackgroundServer::start(registry.clone()).unwrap(),
            registry,
            token: token.secret,
            _folder: folder,
        }
    }

    /// Configures the registry for the program, and writes a token of its account `ada` to `~/token`.
    fn configure(&self, context: &mut TestContext) {
        context.env("METIER_SKILLS_REGISTRY_URL", self.server.url());
        context.write("~/token", format!("{}\n", self.token));
    }
}

/// The service `registry` of the specifications.
pub(crate) fn start(context: &mut TestContext) -> Box<dyn Any> {
    let served = Served::new();
    served.configure(context);
    Box::new(served)
}

fn skill(context: &TestContext, name: &str, version: &str, more: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: Does {name}.\nversion: {version}\n{more}---\nDo it.\n"
    );
    context.write(&format!("{name}/SKILL.md"), text);
}

fn context() -> (Served, TestContext) {
    let served = Served::new();
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    served.configure(&mut context);
    (served, context)
}

/// Logs in with the token of the service.
fn login(context: &TestContext) {
    let token = context.read("~/token");
    let output = context.run_with_stdin(&["login"], token);
    assert_eq!(output.code, 0, "{}", output.stderr);
}

#[test]
fn a_token_is_kept_in_a_file_of_its_owner() {
    let (served, context) = context();
    login(&context);
    let mut found = Vec::new();
    let mut open = vec![context.home()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with("token")
                && std::fs::read(&path)
                    .unwrap()
                    .windows(served.token.len())
                    .any(|part| part == served.token.as_bytes())
            {
                found.push(path);
            }
        }
    }
    let [file] = found.as_slice() else {
        panic!("{found:?}");
    };
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let output = context.run(&["login", "--logout"]);
    assert_eq!(output.code, 0);
    let kept = std::fs::read_to_string(file).unwrap();
    assert!(!kept.contains(&served.token));
}

#[test]
fn a_skill_is_published_found_and_installed_with_what_it_requires() {
    let (_served, context) = context();
    login(&context);
    skill(&context, "base", "1.0.0", "");
    skill(
        &context,
        "report",
        "1.0.0",
        "dependencies:\n  - name: base\n    version: ^1\n",
    );
    for name in ["base", "report"] {
        let output = context.run(&["publish", name, "--json"]);
        assert_eq!(output.code, 0, "{} {}", output.stdout, output.stderr);
        assert!(output.stdout.contains("\"published\""), "{}", output.stdout);
    }
    let output = context.run(&["search", "report", "--json"]);
    assert!(
        output.stdout.contains("\"source\":\"registry\"")
            || output.stdout.contains("\"source\": \"registry\""),
        "{}",
        output.stdout
    );
    let output = context.run(&["install", "report", "--yes"]);
    assert_eq!(output.code, 0, "{} {}", output.stdout, output.stderr);
    let installed = context.home().join(".agents/skills");
    for name in ["base", "report"] {
        let text = std::fs::read_to_string(installed.join(name).join("SKILL.md")).unwrap();
        assert_eq!(text, context.read(&format!("{name}/SKILL.md")));
    }
    let output = context.run(&["verify"]);
    assert_eq!(output.code, 0, "{} {}", output.stdout, output.stderr);
}

// case 146
#[test]
fn a_locked_version_with_other_bytes_is_not_installed() {
    let (first, mut context) = context();
    login(&context);
    skill(&context, "base", "1.0.0", "");
    assert_eq!(context.run(&["publish", "base"]).code, 0);
    assert_eq!(context.run(&["install", "base", "--yes"]).code, 0);
    // Another registry, with the same name and version but different bytes: the lock detects it even though the registry does not.
    let second = Served::new();
    second.configure(&mut context);
    login(&context);
    skill(&context, "base", "1.0.0", "license: MIT\n");
    assert_eq!(context.run(&["publish", "base"]).code, 0);
    // It is not the registry of the lock, so nothing of it is used for this skill.
    for arguments in [
        &["install", "base", "--yes", "--json"][..],
        &["outdated", "--json"],
    ] {
        let output = context.run(arguments);
        assert_eq!(output.code, 1, "{} {}", output.stdout, output.stderr);
        assert!(
            output.stdout.contains("registry-not-configured"),
            "{}",
            output.stdout
        );
    }
    // A lock of an earlier version names no registry: the digest protects it.
    let lock = context.home().join(".local/share/metier/metier.lock");
    let text = std::fs::read_to_string(&lock).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("registry = "));
    let older: String = lines.map(|line| format!("{line}\n")).collect();
    assert_ne!(older, text);
    std::fs::write(&lock, older).unwrap();
    let output = context.run(&["install", "base", "--yes", "--json"]);
    assert_eq!(output.code, 1, "{} {}", output.stdout, output.stderr);
    assert!(
        output.stdout.contains("registry-other-bytes"),
        "{}",
        output.stdout
    );
    let text =
        std::fs::read_to_string(context.home().join(".agents/skills/base/SKILL.md")).unwrap();
    assert!(!text.contains("MIT"), "the old one is there");
    assert!(first.registry.skill("base").is_ok());
}
