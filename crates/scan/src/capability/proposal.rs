//! The permissions that cover the capabilities of a skill.

use std::collections::BTreeSet;

use metier_model::{Want, text};
use metier_sdk::Permission;

use super::scope::covers;
use crate::report::Capabilities;

/// The narrowest permissions that cover the capabilities of a skill, each in the grammar of a manifest:
/// `shell:exec(PROGRAM *)` or one of the skill's own scripts, `net:fetch(HOST[:PORT])`, `env:read(NAME)`, and for files a path
/// in the working folder (`./…`), in the home folder (`~/…`), or absolute. A permission that cannot be narrowed has no scope.
#[must_use]
pub fn suggested(seen: &Capabilities) -> Vec<String> {
    let mut found = BTreeSet::new();
    for permission in &seen.permissions {
        let (scopes, any): (Vec<String>, bool) = match permission {
            Permission::NetFetch => (seen.hosts.iter().cloned().collect(), seen.any_host),
            Permission::ShellExec => (seen.programs.iter().map(|name| line(name)).collect(), false),
            Permission::EnvRead => {
                let all = seen.variables.contains("*");
                (seen.variables.iter().cloned().collect(), all)
            }
            Permission::FileRead => (widest(&seen.reads), seen.any_read),
            Permission::FileWrite => (widest(&seen.writes), seen.any_write),
            _ => (Vec::new(), false),
        };
        let scopes: Vec<String> = scopes
            .iter()
            .map(|scope| format!("{permission}({scope})"))
            .collect();
        if any || scopes.is_empty() || !scopes.iter().all(fits) {
            found.insert(permission.to_string());
        } else {
            found.extend(scopes);
        }
    }
    found.into_iter().collect()
}

/// The scope of a program: any arguments for a program, none for a script of the skill.
fn line(program: &str) -> String {
    if program.contains('/') {
        program.to_owned()
    } else {
        format!("{program} *")
    }
}

/// Removes permissions that another one covers.
fn widest(scopes: &BTreeSet<String>) -> Vec<String> {
    scopes
        .iter()
        .filter(|scope| !scopes.iter().any(|wide| covers(wide, scope)))
        .cloned()
        .collect()
}

/// Whether a manifest can contain it unchanged.
fn fits(permission: &String) -> bool {
    permission.len() <= 200
        && !permission[..permission.len() - 1].contains(')')
        && text::visible(permission) == **permission
        && permission.parse::<Want>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposals_are_as_narrow_as_what_was_seen() {
        let set = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
        let seen = Capabilities {
            hosts: set(&["api.github.com", "localhost:8000"]),
            programs: set(&["git", "gh", "scripts/x.py"]),
            reads: set(&["~/.config/x", "./a/**", "./a/b"]),
            writes: set(&["/srv/**"]),
            variables: set(&["A)B"]),
            permissions: [
                Permission::NetFetch,
                Permission::ShellExec,
                Permission::FileRead,
                Permission::FileWrite,
                Permission::EnvRead,
            ]
            .into(),
            ..Capabilities::default()
        };
        assert_eq!(
            suggested(&seen),
            [
                "env:read",
                "file:read(./a/**)",
                "file:read(~/.config/x)",
                "file:write(/srv/**)",
                "net:fetch(api.github.com)",
                "net:fetch(localhost:8000)",
                "shell:exec(gh *)",
                "shell:exec(git *)",
                "shell:exec(scripts/x.py)",
            ]
        );
        let anywhere = Capabilities {
            any_host: true,
            any_write: true,
            ..seen
        };
        let wide = suggested(&anywhere);
        assert!(wide.contains(&"net:fetch".to_owned()));
        assert!(wide.contains(&"file:write".to_owned()));
    }
}
