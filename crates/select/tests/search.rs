//! The search: its results, its limits for authors, and its independence of bytes and the order of changes.

#![allow(clippy::unwrap_used, reason = "these are tests")]

use metier_select::search::{
    DamagedIndex, MatchPlace, SearchHits, SearchTuning, SearchableSkill, Segment, SegmentBuilder,
    SkillIndex, SkillKey, merge,
};
use proptest::{collection::vec, prelude::*, sample::select};

type Skill = (String, String, String);

fn skill(name: &str, description: &str, body: &str) -> Skill {
    (name.to_owned(), description.to_owned(), body.to_owned())
}

/// A key that depends on the content, as a digest does.
fn key(skill: &Skill) -> SkillKey {
    let text = format!("{}\0{}\0{}", skill.0, skill.1, skill.2);
    let mut key = SkillKey::default();
    for (position, byte) in text.bytes().enumerate() {
        let at = position % 16;
        key[at] = key[at].wrapping_mul(31).wrapping_add(byte) ^ key[(at + 7) % 16].rotate_left(3);
    }
    key
}

fn bytes<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Vec<u8> {
    let mut builder = SegmentBuilder::default();
    for one in skills {
        let (name, description, body) = one;
        builder.add(&SearchableSkill {
            key: key(one),
            name,
            description,
            body,
            marks: 0,
        });
    }
    builder.finish()
}

fn segment<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> Segment<Vec<u8>> {
    Segment::open(bytes(skills)).unwrap()
}

fn index(skills: &[Skill]) -> SkillIndex<Vec<u8>> {
    SkillIndex::new(vec![segment(skills)], |_| true)
}

fn names(skills: &[Skill], found: &SearchHits) -> Vec<String> {
    let name = |wanted: &SkillKey| {
        let mut skills = skills.iter();
        skills.find(|one| key(one) == *wanted).unwrap().0.clone()
    };
    found.hits.iter().map(|hit| name(&hit.key)).collect()
}

fn find(skills: &[Skill], task: &str) -> Vec<String> {
    names(skills, &index(skills).search(task, 10).unwrap())
}

/// A catalog in which every skill has its own subject and the same filler text.
fn catalog() -> Vec<Skill> {
    let subjects = [
        (
            "pdf-tools",
            "Merges and splits PDF files",
            "Merge PDF files with qpdf. Fill in a form.",
        ),
        (
            "kubernetes-deploy",
            "Deploys services to a cluster",
            "Apply manifests with kubectl; roll back a rollout.",
        ),
        (
            "terraform-plan",
            "Plans infrastructure",
            "Run terraform plan for buckets and networks.",
        ),
        (
            "weather",
            "Forecasts for a city",
            "Ask for the forecast of tomorrow.",
        ),
        (
            "useEffect-review",
            "Finds mistakes in React hooks",
            "An effect with a missing dependency runs too often.",
        ),
        ("部署助手", "部署 Docker 镜像", "把镜像部署到服务器。"),
        (
            "release-notes",
            "Writes notes for a release",
            "Collect merged changes since the last tag.",
        ),
        (
            "sql-tuning",
            "Makes queries fast",
            "Read the plan of a slow query and add an index.",
        ),
    ];
    let mut skills: Vec<Skill> = subjects.iter().map(|(a, b, c)| skill(a, b, c)).collect();
    skills.extend((0..200).map(|number| {
        skill(
            &format!("filling-{number}"),
            &format!("Handles topic{number} in files of the project"),
            &format!("Open the file, change subject{number} and save it. Tests follow."),
        )
    }));
    skills
}

#[test]
fn the_right_skill_is_first() {
    let skills = catalog();
    for (task, expected) in [
        ("merge these two PDFs", "pdf-tools"),
        ("deploy my service to the cluster", "kubernetes-deploy"),
        ("how is the weather tomorrow?", "weather"),
        ("my effect runs too often", "useEffect-review"),
        ("UseEffect", "useEffect-review"),
        ("why is this query slow", "sql-tuning"),
        ("帮我部署镜像", "部署助手"),
    ] {
        assert_eq!(
            find(&skills, task).first().map(String::as_str),
            Some(expected),
            "{task}"
        );
    }
}

#[test]
fn a_misspelt_name_is_found_and_nothing_else_changes() {
    let skills = catalog();
    let found = index(&skills).search("kuberntes rollout", 10).unwrap();
    assert_eq!(names(&skills, &found)[0], "kubernetes-deploy");
    let shares = &found.hits[0].shares;
    assert!(
        shares
            .iter()
            .any(|share| share.place == MatchPlace::SimilarName),
        "{shares:?}"
    );
    // A known word is never replaced by a similar one.
    let exact = index(&skills).search("terraform", 10).unwrap();
    assert!(exact.hits.iter().all(|hit| {
        hit.shares
            .iter()
            .all(|share| share.place != MatchPlace::SimilarName)
    }));
    assert_eq!(find(&skills, "wether"), ["weather"]);
    assert_eq!(find(&skills, "xether"), [""; 0]);
}

