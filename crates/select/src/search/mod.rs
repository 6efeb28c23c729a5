//! Finds skills by the words of a task, in names, descriptions and bodies.
//!
//! **Problem.** Nearly no skill declares triggers, and sixty thousand descriptions don't fit into a prompt.
//!
//! **Goals.** The right skill is among the first ten, the reasons are words of the task, and only the bytes of the
//! skills and the task matter: no clock, no machine, no order of changes.
//!
//! **Worked example.** The task "merge these PDFs". `merg` and `pdf` are compared with every skill: `pdf-tools` contains both in its
//! description and often in its body, where the two words are adjacent. [`SearchHit::shares`] lists that.
//!
//! **In → out.** [`SearchableSkill`]s → [`SegmentBuilder`] → bytes → [`Segment`] → [`SkillIndex`] + task → [`SearchHits`].

mod bits;
mod building;
mod merging;
mod quality;
mod query;
mod segment;
mod task_words;
mod tokens;
mod tuning;
mod typos;

pub use building::SegmentBuilder;
pub use merging::merge;
pub use quality::RankingQuality;
pub use query::{DamagedIndex, MatchPlace, SearchHit, SearchHits, SearchShare, SkillIndex};
pub use segment::{SearchableSkill, Segment, SegmentBytes, SkillKey};
pub use task_words::{TaskWord, TaskWords};
pub use tuning::SearchTuning;
