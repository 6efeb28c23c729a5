//! Git repositories, made here and fetched from a folder, from a server on loopback, and through ssh.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::Command,
    sync::{Arc, atomic::AtomicBool},
};

use metier_hub::fetch::{FetchError, SourceLimits, open};
use metier_testkit::{make_executable, needed};

use super::{
    User, listing, manifest, names, noise, opened, parsed, refused,
    server::{Server, answer, missing, ok, redirect},
    typed,
};

/// Git as its user runs it.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args([
            "-c",
            "init.defaultBranch=main",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {text}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A repository with two skills, a branch, a tag and entries that a skill can't contain.
fn repository(user: &User) -> String {
    user.write("repo/skills/pdf/SKILL.md", manifest("pdf"));
    user.write("repo/skills/pdf/scripts/run.sh", "echo one\n");
    user.write("repo/skills/docx/SKILL.md", manifest("docx"));
    user.write("repo/odd:name", "x");
    let repo = user.files("repo");
    symlink("/etc/passwd", repo.join("elsewhere")).unwrap();
    git(&repo, &["init", "--quiet"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "one"]);
    git(&repo, &["tag", "-a", "v1", "-m", "v1"]);
    git(&repo, &["checkout", "--quiet", "-b", "feature/two"]);
    user.write("repo/skills/pdf/scripts/run.sh", "echo two\n");
    git(&repo, &["commit", "--quiet", "-am", "two"]);
    let two = git(&repo, &["rev-parse", "HEAD"]);
    git(&repo, &["checkout", "--quiet", "main"]);
    two
}

fn from_folder(user: &User, more: &str) -> String {
    format!("git+file://{}{more}", typed(&user.files("repo")))
}

/// The script of the skill `pdf`, and the commit.
fn script(user: &User, text: &str) -> (String, String) {
    let access = user.access();
    let opened = opened(&access, text);
    let offer = opened.offers().iter().find(|offer| offer.name == "pdf");
    let skill = opened.read(offer.unwrap()).unwrap();
    let script = skill.tree.get("scripts/run.sh").unwrap();
    let script = String::from_utf8(script.to_vec()).unwrap();
    (script, skill.origin.commit.unwrap())
}

#[test]
fn a_repository_offers_its_skills_at_a_commit() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let one = git(&user.files("repo"), &["rev-parse", "HEAD"]);
    let access = user.access();
    let opened = opened(&access, &from_folder(&user, ""));
    assert_eq!(names(&opened), ["docx skills/docx", "pdf skills/pdf"]);
    let skill = opened.read(&opened.offers()[1]).unwrap();
    assert_eq!(
        listing(&skill),
        [
            format!("SKILL.md: {}", manifest("pdf")),
            "scripts/run.sh: echo one\n".to_owned()
        ]
    );
    assert_eq!(skill.origin.commit.as_deref(), Some(one.as_str()));
    let again = from_folder(&user, "//skills/pdf");
    assert_eq!(skill.origin.source, again);
    // The same digest as the folder on disk.
    let on_disk = user.fetch(&typed(&user.files("repo/skills/pdf"))).unwrap();
    assert_eq!(skill.tree.digest(), on_disk[0].tree.digest());
    assert_eq!(user.left().len(), 1);
    drop(opened);
    assert!(user.left().is_empty());
    // The recorded source can be typed.
    assert_eq!(user.fetch(&again).unwrap()[0].tree, skill.tree);
}

#[test]
fn a_branch_a_tag_and_a_commit_are_references() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    let two = repository(&user);
    let one = git(&user.files("repo"), &["rev-parse", "main"]);
    for (reference, expected, commit) in [
        ("#main", "echo one\n", &one),
        ("#v1", "echo one\n", &one),
        ("#feature/two", "echo two\n", &two),
        (&format!("#{two}"), "echo two\n", &two),
    ] {
        let (script, found) = script(&user, &from_folder(&user, reference));
        assert_eq!((script.as_str(), &found), (expected, commit), "{reference}");
    }
    let (script, found) = script(&user, &from_folder(&user, "//skills#feature/two"));
    assert_eq!((script.as_str(), &found), ("echo two\n", &two));
}

