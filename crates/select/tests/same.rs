//! Many skills together get the same results as each one alone, and no input makes the crate panic.

use metier_model::{Source, Triggers};
use metier_select::{
    CompiledTriggers, Situation, TriggerCandidate, UsageMode, consider, fold, languages, mentions,
};
use proptest::{collection::vec, prelude::*, sample::select};

fn word() -> impl Strategy<Value = String> {
    let parts = select(vec![
        "a", "b", "go", "GO", " ", "\t", "ß", "SS", "İ", "i", "部", "署", "+", ".", "-", "1", "é",
        "e\u{301}", "/", "$", ":",
    ]);
    vec(parts, 0..5).prop_map(|parts| parts.concat())
}

fn pattern() -> impl Strategy<Value = String> {
    let parts = select(vec![
        "a", "b", ".rs", ".tf", "*", "**", "/", "?", "[ab]", "[", "{a,b}", "{", "}", "!", "..",
        "\\",
    ]);
    vec(parts, 0..5).prop_map(|parts| parts.concat())
}

fn path() -> impl Strategy<Value = String> {
    let name = || vec(select(vec!["a", "b", ".rs", ".tf", ".go", "go.mod"]), 1..3);
    vec(name(), 1..4).prop_map(|names| {
        let names: Vec<String> = names.iter().map(|parts| parts.concat()).collect();
        names.join("/")
    })
}

fn boxed(strategy: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<Box<str>>> {
    vec(strategy.prop_map(String::into_boxed_str), 0..4)
}

#[derive(Clone, Debug)]
struct Skill {
    name: String,
    source: Source,
    triggers: Triggers,
    paths: Vec<Box<str>>,
}

fn skill() -> impl Strategy<Value = Skill> {
    let language = select(vec!["Rust", "golang", "rs", "tf", "", "x"]).prop_map(str::to_owned);
    let mode = select(vec!["wiki", "Headless", "interactive", "?"]).prop_map(str::to_owned);
    let source = select(vec![Source::User, Source::Project]);
    let lists = (
        boxed(pattern()),
        boxed(word()),
        boxed(language),
        boxed(mode),
        boxed(pattern()),
    );
    (select(vec!["a", "b", "go"]), source, lists).prop_map(
        |(name, source, (files, keywords, languages, modes, paths))| Skill {
            name: name.to_owned(),
            source,
            triggers: Triggers {
                files,
                keywords,
                languages,
                modes,
            },
            paths,
        },
    )
}

fn offer(skill: &Skill) -> TriggerCandidate<'_> {
    TriggerCandidate {
        name: &skill.name,
        source: skill.source,
        triggers: &skill.triggers,
        paths: &skill.paths,
    }
}

proptest! {
    #[test]
    fn many_skills_get_the_answers_of_one(
        skills in vec(skill(), 0..8),
        words in vec(word(), 0..8),
        files in vec(path(), 0..8),
        mode in select(UsageMode::ALL.to_vec()),
        explicit in vec(select(vec!["a", "user:b", "project:go", "c"]), 0..2),
    ) {
        let task = words.join(" ");
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let seen = languages::detect(files.iter().copied()).seen();
        let situation = Situation { task: &task, files: &files, languages: &seen, mode, explicit: &explicit };
        let compiled = CompiledTriggers::new(skills.iter().map(offer));
        // The second search uses the automaton.
        for view in [compiled.look(&situation), compiled.look(&situation)] {
            for (position, skill) in skills.iter().enumerate() {
                let alone = consider(&offer(skill), &situation);
                prop_assert_eq!(&view.matches(position), &alone.matches);
                prop_assert_eq!(view.consider(position), alone);
            }
        }
    }

    #[test]
    fn nothing_makes_it_fall_over(
        task in any::<String>(),
        texts in vec(any::<String>(), 0..6),
        files in vec(any::<String>(), 0..4),
    ) {
        let own: Vec<Box<str>> = texts.iter().map(|text| text.as_str().into()).collect();
        let triggers = Triggers { files: own.clone(), keywords: own.clone(), languages: own.clone(), modes: own.clone() };
        let skill = Skill { name: task.clone(), source: Source::User, triggers, paths: own };
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let seen = languages::detect(files.iter().copied()).seen();
        let situation = Situation { task: &task, files: &files, languages: &seen, mode: UsageMode::Wiki, explicit: &[] };
        let compiled = CompiledTriggers::new([offer(&skill)]);
        prop_assert_eq!(compiled.look(&situation).consider(0), consider(&offer(&skill), &situation));
        prop_assert!(mentions(&task).iter().all(|mention| task.contains(mention.text)));
    }

    #[test]
    fn a_keyword_is_found_in_its_own_words(words in vec(word(), 0..4), before in "[ ,.!]{0,3}", after in "[ ,.!]{0,3}") {
        let keyword = words.join(" ");
        let triggers = Triggers { keywords: vec![keyword.as_str().into()], ..Triggers::default() };
        let skill = Skill { name: "none".to_owned(), source: Source::User, triggers, paths: Vec::new() };
        // A mark at the very start would join the text before it, and spaces at the ends are ignored.
        prop_assume!(!fold(&keyword).is_empty() && !fold(&keyword).starts_with('\u{301}'));
        let task = format!("{before} {} {after}", keyword.to_uppercase());
        let situation = Situation { task: &task, files: &[], languages: &[], mode: UsageMode::Wiki, explicit: &[] };
        prop_assert_eq!(consider(&offer(&skill), &situation).matches.len(), 1);
    }

    #[test]
    fn folding_twice_is_folding_once(text in any::<String>()) {
        let once = fold(&text);
        prop_assert_eq!(fold(&once), once);
    }
}
