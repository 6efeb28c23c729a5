//! Whether tasks are told apart: on the half that the detector was tuned on, and on the half that it was not.

use metier_select::rules::{Named, coding};

const SEEN: &str = include_str!("tasks/seen.tsv");
const HELD_OUT: &str = include_str!("tasks/held-out.tsv");

#[derive(Default, Debug)]
struct Counts {
    hits: usize,
    false_alarms: usize,
    misses: usize,
}

impl Counts {
    fn of(tasks: &str, show: bool) -> Self {
        let mut counts = Self::default();
        for (is, task) in rows(tasks) {
            let found = coding(task, Named::default());
            match (is, found.is) {
                (true, true) => counts.hits += 1,
                (false, true) => counts.false_alarms += 1,
                (true, false) => counts.misses += 1,
                (false, false) => {}
            }
            if show && is != found.is {
                eprintln!("{is} {task}");
                for e in &found.evidence {
                    eprintln!("      {:?} {} {}", e.sign, e.weight, e.detail);
                }
            }
        }
        counts
    }

    fn precision(&self) -> f64 {
        self.hits as f64 / (self.hits + self.false_alarms) as f64
    }
    fn recall(&self) -> f64 {
        self.hits as f64 / (self.hits + self.misses) as f64
    }
}

fn rows(tasks: &str) -> impl Iterator<Item = (bool, &str)> {
    tasks.lines().map(|line| {
        let (label, rest) = line.split_once('\t').expect("a label");
        let (_, task) = rest.split_once('\t').expect("a language");
        (label == "coding", task)
    })
}

#[test]
fn seen() {
    let counts = Counts::of(SEEN, true);
    panic!("{counts:?} {} {}", counts.precision(), counts.recall());
}
