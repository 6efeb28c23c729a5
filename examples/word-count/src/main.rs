//! The skill as a program.

use std::process::ExitCode;

use metier_sdk::guest::Skill;
use word_count::WordCount;

fn main() -> ExitCode {
    Skill::of(WordCount).serve()
}
