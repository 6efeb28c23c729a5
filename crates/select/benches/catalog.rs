//! How long a catalog against a project takes: `cargo bench -p metier-select --bench catalog -- [SKILLS] [FILES]`.
//!
//! `shared` is a typical catalog: most skills have the same few patterns. In `distinct` no two skills share a pattern
//! or a keyword, which is the worst case.
#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::time::Instant;

use metier_model::{Source, Triggers};
use metier_select::{CompiledTriggers, Situation, TriggerCandidate, UsageMode, languages, score};

const ENDINGS: &[&str] = &[
    "tf", "rs", "go", "py", "ts", "yml", "sql", "proto", "md", "sh",
];

fn main() {
    // Cargo adds `--bench`.
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let skills = numbers.next().unwrap_or(10_000);
    let files = numbers.next().unwrap_or(5_000);
    let files: Vec<String> = (0..files)
        .map(|n| {
            let ending = ENDINGS[n % ENDINGS.len()];
            format!("services/team{}/src/part{n}.{ending}", n % 97)
        })
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    measure("shared", skills, &files, |n| {
        let ending = ENDINGS[n % ENDINGS.len()];
        Triggers {
            files: vec![
                format!("*.{ending}").into(),
                format!("services/**/*.{ending}").into(),
                "**/Dockerfile".into(),
            ],
            keywords: vec![
                ending.into(),
                format!("topic {}", n % 500).into(),
                "deploy".into(),
            ],
            languages: vec![ending.into()],
            modes: Vec::new(),
        }
    });
    measure("distinct", skills, &files, |n| Triggers {
        files: vec![
            format!("*.x{n}").into(),
            format!("folder{n}/**/*.rs").into(),
            format!("config{n}.toml").into(),
            format!("{{a,b}}{n}/*").into(),
        ],
        keywords: vec![
            format!("word{n}").into(),
            format!("phrase number {n}").into(),
            format!("topic-{n}").into(),
        ],
        languages: vec!["go".into()],
        modes: Vec::new(),
    });
}

fn measure(what: &str, skills: usize, files: &[&str], triggers: impl Fn(usize) -> Triggers) {
    let own: Vec<(String, Triggers)> = (0..skills)
        .map(|n| (format!("skill-{n}"), triggers(n)))
        .collect();
    let offers = own.iter().map(|(name, triggers)| TriggerCandidate {
        name,
        source: Source::User,
        triggers,
        paths: &[],
    });
    let start = Instant::now();
    let compiled = CompiledTriggers::new(offers);
    let built = start.elapsed();
    let start = Instant::now();
    let seen = languages::detect(files.iter().copied()).seen();
    let detected = start.elapsed();
    let situation = Situation {
        task: "Please deploy topic 42 and word77: the phrase number 1234, with terraform, and say why",
        files,
        languages: &seen,
        mode: UsageMode::Interactive,
        explicit: &[],
    };
    let start = Instant::now();
    let view = compiled.look(&situation);
    let first = start.elapsed();
    let _makes_the_automaton = compiled.look(&situation);
    let start = Instant::now();
    let again = compiled.look(&situation);
    let later = start.elapsed();
    let start = Instant::now();
    let picked = (0..compiled.len())
        .filter(|skill| score(&view.matches(*skill)) > 0.0)
        .count();
    let told = start.elapsed();
    let same = (0..compiled.len()).all(|skill| view.matches(skill) == again.matches(skill));
    assert!(same, "who asks again gets the same answer");
    println!(
        "{what}: {skills} skills × {} files: compile {built:.1?}, languages {detected:.1?}, look {first:.1?}, \
         again {later:.1?}, explain {told:.1?}; {picked} match",
        files.len()
    );
}
