//! One test for each problem of a set, and the properties that hold for every set.

use metier_testkit::skill_yaml;
use proptest::prelude::*;

use super::*;
use crate::Decision;

/// Code that can have any tool.
const CODE: &str = "implementation: {backend: starlark, entrypoint: x.star}";

/// A skill with these lines in its SKILL.yaml.
fn skill(name: &str, lines: &str) -> SkillManifest {
    let version = if lines.contains("version:") && !lines.contains("{") {
        String::new()
    } else {
        "version: 1.0.0\n".to_owned()
    };
    let text = format!("name: {name}\n{version}description: d\ntypes: [prompt]\n{lines}\n");
    skill_yaml(&text).0
}

fn known(manifest: &SkillManifest) -> Member<'_> {
    let place = manifest.card.name.as_str();
    Member::Known { manifest, place }
}

const CODING: ComposeOptions = ComposeOptions {
    coding: true,
    on_conflict: OnConflict::Restrict,
};

const REJECT: ComposeOptions = ComposeOptions {
    coding: false,
    on_conflict: OnConflict::Reject,
};

/// Composes in both orders, which must agree.
#[track_caller]
fn composed(skills: &[SkillManifest], options: ComposeOptions) -> Composition {
    let set: Vec<Member<'_>> = skills.iter().map(known).collect();
    let there = compose(&set, options);
    let back: Vec<Member<'_>> = skills.iter().rev().map(known).collect();
    assert_eq!(there, compose(&back, options));
    there
}

fn codes(faults: &[CompositionFault]) -> Vec<&'static str> {
    faults.iter().map(|fault| fault.code.as_str()).collect()
}

/// The codes of errors and of warnings.
#[track_caller]
fn check(
    skills: &[SkillManifest],
    options: ComposeOptions,
    errors: &[&str],
    warnings: &[&str],
) -> Composition {
    let found = composed(skills, options);
    assert_eq!(codes(&found.errors), errors, "{:#?}", found.errors);
    assert_eq!(codes(&found.warnings), warnings, "{:#?}", found.warnings);
    assert_eq!(found.valid, errors.is_empty());
    found
}

fn written(tools: &[metier_model::ToolPattern]) -> Vec<&str> {
    tools.iter().map(|tool| tool.as_str()).collect()
}

fn pair() -> [SkillManifest; 2] {
    [
        skill(
            "specification-engine",
            &format!(
                "{CODE}\nallowed_tools: [specKit]\ncomposability_rules: [{{with: opencode-implementer, required: true, order: before}}]"
            ),
        ),
        skill(
            "opencode-implementer",
            &format!(
                "{CODE}\nallowed_tools: [opencode]\nforbidden_tools: [write, edit]\ncomposability_rules: [{{with: specification-engine, required: true}}]"
            ),
        ),
    ]
}

#[test]
fn the_coding_pair_goes_together() {
    let found = check(&pair(), CODING, &[], &[]);
    assert_eq!(
        found.order,
        ["specification-engine", "opencode-implementer"]
    );
    assert_eq!(
        found.skills,
        ["opencode-implementer", "specification-engine"]
    );
    assert_eq!(written(&found.tools.allowed), ["opencode", "specKit"]);
    assert_eq!(written(&found.tools.forbidden), ["edit", "write"]);
    assert_eq!(found.tools.decide("specKit"), Decision::Allow);
    for tool in ["Write", "MultiEdit", "Bash", "speckit", "*", "", "spec kit"] {
        assert_eq!(found.tools.decide(tool), Decision::Deny, "{tool}");
    }
}