#[test]
fn every_point_has_a_reason() {
    let skills = catalog();
    for task in [
        "merge PDF files of the project",
        "deploy kuberntes",
        "部署 Docker",
    ] {
        for hit in index(&skills).search(task, 10).unwrap().hits {
            let sum: f32 = hit.shares.iter().map(|share| share.points).sum();
            assert!(
                (sum - hit.points).abs() < 0.001 * hit.points,
                "{sum} {hit:?}"
            );
            assert!((0.0..=1.0).contains(&hit.fit), "{hit:?}");
            assert!((0.0..=1.0).contains(&hit.covered), "{hit:?}");
        }
    }
}

/// The set of a body's neighbours is sometimes wrong. A pair of words that the body does not contain is never a reason.
#[test]
fn neighbours_are_words_of_the_body() {
    let skills = catalog();
    let mut words: Vec<&str> = skills
        .iter()
        .flat_map(|(_, _, body)| body.split(' '))
        .filter(|word| word.len() > 5)
        .collect();
    words.sort_unstable();
    words.dedup();
    let mut pairs = 0;
    for chunk in words.chunks(20) {
        let task = format!("{} Open the file, change and save it", chunk.join(" "));
        for hit in index(&skills).search(&task, 100).unwrap().hits {
            let has = |word: &str| {
                let mut body = hit
                    .shares
                    .iter()
                    .filter(|one| one.place == MatchPlace::Body);
                body.any(|share| share.words == word)
            };
            for pair in hit
                .shares
                .iter()
                .filter(|one| one.place == MatchPlace::Pair)
            {
                assert!(pair.words.split(' ').all(has), "{hit:?}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 100, "{pairs}");
}

/// A number is a detail of a task. With a name it is a subject.
#[test]
fn a_number_alone_does_not_win() {
    let mut skills = catalog();
    skills.push(skill(
        "currency",
        "Exchange rates",
        "Convert euros to dollars and back.",
    ));
    skills.push(skill(
        "top-50",
        "Lists of 50 things",
        "Write a list of 50 things to convert.",
    ));
    skills.push(skill(
        "office-365",
        "Microsoft 365 accounts",
        "Manage Microsoft 365.",
    ));
    assert_eq!(find(&skills, "convert 50 euros")[0], "currency");
    assert_eq!(
        find(&skills, "new account in Microsoft 365")[0],
        "office-365"
    );
    assert_eq!(find(&skills, "365")[0], "office-365");
}

#[test]
fn words_of_every_request_find_nothing_by_themselves() {
    let mut skills = catalog();
    skills.push(skill(
        "helper",
        "Helps to make things",
        "Make what the user is about to need.",
    ));
    assert_eq!(find(&skills, "make a poster about penguins"), [""; 0]);
    assert_eq!(find(&skills, "make 50")[0], "helper");
}

/// The best possible text for an author who knows the task word by word.
#[test]
fn stuffing_words_is_bounded() {
    let task = "merge PDF files and fill in the form";
    let mut skills = catalog();
    let honest = index(&skills).search(task, 1).unwrap().hits[0].points;
    let words = "merge pdf files fill form ";
    let stuffed = [
        skill("stuffed-body", "Does things", &words.repeat(5_000)),
        skill("stuffed-head", &words.repeat(40), "Does things."),
        skill("stuffed-letters", "Does things", &"pdf ".repeat(50_000)),
    ];
    skills.extend(stuffed);
    let found = index(&skills).search(task, 10).unwrap();
    let order = names(&skills, &found);
    assert_eq!(order[0], "pdf-tools", "{order:?}");
    // A whole copy of the task in both fields gets the maximum: less than two and a half times an honest skill.
    let exact = skill("merge-pdf-files-and-fill-in-the-form", task, task);
    skills.push(exact);
    let best = index(&skills).search(task, 1).unwrap().hits[0].points;
    assert!(best < 2.5 * honest, "{best} {honest}");
    // Further repetition adds nothing.
    let more = skill(
        "merge-pdf-files-and-fill-in-the-form-2",
        &task.repeat(20),
        &task.repeat(2_000),
    );
    skills.push(more);
    assert_eq!(
        find(&skills, task)[0],
        "merge-pdf-files-and-fill-in-the-form"
    );
}

/// An author who lists every verb as a keyword of triggers gets little for each of them.
#[test]
fn a_keyword_is_worth_what_its_words_are_worth() {
    let task = "please write a terraform plan for the release";
    let part = |skills: &[Skill], keyword: &str| {
        let found = index(skills).search(task, 1).unwrap();
        found.words.part_of(keyword)
    };
    let number = |number: usize| format!("helper-{number}");
    let mut skills = catalog();
    skills.truncate(5);
    assert_eq!(part(&skills, "write"), 1.0, "a small catalog says nothing");
    skills.extend((0..200).map(|at| skill(&number(at), "Helps to write a release", "Helps.")));
    skills.push(skill("terraform", "Plans terraform", "Plans."));
    assert_eq!(part(&skills, "terraform"), 1.0);
    assert_eq!(part(&skills, "Terraform Plan"), 1.0);
    for common in ["write", "release", "write release"] {
        assert!(part(&skills, common) < 0.1, "{common}");
    }
    for empty in ["the", "a", "", "not in the task's words"] {
        assert_eq!(part(&skills, empty), 0.0, "{empty}");
    }
}

/// A skill can put itself above another one. It can't change the order of the others.
#[test]
fn pushing_another_skill_down_is_bounded() {
    let task = "plan the terraform buckets and networks of the project";
    let mut skills = catalog();
    let before = find(&skills, task);
    let place = |order: &[String]| {
        order
            .iter()
            .position(|name| name == "terraform-plan")
            .unwrap()
    };
    assert_eq!(place(&before), 0);
    // Its rare words become less rare with every skill that repeats them.
    let words = "terraform plan buckets networks infrastructure ";
    for number in 0..5 {
        skills.push(skill(
            &format!("noise-{number}"),
            "Does things",
            &words.repeat(1 + number),
        ));
    }
    let after = find(&skills, task);
    let others = |order: &[String]| -> Vec<String> {
        let own = order.iter().filter(|name| !name.starts_with("noise"));
        own.take(3).cloned().collect()
    };
    assert_eq!(place(&after), 0, "{after:?}");
    assert_eq!(others(&after)[0], others(&before)[0]);
    // A long text that contains every word of the catalog loses to each skill on its own subject.
    let everything: String = skills
        .iter()
        .map(|(a, b, c)| format!("{a} {b} {c} "))
        .collect();
    skills.push(skill("everything", "Does everything", &everything));
    for (task, expected) in [
        ("merge these two PDFs", "pdf-tools"),
        (task, "terraform-plan"),
    ] {
        assert_eq!(find(&skills, task)[0], expected);
    }
}

/// A skill that is not ready counts for the rarity of words, so the points of the others are the same on every machine.
#[test]
fn a_hidden_skill_changes_no_points() {
    let skills = catalog();
    let task = "merge PDF files of the project";
    let whole = index(&skills).search(task, 300).unwrap();
    let first = whole.hits[0].key;
    let hiding = index(&skills).hiding(|key| *key == first);
    let found = hiding.search(task, 300).unwrap();
    assert_eq!(found.hits, whole.hits[1..]);
    assert_eq!(hiding.search_all(task, 300).unwrap().hits, whole.hits);
}

#[test]
fn a_skill_with_little_of_the_task_is_known_as_such() {
    let skills = catalog();
    let covered = |task: &str| index(&skills).search(task, 1).unwrap().hits[0].covered;
    assert!(covered("merge PDF files") > 0.9);
    assert!(covered("compose a symphony for strings about the weather in Lisbon") < 0.34);
}

#[test]
fn odd_tasks_are_harmless() {
    let skills = catalog();
    let index = index(&skills);
    let long = "merge pdf ".repeat(100_000);
    let distinct: String = (0..50_000).map(|number| format!("w{number} ")).collect();
    let tasks = [
        "",
        " \n\t",
        "🙂🙂🙂",
        "the of and",
        "'; DROP TABLE skills; --",
        ".*(a+)+$[[:alpha:]]{9}",
        "\u{0}\u{1}",
        "ﬁle ǅ ß İ \u{301}",
        "merge PDFを部署 мердж",
        &long,
        &distinct,
    ];
    for task in tasks {
        let found = index.search(task, 10).unwrap();
        assert!(found.hits.len() <= 10);
        assert_eq!(found, index.search(task, 10).unwrap());
    }
    assert!(index.search("", 10).unwrap().hits.is_empty());
    assert!(index.search("the of and", 10).unwrap().hits.is_empty());
    let cut = index.search(&distinct, 10).unwrap();
    assert!(cut.ignored_words > 40_000, "{}", cut.ignored_words);
    assert_eq!(
        index.search("merge PDFを部署 мердж", 1).unwrap().hits.len(),
        1
    );
}

#[test]
fn odd_skills_are_harmless() {
    let mut skills = catalog();
    skills.push(skill("one-word", "Repeats", &"pdf ".repeat(50_000)));
    skills.push(skill(
        "headings",
        "Headings",
        &"## Merge PDF files\n".repeat(10_000),
    ));
    skills.push(skill("stop-words", &"the of and to in ".repeat(60), ""));
    skills.push(skill("", "", ""));
    skills.push(skill("🙂", "🙂", "🙂"));
    skills.push(skill("word", &"x".repeat(100_000), &"y".repeat(1 << 20)));
    let order = find(&skills, "merge these two PDF files");
    assert!(order[..2].contains(&"pdf-tools".to_owned()), "{order:?}");
    assert_eq!(find(&[], "anything"), [""; 0]);
}

#[test]
fn damaged_bytes_are_noticed_or_harmless() {
    let good = bytes(&catalog());
    for length in (0..good.len()).step_by(97) {
        assert!(Segment::open(good[..length].to_vec()).is_none());
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(Segment::open(longer).is_none());
    assert!(Segment::open(b"METIERT\x03".repeat(20)).is_none());
    for position in (0..good.len()).step_by(11) {
        let mut bad = good.clone();
        bad[position] ^= 0x55;
        let Some(segment) = Segment::open(bad) else {
            continue;
        };
        let index = SkillIndex::new(vec![segment], |_| true);
        // Any result is fine if there is no panic; a checksum detects the damage.
        let _: Result<SearchHits, DamagedIndex> = index.search("merge PDF files kuberntes", 5);
    }
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let word = select(vec![
        "pdf",
        "merge",
        "merging",
        "deploy",
        "cluster",
        "the",
        "useEffect",
        "部署",
        "plan",
        "form",
        "please",
        "x1",
        "kubernetes",
    ]);
    vec(word, count).prop_map(|words| words.join(" "))
}

fn some_skill() -> impl Strategy<Value = Skill> {
    (words(1..3), words(0..8), words(0..30))
        .prop_map(|(name, description, body)| (name.replace(' ', "-"), description, body))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Old skills stay in the first segment, changed ones are in the second: the results are those of one new segment.
    #[test]
    fn an_updated_index_equals_a_new_one(
        kept in vec(some_skill(), 0..12), gone in vec(some_skill(), 0..6), new in vec(some_skill(), 0..6), task in words(0..6),
    ) {
        let now: Vec<&Skill> = kept.iter().chain(&new).collect();
        let lives = |wanted: &SkillKey| now.iter().any(|one| key(one) == *wanted);
        let fresh = SkillIndex::new(vec![segment(now.iter().copied())], |_| true);
        let updated = SkillIndex::new(vec![segment(kept.iter().chain(&gone)), segment(&new)], lives);
        prop_assert_eq!(updated.search(&task, 20), fresh.search(&task, 20));
        prop_assert_eq!(updated.len(), fresh.len());
    }

    #[test]
    fn merged_segments_equal_a_new_one(
        kept in vec(some_skill(), 0..12), gone in vec(some_skill(), 0..6), new in vec(some_skill(), 0..6), task in words(0..6),
    ) {
        let now: Vec<&Skill> = kept.iter().chain(&new).collect();
        let lives = |wanted: &SkillKey| now.iter().any(|one| key(one) == *wanted);
        let (old, new) = (segment(kept.iter().chain(&gone)), segment(&new));
        let living = |segment: &Segment<Vec<u8>>| -> Vec<bool> { segment.keys().iter().map(lives).collect() };
        let mut merged = Vec::new();
        merge(&[(&old, &living(&old)), (&new, &living(&new))], &mut |bytes| {
            merged.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        if gone.is_empty() {
            prop_assert_eq!(&merged, &bytes(now.iter().copied()));
        }
        let fresh = segment(now.iter().copied());
        let merged = SkillIndex::new(vec![Segment::open(merged).unwrap()], |_| true);
        let fresh = SkillIndex::new(vec![fresh], |_| true);
        prop_assert_eq!(merged.search(&task, 20), fresh.search(&task, 20));
    }

    #[test]
    fn the_order_of_skills_does_not_matter(skills in vec(some_skill(), 0..12)) {
        prop_assert_eq!(bytes(&skills), bytes(skills.iter().rev()));
    }

    #[test]
    fn no_task_panics(task in any::<String>(), name in any::<String>(), body in any::<String>()) {
        let skills = [skill(&name, &body, &body), skill("pdf", "x", "y")];
        let index = SkillIndex::tuned(vec![segment(&skills)], |_| true, SearchTuning::CHOSEN);
        prop_assert!(index.search(&task, 3).is_ok());
    }
}
