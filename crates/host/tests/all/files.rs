//! The files that a child may read and write, and those that are denied even inside an allowed folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use metier_host::child::{ChildError, Exit};
use metier_host::sandbox::{Mechanism, credential_places};
use metier_testkit::needed;
use metier_testkit::needs::not_run;

use crate::test_home::{BOTH, TestHome, out, probe, undone};

#[test]
fn what_is_not_on_the_list_can_be_neither_read_nor_listed() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let secret = room.file("notes/private", "secret");
        let outcome = room.sh(&format!(
            "cat {0}; ls {1}; cat < {0}; head -c1 /etc/shadow; ls /",
            secret.display(),
            room.home().display()
        ));
        assert_eq!(out(&outcome), "", "{outcome:?}");
        assert_ne!(outcome.exit, Exit::Code(0));
    }
}

#[test]
fn credentials_stay_hidden_in_a_home_that_may_be_read() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let home = room.home();
        room.file(".ssh/id_ed25519", "secret");
        room.file(".config/gh/hosts.yml", "secret");
        room.file(".netrc", "secret");
        room.file(".config/other/plain", "plain");
        room.profile.read.push(home.clone());
        room.profile.deny = credential_places(&home);
        let outcome = room.sh(&format!(
            "cd {}; cat .ssh/id_ed25519; cat .ssh/*; cat .netrc .config/gh/hosts.yml; \
             cat .config/other/../../.ssh/id_ed25519; cat .config/other/plain",
            home.display()
        ));
        assert_eq!(out(&outcome), "plain", "{mechanism:?}: {outcome:?}");
    }
}

#[test]
fn credentials_stay_hidden_in_a_home_that_may_be_written() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let home = room.home();
        room.file(".ssh/id_ed25519", "secret");
        room.profile.write = vec![home.clone()];
        room.profile.deny = credential_places(&home);
        let outcome = room.sh(&format!(
            "cd {}; cat .ssh/id_ed25519; mv .ssh ssh && cat ssh/id_ed25519; ln .ssh/id_ed25519 work/k && cat work/k; \
             ln -s ../.ssh work/l; cat work/l/id_ed25519; rm -rf .ssh; umount .ssh",
            home.display()
        ));
        assert_eq!(out(&outcome), "", "{mechanism:?}: {outcome:?}");
        let key = fs::read_to_string(home.join(".ssh/id_ed25519")).unwrap();
        assert_eq!(key, "secret");
    }
}

#[test]
fn a_link_does_not_lead_to_credentials() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let home = room.home();
        room.file("keys/id", "secret");
        symlink("keys", home.join(".ssh")).unwrap();
        room.profile.read.push(home.clone());
        room.profile.deny = credential_places(&home);
        let outcome = room.sh(&format!("cd {}; cat .ssh/id; cat keys/id", home.display()));
        assert_eq!(out(&outcome), "", "{mechanism:?}: {outcome:?}");
    }
}

// case 94
#[test]
fn what_others_obey_can_not_be_written() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let (home, work) = (room.home(), room.work());
        let obeyed = [
            "work/.git/config",
            "work/.git/hooks/pre-commit",
            "work/.bashrc",
            "work/.mcp.json",
            "work/.claude/settings.json",
            "work/AGENTS.md",
        ];
        for place in obeyed {
            room.file(place, "as it was");
        }
        room.file("work/.git/objects/x", "");
        room.profile.protect = room.protected(&[work.join(".git")]);
        let outcome = room.sh(
            "for f in .git/config .git/hooks/pre-commit .git/hooks/new .bashrc .mcp.json .claude/settings.json AGENTS.md
             do echo bad > $f; echo bad >> $f; rm -f $f; mv $f x; ln $f y; chmod 777 $f; touch z; mv z $f; done
             rm -rf .git/hooks; mv .git/hooks h; mv .git g; mkdir -p .git/hooks; echo bad > .git/hooks/pre-commit
             mv .claude c; mkdir .claude; echo bad > .claude/settings.json
             ln -s /nowhere .git/hooks; cd .git; mv hooks i; cd hooks; echo bad > pre-commit; cd ../..
             echo fine > .git/objects/x; cat .git/objects/x .git/config",
        );
        assert!(
            out(&outcome).ends_with("fine\nas it was"),
            "{mechanism:?}: {outcome:?}"
        );
        for place in obeyed {
            let text = fs::read_to_string(home.join(place)).unwrap_or_default();
            assert_eq!(text, "as it was", "{mechanism:?}: {place}");
            let mode = fs::metadata(home.join(place)).unwrap().permissions().mode();
            assert_eq!(mode & 0o002, 0, "{mechanism:?}: {place}");
        }
        assert!(!work.join(".git/hooks/new").exists());
    }
}