#[test]
fn half_a_pipeline_is_refused() {
    let [first, second] = pair();
    for one in [first, second] {
        let found = check(
            &[one],
            CODING,
            &["missing-partner", "incomplete-coding-pipeline"],
            &[],
        );
        assert_eq!(found.missing.len(), 1);
    }
    let other = [skill("prose", "")];
    let found = check(&other, CODING, &["incomplete-coding-pipeline"], &[]);
    assert_eq!(
        found.missing,
        CODING_PIPELINE
            .map(str::to_owned)
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
    );
    // Replacing one of the two by a skill that requires no partner still leaves half a pipeline.
    let own = format!("{CODE}\nallowed_tools: [opencode]");
    let own = [skill("opencode-implementer", &own)];
    check(
        &own,
        CODING,
        &["missing-partner", "incomplete-coding-pipeline"],
        &[],
    );
    check(&own, ComposeOptions::default(), &[], &[]);
}

#[test]
fn a_coding_set_writes_no_files_directly() {
    let [first, second] = pair();
    let typist = skill("typist", "allowed_tools: [apply_patch, Read, Write]");
    let found = check(
        &[first, second, typist],
        CODING,
        &[],
        &["tool-conflict", "tool-conflict"],
    );
    assert_eq!(
        written(&found.tools.allowed),
        ["Read", "opencode", "specKit"]
    );
    assert_eq!(
        found.warnings[0].message,
        "`typist` allows `Write`, and a coding task, like `opencode-implementer`, forbids `write`: it is forbidden"
    );
}

// case 120
#[test]
fn the_most_restrictive_wins_in_any_sequence() {
    let skills = [
        skill("typist", "allowed_tools: [Write, Read]"),
        skill("guard", "forbidden_tools: [write]"),
    ];
    let found = check(&skills, ComposeOptions::default(), &[], &["tool-conflict"]);
    assert_eq!(written(&found.tools.allowed), ["Read"]);
    assert_eq!(written(&found.tools.forbidden), ["write"]);
    assert_eq!(found.warnings[0].skills, ["guard", "typist"]);
    assert_eq!(
        found.warnings[0].message,
        "`typist` allows `Write`, and `guard` forbids `write`: it is forbidden"
    );
    check(&skills, REJECT, &["tool-conflict"], &[]);
}

#[test]
fn both_lists_allow_and_both_lists_forbid() {
    let skills = [
        skill(
            "a",
            &format!("{CODE}\nallowed_tools: [x]\nforbidden_tools: [y]"),
        ),
        skill(
            "b",
            &format!("{CODE}\nallowed-tools: z Bash(git:*)\ndisallowed-tools: v"),
        ),
    ];
    let found = check(&skills, ComposeOptions::default(), &[], &[]);
    assert_eq!(written(&found.tools.allowed), ["Bash(git:*)", "x", "z"]);
    assert_eq!(written(&found.tools.forbidden), ["v", "y"]);
}

#[test]
fn part_of_a_tool_can_be_allowed_or_forbidden() {
    let skills = [
        skill("a", "allowed_tools: [Bash(git:*), Read]"),
        skill("b", "forbidden_tools: [Bash(git push:*)]"),
    ];
    let found = check(&skills, ComposeOptions::default(), &[], &["tool-conflict"]);
    let tools = &found.tools;
    assert_eq!(tools.decide("Bash(git log -3)"), Decision::Allow);
    assert_eq!(tools.decide("shell(git push origin)"), Decision::Deny);
    assert_eq!(tools.decide("Bash(git log; rm x)"), Decision::Deny);
    assert_eq!(tools.decide("Bash"), Decision::Deny, "not all of it");
    assert!(tools.offers("Bash") && !tools.offers("Write"));
    assert_eq!(tools.decide("Read(a/b)"), Decision::Allow);
    // Excluding a part of what a skill allows is not a contradiction, excluding all of it is.
    let cut = skill("c", "allowed_tools: [Bash]\ndisallowed-tools: Bash(rm:*)");
    check(&[cut], REJECT, &[], &[]);
    let contradiction = skill("d", "allowed_tools: [Bash]\nforbidden_tools: [shell]");
    check(&[contradiction], REJECT, &["tool-conflict"], &[]);
}

