//! The work for the commands that a line could run: limited for any nesting, and in proportion to the line.

use proptest::prelude::*;

use super::could_run::CommandFinder;
use super::parse;

/// Programs that run their words, with words that are known only at run time.
const OUTER: &[&str] = &[
    "find . \"$x\" ",
    "find \"$a\" . \"$b\" -exec ",
    "find . -execdir \"$x\" a ",
    "xargs -I{} ",
    "env A=\"$x\" ",
    "timeout 5 ",
    "nice \"$x\" ",
    "parallel \"$x\" ::: ",
    "git -c alias.x='a b c' -c a=b ",
    "unknown-runner \"$x\" -S'a b' ",
    "sh -c ",
];

/// The line inside these programs, and as one text behind `sh -c`, for as long as quoting it again keeps it short.
fn nested(outer: &[usize]) -> String {
    outer.iter().rev().fold("git push".to_owned(), |line, at| {
        let line = match OUTER[*at] {
            "sh -c " if line.len() < 2000 => format!("'{}'", line.replace('\'', "'\\''")),
            _ => line,
        };
        format!("{}{line}", OUTER[*at])
    })
}

/// The work is counted, not timed: steps are letters and words that were read, and words that were returned.
fn check(text: &str) {
    let line = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let finder = CommandFinder::of(&line);
    let most = 64 * (text.len() + 16);
    assert!(finder.limit <= most, "{} of {most}: {text}", finder.limit);
    assert!(finder.work <= most, "{} of {most}: {text}", finder.work);
    let words: usize = line.could_run().iter().map(|one| one.words.len()).sum();
    assert!(words <= most, "{words} of {most}: {text}");
}

// case 221
#[test]
fn each_program_inside_itself_is_followed_with_limited_work() {
    for at in 0..OUTER.len() {
        for times in [1, 2, 16, 17, 40, 300] {
            check(&nested(&vec![at; times]));
        }
    }
}

proptest! {
    // case 221
    #[test]
    fn any_nesting_is_followed_with_limited_work(
        outer in prop::collection::vec(0..OUTER.len(), 0..120),
        times in 1_usize..4,
    ) {
        check(&vec![nested(&outer); times].join("; "));
    }
}