#[test]
fn the_working_directory_does_not_bypass_the_mounts() {
    // The handle of the folder was opened outside; the files below it must nevertheless be those of the inner view.
    let mut room = TestHome::new(Mechanism::Namespaces);
    room.file("work/.bashrc", "as it was");
    room.profile.protect = room.protected(&[]);
    let outcome = room.sh("echo bad > ./.bashrc; echo bad > /proc/self/cwd/.bashrc; pwd");
    assert_eq!(out(&outcome), room.work().to_str().unwrap());
    let text = fs::read_to_string(room.work().join(".bashrc")).unwrap();
    assert_eq!(text, "as it was");
}

// case 94
#[test]
fn what_appears_in_a_protected_place_is_removed_again() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let work = room.work();
        room.profile.protect = room.protected(&[]);
        let outcome = room.sh(
            "mkdir -p .git/hooks .vscode/deep/er; echo bad > .git/hooks/pre-commit; echo bad > .bashrc; \
             echo bad > .vscode/tasks.json; chmod 000 .vscode/deep .vscode; mkdir .claude; echo bad > .claude/settings.json; \
             echo fine > .claude/other; ln -s /etc/passwd AGENTS.md; echo fine > result",
        );
        assert_eq!(outcome.exit, Exit::Code(0), "{mechanism:?}: {outcome:?}");
        let names = [
            ".bashrc",
            ".claude/settings.json",
            ".git",
            ".vscode",
            "AGENTS.md",
        ];
        assert_eq!(
            undone(&outcome),
            names.map(|name| work.join(name)),
            "{mechanism:?}"
        );
        for name in names {
            assert!(
                work.join(name).symlink_metadata().is_err(),
                "{mechanism:?}: {name}"
            );
        }
        let text = |name: &str| fs::read_to_string(work.join(name)).unwrap();
        assert_eq!(
            (text("result"), text(".claude/other")),
            ("fine\n".into(), "fine\n".into())
        );
    }
}

#[test]
fn removing_follows_no_link_out_of_the_folder() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let home = room.home();
        room.file("precious/settings.json", "precious");
        room.file("precious/hooks/pre-commit", "precious");
        room.profile.protect = room.protected(&[]);
        let outcome = room.sh(&format!(
            "ln -s {0} .claude; ln -s {0} .git; mkdir .idea; ln -s {0} .idea/x; ln -s {0}/hooks .codex",
            home.join("precious").display()
        ));
        assert_eq!(outcome.undone.len(), 4, "{mechanism:?}: {outcome:?}");
        let text = fs::read_to_string(home.join("precious/settings.json")).unwrap();
        assert_eq!(text, "precious");
        assert!(home.join("precious/hooks/pre-commit").exists());
    }
}

#[test]
fn a_tree_deeper_than_any_stack_is_put_aside() {
    let mut room = TestHome::new(Mechanism::Namespaces);
    room.profile.protect = room.protected(&[]);
    let script = format!("mkdir .idea; cd .idea; {} deep 1200", probe().display());
    let outcome = room.sh(&script);
    assert_eq!(out(&outcome), "made", "{outcome:?}");
    assert_eq!(undone(&outcome), [room.work().join(".idea")]);
    let left = fs::read_dir(room.work()).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| Some(entry.file_name())).collect();
    assert_eq!(left, [outcome.undone[0].renamed_to.clone()]);
}