// case 55
#[test]
fn a_star_allows_nothing_by_itself() {
    let wide = [skill("wide", "allowed_tools: ['*', Grep]")];
    let found = check(&wide, ComposeOptions::default(), &[], &[]);
    assert_eq!(found.tools.decide("Write"), Decision::Ask);
    assert_eq!(found.tools.decide("Grep"), Decision::Allow);
    let guarded = [
        skill("wide", "allowed_tools: ['*']"),
        skill("guard", "forbidden_tools: [write]"),
    ];
    let found = check(&guarded, ComposeOptions::default(), &[], &["tool-conflict"]);
    assert_eq!(found.tools.decide("Write"), Decision::Deny);
    assert_eq!(found.tools.decide("Read"), Decision::Ask);
}

// case 55
#[test]
fn an_invalid_tool_allows_nothing_and_forbids_more() {
    let garbage = [skill("a", "allowed_tools: ['Read(', 'Wr*te', Grep]")];
    let warnings = ["unreadable-tool", "unreadable-tool"];
    let found = check(&garbage, ComposeOptions::default(), &[], &warnings);
    assert_eq!(written(&found.tools.allowed), ["Grep"]);
    let garbage = [skill(
        "a",
        "allowed_tools: [Bash, Grep]\nforbidden_tools: ['Bash(rm']",
    )];
    let warnings = ["tool-conflict", "unreadable-tool"];
    let found = check(&garbage, ComposeOptions::default(), &[], &warnings);
    assert_eq!(found.tools.decide("Bash(ls)"), Decision::Deny);
    assert_eq!(found.tools.decide("Grep"), Decision::Allow);
}

#[test]
fn unknown_and_refused_members_are_named_with_a_way_out() {
    let near = ["git".to_owned()];
    let members = [
        Member::Unknown {
            name: "gti",
            near: &near,
        },
        Member::Unknown {
            name: "zzz",
            near: &[],
        },
        Member::Refused {
            name: "user:review-pr",
            why: "it needs the program `gh`, which is not on PATH",
            hint: Some("brew install gh"),
        },
    ];
    let found = compose(&members, ComposeOptions::default());
    assert_eq!(
        codes(&found.errors),
        ["unknown-skill", "unknown-skill", "not-admitted"]
    );
    assert_eq!(found.errors[0].hint.as_deref(), Some("did you mean `git`?"));
    assert_eq!(found.errors[2].hint.as_deref(), Some("brew install gh"));
    assert_eq!(found.skills, Vec::<String>::new());
    // A requested skill is not also reported as missing.
    let needs = skill(
        "a",
        "composability_rules: [{with: review-pr, required: true}]",
    );
    let found = compose(&[known(&needs), members[2]], ComposeOptions::default());
    assert_eq!(codes(&found.errors), ["not-admitted"]);
}

#[test]
fn the_same_skill_twice_is_a_warning_and_two_of_one_name_are_an_error() {
    let one = skill("a", "allowed_tools: [read]");
    let other = skill("a", "allowed_tools: [grep]");
    let at = |manifest, place| Member::Known { manifest, place };
    let found = compose(&[at(&one, "1"), at(&one, "1")], ComposeOptions::default());
    assert!(found.valid);
    assert_eq!(codes(&found.warnings), ["duplicate"]);
    assert_eq!(found.skills, ["a"]);
    let found = compose(&[at(&one, "1"), at(&other, "2")], ComposeOptions::default());
    assert_eq!(codes(&found.errors), ["duplicate"]);
}

#[test]
fn a_skill_without_any_list_reads_and_has_its_own_tools() {
    let found = check(
        &[skill("a", ""), skill("b", CODE)],
        ComposeOptions::default(),
        &[],
        &[],
    );
    assert_eq!(written(&found.tools.allowed), ["glob", "grep", "read"]);
    assert_eq!(found.tools.own, ["b"]);
    assert!(!found.can_write);
    for list in ["allowed_tools: []", "forbidden_tools: [write]"] {
        let found = check(&[skill("a", list)], ComposeOptions::default(), &[], &[]);
        assert_eq!(written(&found.tools.allowed), [""; 0], "{list}");
    }
    let writes = skill("c", &format!("{CODE}\npermissions: [\"file:write\"]"));
    assert!(composed(&[writes], ComposeOptions::default()).can_write);
    let shell = skill("d", "allowed_tools: [Bash(ls)]");
    assert!(composed(&[shell], ComposeOptions::default()).can_write);
}

