//! The cost of a search index over skills: `speed ENGINE SKILLS NUMBER FOLDER`.
//!
//! ENGINE is `metier` or, with the feature, `tantivy`; SKILLS a folder of skills, of which NUMBER are taken; FOLDER is for the index. Prints a name
//! and a number per line: times in milliseconds, sizes in bytes. `cargo xtask bench select` runs it, one process for each row.
//!
//! Queries come from the skills themselves, so nothing else is needed: the first eight words of descriptions ("short") and forty words of bodies ("long").

mod metier;
#[cfg(feature = "tantivy")]
mod tantivy;

use std::{
    error::Error,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use metier_model::{FileText, Files, Strictness, parse_card};

/// How many queries of each kind are timed.
const QUERIES: usize = 250;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The text of a skill, as every engine gets it.
struct SkillText {
    name: String,
    description: String,
    file: String,
}

impl SkillText {
    fn read(path: &Path) -> Result<Self> {
        let file = String::from_utf8(fs::read(path)?)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let folder = path.parent().and_then(Path::file_name);
        let folder = folder.unwrap_or_default().to_string_lossy();
        let files = Files {
            folder: Some(&folder),
            skill_md: Some(FileText {
                name: "SKILL.md",
                text: &file,
            }),
            ..Files::default()
        };
        let (card, _) = parse_card(&files, Strictness::Lenient);
        let (name, description) = card
            .map_or((folder.clone().into_owned(), String::new()), |card| {
                (card.name.as_str().to_owned(), card.description.to_string())
            });
        Ok(Self {
            name,
            description,
            file,
        })
    }

    fn body(&self) -> &str {
        metier_model::body(&self.file)
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, skills, number, folder] = arguments.as_slice() else {
        return Err("usage: speed metier|tantivy SKILLS NUMBER FOLDER".into());
    };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(skills)? {
        paths.push(entry?.path().join("SKILL.md"));
    }
    paths.sort();
    paths.truncate(number.parse()?);
    let (mut read, mut size) = (f64::MAX, 0);
    for _ in 0..3 {
        let from = Instant::now();
        size = 0;
        for path in &paths {
            size += black_box(fs::read(path)?).len();
        }
        read = read.min(milliseconds(from));
    }
    println!(
        "skills {}\ntext_bytes {size}\nread_ms {read:.1}",
        paths.len()
    );
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    let [short, long] = queries(&paths)?;
    let (wall, processor) = (Instant::now(), processor_ms()?);
    match engine.as_str() {
        "metier" => {
            metier::build(&paths, folder)?;
            report_built(wall, processor, folder)?;
            let from = Instant::now();
            let index = metier::open(folder)?;
            println!("open_ms {:.3}", milliseconds(from));
            report("short", &short, |query| metier::search(&index, query))?;
            report("long", &long, |query| metier::search(&index, query))?;
        }
        #[cfg(feature = "tantivy")]
        "tantivy" => {
            tantivy::build(&paths, folder)?;
            report_built(wall, processor, folder)?;
            let from = Instant::now();
            let index = tantivy::OpenIndex::new(folder)?;
            println!("open_ms {:.3}", milliseconds(from));
            report("short", &short, |query| index.search(query))?;
            report("long", &long, |query| index.search(query))?;
        }
        other => return Err(format!("this program was built without `{other}`").into()),
    }
    println!("peak_searching_bytes {}", peak()?);
    Ok(())
}

fn report_built(wall: Instant, processor: f64, folder: &Path) -> Result<()> {
    println!("build_ms {:.1}", milliseconds(wall));
    println!("build_cpu_ms {:.1}", processor_ms()? - processor);
    println!("peak_bytes {}", peak()?);
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        size += entry?.metadata()?.len();
    }
    println!("disk_bytes {size}");
    Ok(())
}

/// The times of queries, the second time that they are asked.
fn report(kind: &str, queries: &[String], search: impl Fn(&str) -> Result<usize>) -> Result<()> {
    let mut times = Vec::with_capacity(queries.len());
    for query in queries {
        black_box(search(query)?);
    }
    for query in queries {
        let from = Instant::now();
        black_box(search(query)?);
        times.push(milliseconds(from));
    }
    times.sort_by(f64::total_cmp);
    for percent in [50, 99] {
        let time = times.get(times.len() * percent / 100);
        let time = time.ok_or("there are no queries")?;
        println!("{kind}_p{percent}_ms {time:.3}");
    }
    Ok(())
}

/// Short and long queries, from skills that are spread over all of them.
fn queries(paths: &[PathBuf]) -> Result<[Vec<String>; 2]> {
    let mut all = [Vec::new(), Vec::new()];
    let step = (paths.len() / QUERIES).max(1);
    let some = |text: &str, words: usize| -> String {
        let words: Vec<&str> = text.split_whitespace().take(words).collect();
        words.join(" ")
    };
    for path in paths.iter().step_by(step).take(QUERIES) {
        let skill = SkillText::read(path)?;
        let [short, long] = &mut all;
        short.push(some(&skill.description, 8));
        long.push(some(skill.body(), 40));
    }
    Ok(all)
}

fn milliseconds(from: Instant) -> f64 {
    from.elapsed().as_secs_f64() * 1e3
}

/// Processor time of this process, by the kernel's ticks of ten milliseconds.
fn processor_ms() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let mut ticks = 0.0;
    for field in fields.split_whitespace().skip(11).take(2) {
        ticks += field.parse::<f64>()?;
    }
    Ok(ticks * 10.0)
}

/// The most memory that this process had, in bytes.
fn peak() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next());
    Ok(kib.ok_or("no VmHWM")?.parse::<u64>()? * 1024)
}