#[test]
fn a_name_after_the_reference_sign_can_be_a_skill() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let access = user.access();
    let opened = opened(&access, &from_folder(&user, "#docx"));
    assert_eq!(names(&opened), ["docx skills/docx"]);
    let skill = opened.read(&opened.offers()[0]).unwrap();
    assert_eq!(skill.origin.source, from_folder(&user, "//skills/docx"));
    drop(opened);
    let error = refused(user.fetch(&from_folder(&user, "#none")));
    assert!(
        error.contains("has no branch, tag or skill `none`"),
        "{error}"
    );
    let error = refused(user.fetch(&from_folder(&user, "//no/such")));
    assert!(error.contains("has no folder `no/such`"), "{error}");
    let commit = "0123456789012345678901234567890123456789";
    let error = refused(user.fetch(&from_folder(&user, &format!("#{commit}"))));
    assert!(error.contains(commit), "{error}");
    assert!(user.left().is_empty());
}

#[test]
fn a_branch_with_a_slash_is_found_in_an_address() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let source = metier_hub::GitSource {
        url: format!("file://{}", typed(&user.files("repo"))),
        folder: "two/skills/pdf".to_owned(),
        reference: Some("feature".to_owned()),
    };
    let access = user.access();
    let source = metier_hub::SkillSource::Git(source);
    let opened = open(&source, &access, &SourceLimits::default(), &()).unwrap();
    let skill = opened.read(&opened.offers()[0]).unwrap();
    assert_eq!(
        skill.origin.source,
        from_folder(&user, "//skills/pdf#feature/two")
    );
}

// case 26
#[test]
fn links_out_of_the_repository_submodules_and_odd_names_refuse_their_skill_only() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let repo = user.files("repo");
    for name in ["link", "sub", "name"] {
        user.write(&format!("repo/skills/{name}/SKILL.md"), manifest(name));
    }
    symlink("/etc/passwd", repo.join("skills/link/inner")).unwrap();
    user.write("repo/skills/name/a:b", "x");
    git(&repo, &["add", "."]);
    let commit = git(&repo, &["rev-parse", "HEAD"]);
    let entry = format!("160000,{commit},skills/sub/module");
    git(&repo, &["update-index", "--add", "--cacheinfo", &entry]);
    git(&repo, &["commit", "--quiet", "-m", "odd"]);
    let access = user.access();
    let opened = opened(&access, &from_folder(&user, ""));
    let mut seen = Vec::new();
    for offer in opened.offers() {
        match opened.read(offer) {
            Ok(_) => seen.push(offer.name.clone()),
            Err(error) => seen.push(error.to_string()),
        }
    }
    assert_eq!(seen[0], "docx");
    assert!(
        seen[1].contains("`inner` is a link that can't be followed: it points outside"),
        "{seen:?}"
    );
    assert!(seen[2].contains("a:b"), "{seen:?}");
    assert_eq!(seen[3], "pdf");
    assert!(seen[4].contains("`module` is a submodule"), "{seen:?}");
}

/// A link in a commit becomes the file that it names, whichever folder was typed.
#[test]
fn a_link_that_stays_in_the_repository_is_its_file() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let repo = user.files("repo");
    user.write("repo/skills/link/SKILL.md", manifest("link"));
    user.write("repo/common/notes/a.md", "a\n");
    user.write("repo/common/notes/b/c.md", "c\n");
    let link = |target: &str, name: &str| {
        symlink(target, repo.join("skills/link").join(name)).unwrap();
    };
    link("SKILL.md", "AGENTS.md");
    link("AGENTS.md", "CLAUDE.md");
    link("../../common/notes", "references");
    link("references/b/../a.md", "through.md");
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "links"]);
    let expected = [
        format!("AGENTS.md: {}", manifest("link")),
        format!("CLAUDE.md: {}", manifest("link")),
        format!("SKILL.md: {}", manifest("link")),
        "references/a.md: a\n".to_owned(),
        "references/b/c.md: c\n".to_owned(),
        "through.md: a\n".to_owned(),
    ];
    let access = user.access();
    for (typed, offer) in [("", 1), ("//skills", 1), ("//skills/link", 0)] {
        let opened = opened(&access, &from_folder(&user, typed));
        let skill = opened.read(&opened.offers()[offer]).unwrap();
        assert_eq!(listing(&skill), expected, "{typed}");
    }
}