#[test]
fn a_list_names_tools_that_there_are() {
    let dreams = skill("a", "allowed_tools: [no_such_tool, WebFetch]");
    let found = check(&[dreams], ComposeOptions::default(), &["no-such-tool"], &[]);
    assert_eq!(
        found.errors[0].message,
        "`a` allows `no_such_tool` and `WebFetch`, which nothing provides: it would have no tools"
    );
    let partly = skill("a", "allowed_tools: [Read, WebFetch]");
    check(&[partly], ComposeOptions::default(), &[], &["no-such-tool"]);
    // A tool of another skill in the set exists, under its full name.
    let other = skill("a", "allowed_tools: [b__go]");
    check(
        std::slice::from_ref(&other),
        ComposeOptions::default(),
        &["no-such-tool"],
        &[],
    );
    check(
        &[other, skill("b", CODE)],
        ComposeOptions::default(),
        &[],
        &[],
    );
    // The two tools of the coding pipeline come from skills with code, too.
    let typed = skill("opencode-implementer", "allowed_tools: [opencode]");
    check(&[typed], ComposeOptions::default(), &["no-such-tool"], &[]);
}

#[test]
fn what_could_write_beside_the_coding_pipeline_is_named() {
    let [first, second] = pair();
    for (lines, warned) in [
        ("allowed_tools: [shell]", true),
        ("allowed_tools: [read, grep]", false),
        ("allowed_tools: [sessions_spawn]", true),
        (CODE, false),
        (&format!("{CODE}\npermissions: [\"git:write\"]"), true),
    ] {
        let found = composed(&[first.clone(), second.clone(), skill("x", lines)], CODING);
        let is_held = codes(&found.warnings).contains(&"held-tool");
        assert_eq!(is_held, warned, "{lines}");
    }
}

#[test]
fn waiting_skills_and_unobservable_orders_are_reported() {
    let [first, second] = pair();
    let found = composed(&[first, second], ComposeOptions::default());
    let waits: Vec<_> = found.waits.iter().map(|(a, b)| (&**a, &**b)).collect();
    assert_eq!(waits, [(CODING_PIPELINE[0], CODING_PIPELINE[1])]);
    // In a coding task they wait whatever they declare; nothing waits for a dependency.
    let plain = CODING_PIPELINE.map(|name| skill(name, CODE));
    assert_eq!(composed(&plain, ComposeOptions::default()).waits, []);
    assert_eq!(composed(&plain, CODING).waits.len(), 1);
    let base = [skill("base", ""), skill("top", "dependencies: [base]")];
    assert_eq!(composed(&base, ComposeOptions::default()).waits, []);
    let silent = [
        skill(
            "a",
            "allowed_tools: []\ncomposability_rules: [{with: b, order: before}]",
        ),
        skill("b", ""),
    ];
    check(
        &silent,
        ComposeOptions::default(),
        &[],
        &["unchecked-order"],
    );
}

#[test]
fn promises_in_prose_are_counted_and_unknown_conditions_refused() {
    let prose = skill(
        "a",
        "preconditions: [It is agreed, {file: x}]\noutput_contract: A list.",
    );
    let found = check(&[prose], ComposeOptions::default(), &[], &[]);
    let fields: Vec<&str> = found.unchecked.iter().map(|one| one.field).collect();
    assert_eq!(fields, ["preconditions", "output_contract"]);
    let unknown = skill("a", "postconditions: [{fiel: x}]");
    check(
        &[unknown],
        ComposeOptions::default(),
        &["unreadable-condition"],
        &[],
    );
}

