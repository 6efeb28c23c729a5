//! The layers are respected, and each rule detects its violations.

use super::{Package, bans_the_world, check, is_named, problems};
use crate::workspace;

const BAN: &str = "//! Docs.\n#![warn(clippy::disallowed_methods)]\n";

fn package(name: &str, needs: &[&str]) -> Package {
    let needs: Vec<String> = needs.iter().map(|&need| need.to_owned()).collect();
    Package {
        name: name.to_owned(),
        uses: needs.clone(),
        needs,
        library: Some(BAN.to_owned()),
    }
}

#[track_caller]
fn caught(package: Package, expected: &str) {
    let problems = problems(&[package]);
    assert!(
        problems.iter().any(|problem| problem.contains(expected)),
        "{problems:?}"
    );
}

#[test]
fn the_workspace_keeps_its_layers() {
    let findings = check(&workspace::root()).unwrap();
    assert!(findings.problems.is_empty(), "{:#?}", findings.problems);
}

#[test]
fn good_edges_are_fine() {
    let good = [
        package("metier-policy", &["metier-model", "metier-sdk"]),
        package("metier-cli", &["metier", "metier-wire", "metier-server"]),
        package("metier-testkit", &["metier-model"]),
    ];
    assert!(problems(&good).is_empty());
}

#[test]
fn sabotage_an_edge_up_is_caught() {
    caught(
        package("metier-model", &["metier-catalog"]),
        "must not know `metier-catalog`",
    );
}

#[test]
fn sabotage_neighbours_do_not_know_each_other() {
    caught(
        package("metier-catalog", &["metier-store"]),
        "must not know `metier-store`",
    );
}

#[test]
fn sabotage_a_door_does_not_reach_below_the_library() {
    for below in [
        "metier-runtime",
        "metier-store",
        "metier-model",
        "metier-sdk",
    ] {
        let refusal = format!("must not know `{below}`: an interface calls the library");
        caught(package("metier-cli", &["metier", below]), &refusal);
        caught(package("metier-server", &[below]), &refusal);
    }
    caught(
        package("metier-server", &["metier-cli"]),
        "must not know `metier-cli`",
    );
}

#[test]
fn sabotage_an_allowed_edge_that_is_not_there_is_caught() {
    caught(
        package("metier-server", &["metier"]),
        "`metier-server` does not need `metier-wire`",
    );
}

#[test]
fn sabotage_a_dependency_that_no_code_uses_is_caught() {
    let mut unused = package("metier-policy", &["metier-model", "metier-sdk"]);
    unused.uses.pop();
    caught(unused, "no code of `metier-policy` uses `metier-sdk`");
}

#[test]
fn a_crate_is_used_where_code_names_it() {
    let named = |path: &str, text: &str| is_named(path, text, "metier-sdk");
    assert!(named("a.rs", "//! A.\nuse metier_sdk::Name;\n"));
    assert!(named("a/b.rs", "    let a = ::metier_sdk::Name;\n"));
    assert!(!named("a.rs", "// metier_sdk::Name\n"));
    assert!(!named("a.rs", "use my_metier_sdk::Name;\n"));
    assert!(!named("a.rs", "use metier_sdk_more::Name;\n"));
    assert!(!named("a.md", "metier_sdk::Name\n"));
    assert!(!named("templates/a.rs", "use metier_sdk::Name;\n"));
}

#[test]
fn sabotage_test_crates_do_not_ship() {
    caught(package("metier", &["metier-testkit"]), "dev-dependency");
}

#[test]
fn sabotage_an_unknown_crate_is_caught() {
    caught(package("metier-misc", &[]), "has no layer");
}

#[test]
fn sabotage_a_pure_crate_without_the_ban_is_caught() {
    let mut pure = package("metier-policy", &[]);
    pure.library = Some("//! #![warn(clippy::disallowed_methods)]\nfn f() {}\n".to_owned());
    caught(pure, "is pure");
}

#[test]
fn the_ban_may_be_conditional() {
    assert!(bans_the_world(
        "#![cfg_attr(\n    not(test),\n    warn(clippy::disallowed_methods)\n)]\n"
    ));
    assert!(bans_the_world(
        "#![deny(clippy::disallowed_methods, clippy::panic)]"
    ));
    assert!(!bans_the_world(
        "#![allow(clippy::disallowed_methods, reason = \"x\")]"
    ));
    assert!(!bans_the_world(
        "#![warn(clippy::panic)]\n#[allow(clippy::disallowed_methods)]"
    ));
}