// case 26
#[test]
fn a_link_that_leads_elsewhere_refuses_its_skill() {
    needed!(metier_testkit::needs::program("git"));
    for (target, reason) in [
        ("/etc/passwd", "it points outside the repository"),
        ("../../../etc/passwd", "it points outside the repository"),
        (
            "../../skills/../../repo/SKILL.md",
            "it points outside the repository",
        ),
        ("none", "its target does not exist"),
        ("../../.git/config", "its target does not exist"),
        ("loop", "it goes through too many links"),
        (".", "it points to a folder that contains it"),
        ("../..", "it points to a folder that contains it"),
        ("../sub/module", "`loop` is a submodule"),
    ] {
        let user = User::new();
        repository(&user);
        let repo = user.files("repo");
        user.write("repo/skills/link/SKILL.md", manifest("link"));
        user.write("repo/skills/sub/other", "x");
        symlink(target, repo.join("skills/link/loop")).unwrap();
        git(&repo, &["add", "."]);
        let commit = git(&repo, &["rev-parse", "HEAD"]);
        let entry = format!("160000,{commit},skills/sub/module");
        git(&repo, &["update-index", "--add", "--cacheinfo", &entry]);
        git(&repo, &["commit", "--quiet", "-m", "links"]);
        let error = refused(user.fetch(&from_folder(&user, "//skills/link")));
        assert!(error.contains(reason), "{target}: {error}");
    }
}

// case 40
#[test]
fn nothing_in_a_repository_runs() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let (repo, mark) = (user.files("repo"), user.path("mark"));
    let evil = user.write("evil.sh", format!("#!/bin/sh\ntouch {}\n", typed(&mark)));
    make_executable(&evil);
    let evil = typed(&evil);
    // Attributes, submodules and settings that a checkout would obey.
    user.write(
        "repo/.gitattributes",
        "* filter=evil diff=evil merge=evil\n",
    );
    user.write(
        "repo/.gitmodules",
        format!("[submodule \"x\"]\n\tpath = x\n\turl = ext::{evil}\n\tupdate = !{evil}\n"),
    );
    git(&repo, &["add", ".gitattributes", ".gitmodules"]);
    git(&repo, &["commit", "--quiet", "-m", "evil"]);
    for (key, value) in [
        ("filter.evil.smudge", &evil),
        ("filter.evil.process", &evil),
        ("core.fsmonitor", &evil),
        ("core.sshCommand", &evil),
        ("uploadpack.packObjectsHook", &evil),
        ("core.alternateRefsCommand", &evil),
        ("credential.helper", &evil),
    ] {
        git(&repo, &["config", key, value]);
    }
    for hook in [
        "post-checkout",
        "pre-auto-gc",
        "reference-transaction",
        "post-upload-pack",
    ] {
        fs::copy(&evil, repo.join(".git/hooks").join(hook)).unwrap();
    }
    let skills = user.fetch(&from_folder(&user, "")).unwrap();
    assert_eq!(skills.len(), 2);
    assert!(!mark.exists());
    // The control: the same program runs in a checkout.
    let _fails = Command::new("git")
        .current_dir(&repo)
        .args(["checkout", "--quiet", "feature/two"])
        .output()
        .unwrap();
    assert!(mark.exists());
}

fn served(user: &User) -> Server {
    let root = user.path("files");
    let repo = user.files("repo");
    git(&repo, &["config", "uploadpack.allowFilter", "true"]);
    git(&repo, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    Server::git(root, |_| None)
}

#[test]
fn a_repository_is_fetched_from_a_server() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    let two = repository(&user);
    let server = served(&user);
    let text = |more: &str| format!("git+{}{more}", server.url("/repo/.git"));
    assert_eq!(
        script(&user, &text("#feature/two")),
        ("echo two\n".to_owned(), two)
    );
    let skills = user.fetch(&text("")).unwrap();
    assert_eq!(skills.len(), 2);
    // Every request was one of git's protocol, and for this repository.
    for asked in server.asked() {
        assert!(asked.path.starts_with("/repo/.git/"), "{asked:?}");
    }
}

#[test]
fn only_the_files_of_the_skill_are_fetched_where_the_server_can_leave_others_out() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let repo = user.files("repo");
    user.write("repo/video.bin", noise(3 << 20));
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "video"]);
    let server = served(&user);
    let access = user.access();
    let opened = opened(&access, &format!("git+{}", server.url("/repo/.git")));
    let offers: Vec<_> = opened.offers().iter().collect();
    assert!(opened.read_all(&offers).iter().all(Result::is_ok));
    let [room] = user.left().try_into().unwrap();
    let packs = fs::read_dir(room.join("objects/pack")).unwrap();
    let fetched: u64 = packs
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(fetched < 1 << 20, "{fetched} bytes");
}