#[test]
fn a_skill_that_declares_nothing_new_is_redundant() {
    let wide = skill(
        "wide",
        "allowed_tools: [Read, Bash]\nexecution_protocol: [Look, Act]",
    );
    let narrow = skill(
        "narrow",
        "allowed_tools: [read, Bash(git:*)]\nexecution_protocol: [Look]",
    );
    let found = check(
        &[wide.clone(), narrow],
        ComposeOptions::default(),
        &[],
        &["redundant"],
    );
    assert_eq!(found.warnings[0].skills, ["narrow", "wide"]);
    let twin = skill(
        "wider",
        "allowed_tools: [Bash, Read]\nexecution_protocol: [Act, Look]",
    );
    let found = check(
        &[wide.clone(), twin],
        ComposeOptions::default(),
        &[],
        &["redundant"],
    );
    assert!(found.warnings[0].message.starts_with("`wider`"));
    let promises = skill(
        "promises",
        "allowed_tools: [Read]\npostconditions: [It is green]",
    );
    let text = skill("text", "");
    let asks = skill("asks", "allowed-tools: Read");
    check(
        &[wide, promises, text, asks],
        ComposeOptions::default(),
        &[],
        &[],
    );
}

#[test]
fn what_does_not_go_together_is_refused_with_the_reason() {
    let old = skill("old", "version: 1.4.0");
    let check_rule = |rule: &str, errors: &[&str]| {
        let lines = format!("compatibility_rules: [{rule}]");
        check(
            &[skill("new", &lines), old.clone()],
            ComposeOptions::default(),
            errors,
            &[],
        )
    };
    let found = check_rule(
        "{with: old, version: <2, compatible: false, reason: It writes files itself.}",
        &["incompatible"],
    );
    assert_eq!(
        found.errors[0].message,
        "`new` and `old` conflict: It writes files itself"
    );
    check_rule("{with: old, version: <1, compatible: false}", &[]);
    check_rule("{with: old, compatible: false}", &["incompatible"]);
    check_rule("{with: old, compatible: true}", &[]);
    check_rule("{with: old, version: ^1, compatible: true}", &[]);
    check_rule("{with: old, version: ^3}, {with: old, version: ^1}", &[]);
    let found = check_rule("{with: old, version: ^2}", &["incompatible"]);
    assert_eq!(
        found.errors[0].message,
        "`new` and `old` conflict: `new` works only with `old` ^2, but 1.4.0 is in the set"
    );
    // An unknown version counts against the pair.
    check_rule(
        "{with: old, version: oldish, compatible: false}",
        &["incompatible"],
    );
    let both = [
        skill("a", "conflicts_with: [b]"),
        skill("b", "conflicts_with: [a, c]"),
    ];
    check(&both, ComposeOptions::default(), &["incompatible"], &[]);
}

#[test]
fn partners_and_dependencies_belong_to_the_set() {
    let alone = [
        skill(
            "a",
            "composability_rules: [{with: b, required: true}, {with: c}]",
        ),
        skill("d", "dependencies: [e, {name: f, optional: true}]"),
    ];
    let found = check(
        &alone,
        ComposeOptions::default(),
        &["missing-partner", "missing-partner"],
        &[],
    );
    assert_eq!(found.missing, ["b", "e"]);
    assert_eq!(found.errors[0].hint.as_deref(), Some("add `b` to the set"));
}

#[test]
fn a_dependency_has_the_right_version() {
    let base = skill("base", "version: 1.4.0");
    let with = |dependency: &str| {
        [
            skill("top", &format!("dependencies: [{dependency}]")),
            base.clone(),
        ]
    };
    let found = check(
        &with("{name: base, version: ^1}"),
        ComposeOptions::default(),
        &[],
        &[],
    );
    assert_eq!(found.order, ["base", "top"]);
    let found = check(
        &with("{name: base, version: ^2}"),
        ComposeOptions::default(),
        &["dependency-version"],
        &[],
    );
    assert_eq!(
        found.errors[0].message,
        "`top` depends on `base` ^2, but 1.4.0 is in the set"
    );
    check(
        &with("{name: base, version: ^2, optional: true}"),
        ComposeOptions::default(),
        &[],
        &["dependency-version"],
    );
}

