//! How often the search finds the right skill, and the contribution of each part: `quality SETS [--fresh] [FILTER]`.
//!
//! SETS is a folder of sets; `cargo xtask quality` makes it and calls this. Half of each set was used to choose constants ("dev"), the
//! other half was not ("held"): queries are divided by the repository that they come from. With `--fresh`, sets of other repositories are measured too; they are for
//! the end of a change, not for choosing.

use std::{collections::HashMap, error::Error, fs, path::Path, time::Instant};

use metier_model::{FileText, Files, Strictness, parse_card};
use metier_select::search::{
    SearchTuning, SearchableSkill, Segment, SegmentBuilder, SkillIndex, SkillKey,
};

struct LabelledSet {
    name: String,
    names: HashMap<SkillKey, String>,
    bytes: Vec<u8>,
    queries: Vec<LabelledQuery>,
}

struct LabelledQuery {
    text: String,
    right: Vec<String>,
    is_held: bool,
}

/// Sums over queries.
#[derive(Clone, Copy, Default)]
struct Quality {
    queries: f64,
    first: f64,
    reciprocal: f64,
    gain: f64,
    found: f64,
}

impl Quality {
    fn add(&mut self, rank: Option<usize>) {
        self.queries += 1.0;
        if let Some(rank) = rank {
            let rank = rank as f64 + 1.0;
            self.first += f64::from(u8::from(rank < 2.0));
            self.reciprocal += 1.0 / rank;
            self.gain += 1.0 / (rank + 1.0).log2();
            self.found += 1.0;
        }
    }