#[test]
fn skills_are_read_by_several_threads_at_once() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let repo = user.files("repo");
    for number in 0..12 {
        let name = format!("skill-{number}");
        user.write(&format!("repo/more/{name}/SKILL.md"), manifest(&name));
        user.write(&format!("repo/more/{name}/data"), format!("data of {name}"));
    }
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "more"]);
    let server = served(&user);
    let access = user.access();
    let opened = opened(&access, &format!("git+{}//more", server.url("/repo/.git")));
    // One by one, so that each thread fetches what it needs.
    std::thread::scope(|scope| {
        for offer in opened.offers() {
            let opened = &opened;
            scope.spawn(move || {
                let skill = opened.read(offer).unwrap();
                let data = format!("data of {}", offer.name);
                assert_eq!(skill.tree.get("data"), Some(data.as_bytes()));
            });
        }
    });
}

#[test]
fn a_server_that_leaves_nothing_out_works_too() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let server = Server::git(user.path("files"), |_| None);
    let skills = user
        .fetch(&format!("git+{}", server.url("/repo/.git")))
        .unwrap();
    assert_eq!(skills.len(), 2);
}

/// A server that only has files, as a web server without git's program has. It announces no protocol of git.
fn plain_files(user: &User) -> Server {
    let root = user.files("repo/.git");
    git(&root, &["update-server-info"]);
    Server::start(move |asked| {
        let path = asked.path.split('?').next().unwrap_or_default();
        let file = path.strip_prefix("/repo/.git/").map(|name| root.join(name));
        file.and_then(|file| fs::read(file).ok())
            .map_or_else(missing, ok)
    })
}

#[test]
fn a_plain_file_server_works_too() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let server = plain_files(&user);
    let skills = user.fetch(&format!("git+{}", server.url("/repo/.git")));
    assert_eq!(skills.unwrap().len(), 2);
}

#[test]
fn a_repository_with_the_longer_hash_is_fetched() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    user.write("repo/skills/pdf/SKILL.md", manifest("pdf"));
    let repo = user.files("repo");
    git(&repo, &["init", "--quiet", "--object-format=sha256"]);
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "--quiet", "-m", "one"]);
    let commit = git(&repo, &["rev-parse", "HEAD"]);
    assert_eq!(commit.len(), 64);
    let server = served(&user);
    for source in [
        from_folder(&user, ""),
        format!("git+{}", server.url("/repo/.git")),
    ] {
        let skills = user.fetch(&source).unwrap();
        assert_eq!(skills[0].origin.commit.as_ref(), Some(&commit), "{source}");
    }
}

#[test]
fn a_reference_that_a_repository_does_not_have_is_named() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let absent = "0123456789012345678901234567890123456789";
    let server = served(&user);
    for source in [
        from_folder(&user, &format!("#{absent}")),
        format!("git+{}#{absent}", server.url("/repo/.git")),
    ] {
        let error = user.fetch(&source).unwrap_err();
        assert!(matches!(error, FetchError::NoReference { .. }), "{error}");
    }
    // A repository without a commit has no HEAD.
    let empty = user.files("empty");
    fs::create_dir_all(&empty).unwrap();
    git(&empty, &["init", "--quiet"]);
    let error = user.fetch(&format!("git+file://{}", typed(&empty)));
    let error = error.unwrap_err();
    assert!(matches!(error, FetchError::NoReference { .. }), "{error}");
}

#[test]
fn a_redirect_of_git_to_another_host_is_refused() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let inner = served(&user);
    // The same machine at another port, a private address, and a metadata service.
    for location in [
        inner.url("/repo/.git/info/refs?service=git-upload-pack"),
        "http://10.0.0.1/repo/.git/info/refs?service=git-upload-pack".to_owned(),
        "http://169.254.169.254/repo/.git/info/refs?service=git-upload-pack".to_owned(),
    ] {
        let leading = Server::start(move |_| redirect(&location));
        let error = refused(user.fetch(&format!("git+{}", leading.url("/repo/.git"))));
        assert!(
            [
                "not approved",
                "not an approved host",
                "address",
                "can't be approved"
            ]
            .iter()
            .any(|text| error.contains(text)),
            "{error}"
        );
    }
    assert!(inner.asked().is_empty());
    assert!(user.left().is_empty());
}