#[test]
fn the_order_is_that_of_the_rules_and_then_of_the_names() {
    let skills = [
        skill("a", "composability_rules: [{with: z, order: after}]"),
        skill("m", ""),
        skill("y", "composability_rules: [{with: b, order: before}]"),
        skill("b", ""),
        skill("z", ""),
    ];
    let found = check(&skills, ComposeOptions::default(), &[], &[]);
    assert_eq!(found.order, ["m", "y", "b", "z", "a"]);
    let circle = [
        skill("a", "composability_rules: [{with: b, order: before}]"),
        skill("b", "composability_rules: [{with: c, order: before}]"),
        skill(
            "c",
            "dependencies: [b]\ncomposability_rules: [{with: a, order: before}]",
        ),
        skill("d", ""),
    ];
    let found = check(&circle, ComposeOptions::default(), &["pipeline-order"], &[]);
    assert_eq!(found.errors[0].skills, ["a", "b", "c"]);
    assert_eq!(
        found.errors[0].message,
        "circular order: `a` → `b` → `c` → `a`"
    );
    assert_eq!(found.order, Vec::<String>::new());
}

#[test]
fn all_errors_are_reported_at_once() {
    let skills = [
        skill(
            "a",
            "allowed_tools: [write]\nconflicts_with: [b]\ncomposability_rules: [{with: b, order: before}, {with: x, required: true}]",
        ),
        skill(
            "b",
            "forbidden_tools: [Write]\ndependencies: [{name: c, version: ^9}]\ncomposability_rules: [{with: a, order: before}]",
        ),
        skill("c", ""),
    ];
    let options = ComposeOptions {
        coding: true,
        on_conflict: OnConflict::Reject,
    };
    check(
        &skills,
        options,
        &[
            "tool-conflict",
            "incompatible",
            "missing-partner",
            "pipeline-order",
            "dependency-version",
            "incomplete-coding-pipeline",
        ],
        &["unchecked-order"],
    );
}

const NAMES: [&str; 6] = [
    "a",
    "b",
    "c",
    "d",
    "opencode-implementer",
    "specification-engine",
];

const TOOLS: [&str; 16] = [
    "Read",
    "read",
    "Write",
    "write_file",
    "edit",
    "Bash",
    "Bash(git:*)",
    "Bash(git log:*)",
    "shell(rm *)",
    "Bash(*)",
    "'*'",
    "mcp__x",
    "mcp__x__y",
    "'Bash('",
    "'W*'",
    "specKit",
];

fn some(all: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(all), 0..most).prop_map(|words| words.join(", "))
}

fn a_rule() -> impl Strategy<Value = String> {
    let name = prop::sample::select(&NAMES[..]);
    let rest = prop::sample::select(
        &[
            "",
            ", required: true",
            ", order: before",
            ", order: after",
            ", order: beside",
            ", compatible: false",
            ", version: ^1",
            ", version: ^2, compatible: false",
            ", version: nonsense",
        ][..],
    );
    (name, rest).prop_map(|(name, rest)| format!("{{with: {name}{rest}}}"))
}

fn lines() -> impl Strategy<Value = String> {
    let rules = || prop::collection::vec(a_rule(), 0..3).prop_map(|rules| rules.join(", "));
    let lists = (
        some(&TOOLS, 4),
        some(&TOOLS, 3),
        some(&TOOLS, 2),
        some(&TOOLS, 2),
    );
    let names = (some(&NAMES, 2), some(&NAMES, 2), some(&["Look", "Act"], 3));
    (lists, names, rules(), rules()).prop_map(|(lists, names, composes, fits)| {
        format!(
            "allowed_tools: [{}]\nforbidden_tools: [{}]\nallowed-tools: [{}]\ndisallowed-tools: [{}]\n\
             conflicts_with: [{}]\ndependencies: [{}]\nexecution_protocol: [{}]\n\
             composability_rules: [{composes}]\ncompatibility_rules: [{fits}]",
            lists.0, lists.1, lists.2, lists.3, names.0, names.1, names.2
        )
    })
}