#[test]
fn a_protected_link_is_put_back() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let work = room.work();
        room.file("work/real/hooks/pre-commit", "as it was");
        symlink("real", work.join(".git")).unwrap();
        room.profile.protect = vec![work.join(".git/hooks")];
        let outcome = room.sh(
            "echo bad > .git/hooks/pre-commit; echo bad > real/hooks/pre-commit; rm .git; mkdir -p .git/hooks; \
             echo bad > .git/hooks/pre-commit",
        );
        let link = fs::read_link(work.join(".git"));
        assert_eq!(
            link.ok().as_deref(),
            Some("real".as_ref()),
            "{mechanism:?}: {outcome:?}"
        );
        let text = fs::read_to_string(work.join(".git/hooks/pre-commit")).unwrap();
        assert_eq!(text, "as it was", "{mechanism:?}");
    }
}

#[test]
fn a_file_outside_can_not_be_cut_short() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outside = room.file("other", "as it was");
        let outcome = room.probe(&["steal", outside.to_str().unwrap()]);
        assert_ne!(out(&outcome), "allowed", "{mechanism:?}");
        assert_eq!(fs::read_to_string(outside).unwrap(), "as it was");
    }
}

#[test]
fn a_profile_that_gives_and_takes_the_same_is_refused() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.profile.protect = vec![room.home()];
        let refused = room.run("/bin/true", &[]);
        assert!(
            matches!(refused, Err(ChildError::Contradiction(_))),
            "{refused:?}"
        );
        room.profile.protect.clear();
        room.profile.write.push(room.home().join("nowhere"));
        let refused = room.run("/bin/true", &[]);
        assert!(matches!(refused, Err(ChildError::Unfit(_))), "{refused:?}");
    }
}

#[test]
fn harmless_devices_work_and_no_others() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome = room.sh(
            "echo x > /dev/null && head -c4 /dev/zero | wc -c && head -c4 /dev/urandom | wc -c; \
             for d in /dev/mem /dev/kmsg /dev/ptmx /dev/tty /dev/fuse /dev/kvm /dev/vda /dev/sda; do cat $d; done",
        );
        assert_eq!(out(&outcome), "4\n4", "{mechanism:?}: {outcome:?}");
    }
}

// case 94
#[test]
fn without_namespaces_nothing_new_is_made_beside_a_protected_place() {
    // Landlock can't exclude a place from a folder: the documentation of `sandbox` describes the consequence.
    let mut room = TestHome::new(Mechanism::Landlock);
    room.file("work/AGENTS.md", "as it was");
    room.file("work/src/old", "");
    room.profile.protect = room.protected(&[]);
    let outcome = room.sh("echo new > src/new && echo made; echo new > new; cat AGENTS.md");
    assert_eq!(out(&outcome), "made\nas it was", "{outcome:?}");
    assert!(!room.work().join("new").exists());
}

#[test]
fn shared_memory_is_the_child_s_own() {
    let room = TestHome::new(Mechanism::Namespaces);
    let outcome = room
        .sh("ls /dev/shm; echo x > /dev/shm/metier-test-shared && cat /dev/shm/metier-test-shared");
    assert_eq!(out(&outcome), "x", "{outcome:?}");
    assert!(!std::path::Path::new("/dev/shm/metier-test-shared").exists());
}

#[test]
fn a_workspace_in_shared_memory_is_a_workspace() {
    let folder = tempfile::tempdir_in("/dev/shm");
    let folder = needed!(folder.map_err(|error| not_run(format!("in /dev/shm: {error}"))));
    let mut room = TestHome::new(Mechanism::Namespaces);
    room.profile.write.push(folder.path().to_owned());
    let outcome = room.sh(&format!(
        "cd {} && echo x > y; ls /dev/shm",
        folder.path().display()
    ));
    assert_eq!(out(&outcome), "", "{outcome:?}");
    assert_eq!(fs::read_to_string(folder.path().join("y")).unwrap(), "x\n");
}