    fn percent(&self, sum: f64) -> f64 {
        100.0 * sum / self.queries.max(1.0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name the folder of the sets")?;
    let mut filter = arguments.next().unwrap_or_default();
    let mut names = vec!["quoted", "metatool", "long"];
    if filter == "--fresh" {
        names.extend(["fresh-quoted", "fresh-long"]);
        filter = arguments.next().unwrap_or_default();
    }
    let mut sets = Vec::new();
    for name in names {
        sets.push(LabelledSet::read(Path::new(&folder), name)?);
    }
    let heads = sets.iter().map(|set| match set.is_fresh() {
        true => set.name.clone(),
        false => format!("{} dev | held", set.name),
    });
    let heads = heads.collect::<Vec<_>>().join(" | ");
    println!("| | {heads} |");
    println!("|---|{}", "---|".repeat(heads.matches('|').count() + 1));
    let mut details = Vec::new();
    for (label, tuning) in rows()
        .into_iter()
        .filter(|(label, _)| label.contains(&filter))
    {
        let mut line = format!("| {label} |");
        for set in &sets {
            let (dev, held, micros) = set.measure(tuning)?;
            let halves = [("dev", dev), ("held", held)];
            for (part, quality) in halves.into_iter().skip(usize::from(set.is_fresh())) {
                line.push_str(&format!(" {:.1} |", quality.percent(quality.gain)));
                details.push(format!(
                    "{label}, {} {part}: {} queries, hit@1 {:.1}, MRR@10 {:.1}, nDCG@10 {:.1}, recall@10 {:.1}, {micros:.0} µs a query",
                    set.name, quality.queries, quality.percent(quality.first), quality.percent(quality.reciprocal), quality.percent(quality.gain), quality.percent(quality.found)
                ));
            }
        }
        println!("{line}");
    }
    details.iter().for_each(|line| eprintln!("{line}"));
    Ok(())
}

/// The parts that are omitted or changed in a row.
type Ablation = (&'static str, fn(&mut SearchTuning));

const ABLATIONS: &[Ablation] = &[
    ("chosen", |_| {}),
    ("without neighbours", |tuning| tuning.pairs = 0.0),
    ("without whole names", |tuning| tuning.whole_name = 0.0),
    ("without misspelt names", |tuning| tuning.misspelt = 0.0),
    ("filler words count fully", |tuning| tuning.filler = 1.0),
    ("numbers count fully", |tuning| tuning.number = 1.0),
    ("the body counts 1", |tuning| tuning.body = 1.0),
    ("the body counts 3", |tuning| tuning.body = 3.0),
    ("repeated words count up to three times", |tuning| {
        tuning.repeated = 3.0;
    }),
];

/// The rows of the table: a name, and the constants.
fn rows() -> Vec<(String, SearchTuning)> {
    let head = SearchTuning {
        body: 0.0,
        ..SearchTuning::TWO_FIELDS
    };
    let mut rows = vec![
        ("name and description only".to_owned(), head),
        ("BM25 in two fields".to_owned(), SearchTuning::TWO_FIELDS),
    ];
    for (label, change) in ABLATIONS {
        let mut tuning = SearchTuning::CHOSEN;
        change(&mut tuning);
        rows.push(((*label).to_owned(), tuning));
    }
    // Further rows, as FIELD=NUMBER,…
    let extra = std::env::var("METIER_QUALITY").unwrap_or_default();
    for row in extra.split(';').filter(|row| !row.is_empty()) {
        let mut tuning = SearchTuning::CHOSEN;
        for setting in row.split(',') {
            if set(&mut tuning, setting).is_none() {
                eprintln!("not FIELD=NUMBER: {setting}");
            }
        }
        rows.push((row.to_owned(), tuning));
    }
    rows
}

fn set(tuning: &mut SearchTuning, setting: &str) -> Option<()> {
    let (field, number) = setting.split_once('=')?;
    let number: f32 = number.parse().ok()?;
    let field = match field {
        "head_k1" => &mut tuning.head_k1,
        "head_b" => &mut tuning.head_b,
        "body_k1" => &mut tuning.body_k1,
        "body_b" => &mut tuning.body_b,
        "body" => &mut tuning.body,
        "pairs" => &mut tuning.pairs,
        "whole_name" => &mut tuning.whole_name,
        "misspelt" => &mut tuning.misspelt,
        "filler" => &mut tuning.filler,
        "number" => &mut tuning.number,
        "repeated" => &mut tuning.repeated,
        "compared" => {
            tuning.compared = number as usize;
            return Some(());
        }
        _ => return None,
    };
    *field = number;
    Some(())
}

impl LabelledSet {
    /// Whether all of its repositories are held back.
    fn is_fresh(&self) -> bool {
        self.name.starts_with("fresh")
    }

    fn read(folder: &Path, name: &str) -> Result<Self, Box<dyn Error>> {
        let folder = folder.join(name);
        let mut builder = SegmentBuilder::default();
        let mut names = HashMap::new();
        let started = Instant::now();
        let (mut bytes_read, mut number) = (0, 0_u64);
        for entry in fs::read_dir(folder.join("skills"))? {
            let path = entry?.path();
            let data = fs::read(path.join("SKILL.md"))?;
            bytes_read += data.len();
            let skill = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let text = String::from_utf8_lossy(&data);
            let file = FileText {
                name: "SKILL.md",
                text: &text,
            };
            let files = Files {
                folder: Some(&skill),
                skill_md: Some(file),
                ..Files::default()
            };
            let (card, _) = parse_card(&files, Strictness::Lenient);
            let body = metier_model::body(&text);
            let (title, description) = card.as_ref().map_or((skill.as_str(), ""), |card| {
                (card.name.as_str(), &*card.description)
            });
            number += 1;
            let mut key = SkillKey::default();
            key[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            builder.add(&SearchableSkill {
                key,
                name: title,
                description,
                body,
                marks: 0,
            });
            names.insert(key, skill);
        }
        let bytes = builder.finish();
        eprintln!(
            "{name}: {} skills, {} KB of text, index {} KB, {:.0} ms",
            names.len(),
            bytes_read / 1024,
            bytes.len() / 1024,
            started.elapsed().as_secs_f64() * 1000.0
        );
        let queries = fs::read_to_string(folder.join("queries.tsv"))?;
        let is_fresh = name.starts_with("fresh");
        let queries = queries.lines().filter_map(|line| {
            let mut parts = line.split('\t');
            let (text, right, origin) = (parts.next()?, parts.next()?, parts.next()?);
            // Neighbouring repositories land in different halves.
            let hash = origin.bytes().fold(7_u32, |hash, byte| {
                hash.wrapping_mul(31).wrapping_add(u32::from(byte))
            });
            Some(LabelledQuery {
                text: text.to_owned(),
                right: right.split(',').map(str::to_owned).collect(),
                is_held: is_fresh || (hash >> 3) % 2 == 1,
            })
        });
        Ok(Self {
            name: name.to_owned(),
            names,
            bytes,
            queries: queries.collect(),
        })
    }

    fn measure(&self, tuning: SearchTuning) -> Result<(Quality, Quality, f64), Box<dyn Error>> {
        let segment = Segment::open(self.bytes.clone()).ok_or("the segment can't be opened")?;
        let index = SkillIndex::tuned(vec![segment], |_| true, tuning);
        let mut halves = [Quality::default(); 2];
        let started = Instant::now();
        for query in &self.queries {
            let found = index.search(&query.text, 10)?;
            let rank = found.hits.iter().position(|hit| {
                let name = self.names.get(&hit.key);
                name.is_some_and(|name| query.right.contains(name))
            });
            halves[usize::from(query.is_held)].add(rank);
        }
        let micros = started.elapsed().as_secs_f64() * 1e6 / self.queries.len().max(1) as f64;
        let [dev, held] = halves;
        Ok((dev, held, micros))
    }
}