fn manifests() -> impl Strategy<Value = Vec<SkillManifest>> {
    let one = (prop::sample::select(&NAMES[..]), lines());
    prop::collection::vec(one, 1..5).prop_map(|all| {
        let skills = all.iter().map(|(name, lines)| skill(name, lines));
        skills.collect()
    })
}

fn options() -> impl Strategy<Value = ComposeOptions> {
    (any::<bool>(), any::<bool>()).prop_map(|(coding, reject)| ComposeOptions {
        coding,
        on_conflict: if reject {
            OnConflict::Reject
        } else {
            OnConflict::Restrict
        },
    })
}

/// Each in a separate location.
fn members<'a>(skills: &'a [SkillManifest], places: &'a [String]) -> Vec<Member<'a>> {
    let both = skills.iter().zip(places);
    both.map(|(manifest, place)| Member::Known { manifest, place })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_and_no_repetition_changes_anything(
        (skills, sequence) in manifests().prop_flat_map(|skills| {
            let positions: Vec<usize> = (0..skills.len()).collect();
            (Just(skills), Just(positions).prop_shuffle())
        }),
        again in any::<prop::sample::Index>(),
        options in options(),
    ) {
        let places: Vec<String> = (0..skills.len()).map(|place| place.to_string()).collect();
        let set = members(&skills, &places);
        let expected = compose(&set, options);
        prop_assert_eq!(expected.valid, expected.errors.is_empty());
        let shuffled: Vec<Member<'_>> = sequence.iter().map(|place| set[*place]).collect();
        prop_assert_eq!(&compose(&shuffled, options), &expected);
        let mut repeated = shuffled;
        repeated.push(*again.get(&set));
        let mut found = compose(&repeated, options);
        found.warnings.retain(|fault| fault.code != FaultCode::Duplicate);
        prop_assert_eq!(&found, &expected);
    }

    // case 120
    #[test]
    fn adding_a_skill_never_allows_what_was_forbidden(
        skills in manifests(),
        more in lines(),
        options in options(),
    ) {
        let mut all = skills.clone();
        all.push(skill("more", &more));
        let places: Vec<String> = (0..all.len()).map(|place| place.to_string()).collect();
        let before = compose(&members(&skills, &places), options);
        let after = compose(&members(&all, &places), options);
        for rule in &before.tools.forbidden {
            prop_assert_ne!(after.tools.decide(rule.as_str()), Decision::Allow);
            prop_assert!(after.tools.forbidden.iter().any(|other| other.covers(rule)));
        }
        for tool in TOOLS.map(|tool| tool.trim_matches('\'')) {
            let forbids = |rule: &metier_model::ToolPattern| {
                tool.parse().is_ok_and(|tool| rule.overlaps(&tool))
            };
            if before.tools.forbidden.iter().any(forbids) {
                prop_assert_eq!(after.tools.decide(tool), Decision::Deny);
            }
        }
        // A tool that no skill named is never allowed.
        for tool in &after.tools.allowed {
            let named = |skill: &SkillManifest| allows(skill).contains(tool);
            prop_assert!(all.iter().any(named));
        }
    }

    #[test]
    fn any_text_gets_an_answer(entries in prop::collection::vec("\\PC{0,12}", 0..6), tool in "\\PC{0,12}") {
        let mut manifest = skill("a", "");
        let entries: Vec<Box<str>> = entries.into_iter().map(Into::into).collect();
        manifest.tools.only = Some(entries.clone());
        manifest.tools.forbid = entries;
        let found = compose(&[known(&manifest)], ComposeOptions::default());
        prop_assert_ne!(found.tools.decide(&tool), Decision::Allow);
    }
}