#[test]
fn a_credential_of_the_user_s_helper_is_used_for_its_host_only() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    let demand = |asked: &super::server::Asked| {
        // ada:secret
        let known = asked.header("authorization") == Some("Basic YWRhOnNlY3JldA==");
        let demand = [("WWW-Authenticate", "Basic realm=\"x\"")];
        (!known).then(|| answer("401 Unauthorized", &demand, b""))
    };
    let server = Server::git(user.path("files"), demand);
    let text = format!("git+{}", server.url("/repo/.git"));
    let error = refused(user.fetch(&text));
    assert!(error.contains("could not read Username"), "{error}");
    let helper = "!f() { cat > \"$HOME/asked\"; echo username=ada; echo password=secret; }; f";
    let home = user.path("home");
    let config = home.join(".gitconfig");
    git(
        &home,
        &[
            "config",
            "--file",
            config.to_str().unwrap(),
            "credential.helper",
            helper,
        ],
    );
    let skills = user.fetch(&text).unwrap();
    assert_eq!(skills.len(), 2);
    let asked = fs::read_to_string(home.join("asked")).unwrap();
    assert!(
        asked.contains(&format!("host={}", server.address)),
        "{asked}"
    );
    assert!(user.left().is_empty());
}

#[test]
fn ssh_runs_outside_and_git_inside() {
    needed!(metier_testkit::needs::program("git"));
    let mut user = User::new();
    repository(&user);
    // The role of the user's ssh on the host: it starts the command there.
    let log = typed(&user.path("log"));
    let ssh = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {log}\nfor last; do :; done\nexec /bin/sh -c \"$last\"\n"
    );
    let ssh = user.write("bin/ssh", ssh);
    make_executable(&ssh);
    let path = format!("{}:/usr/bin:/bin", typed(&user.files("bin")));
    user.environment[0].1 = path.into();
    let text = format!(
        "git+ssh://git@example.org:2222{}#v1",
        typed(&user.files("repo"))
    );
    let (found, _) = script(&user, &text);
    assert_eq!(found, "echo one\n");
    let arguments = fs::read_to_string(user.path("log")).unwrap();
    let expected = format!(
        "-T\n-o\nBatchMode=yes\n-o\nSendEnv=GIT_PROTOCOL\n-p\n2222\n--\ngit@example.org\ngit-upload-pack '{}'\n",
        typed(&user.files("repo"))
    );
    assert_eq!(arguments, expected);
    // Error messages of ssh are reported.
    fs::write(
        &ssh,
        "#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n",
    )
    .unwrap();
    make_executable(&ssh);
    let error = refused(user.fetch(&text));
    assert!(error.contains("Host key verification failed."), "{error}");
}

#[test]
fn what_is_interrupted_or_killed_leaves_nothing_for_long() {
    needed!(metier_testkit::needs::program("git"));
    let mut user = User::new();
    repository(&user);
    user.stop = Some(Arc::new(AtomicBool::new(true)));
    let error = user.fetch(&from_folder(&user, "")).unwrap_err();
    assert!(matches!(error, FetchError::Stopped), "{error}");
    assert!(user.left().is_empty());
    // A folder whose process is gone is removed by the next fetch; one in use is not.
    user.stop = None;
    let dead = user.path("quarantine/fetch-dead");
    fs::create_dir_all(dead.join("objects")).unwrap();
    let access = user.access();
    let opened = opened(&access, &from_folder(&user, ""));
    assert!(!dead.exists());
    user.fetch(&from_folder(&user, "")).unwrap();
    assert_eq!(user.left().len(), 1);
    assert!(opened.read(&opened.offers()[0]).is_ok());
}

#[test]
fn a_repository_over_the_limit_is_refused() {
    needed!(metier_testkit::needs::program("git"));
    let user = User::new();
    repository(&user);
    user.write("repo/large", vec![7; 100]);
    let access = user.access();
    let limits = SourceLimits {
        repository: 100,
        ..SourceLimits::default()
    };
    let source = parsed(&from_folder(&user, ""));
    let error = open(&source, &access, &limits, &()).err().unwrap();
    assert!(matches!(error, FetchError::Git { .. }), "{error}");
    assert!(user.left().is_empty());
}
