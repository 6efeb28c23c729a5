//! How fast the search is: `speed SKILLS QUERIES [NUMBER]`, for a folder of skills, a file of queries and a number of skills.
//!
//! Prints the time to read all bodies, to build the index, to open it from a file and to answer a query, with its size.

use std::{error::Error, fs, hint::black_box, path::PathBuf, time::Instant};

use metier_model::{FileText, Files, Strictness, parse_card};
use metier_select::search::{
    SearchableSkill, Segment, SegmentBuilder, SkillIndex, SkillKey, merged,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("name a folder of skills")?;
    let queries = arguments.next().ok_or("name a file of queries")?;
    let number = arguments
        .next()
        .map_or(Ok(usize::MAX), |text| text.parse())?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder)?.take(number) {
        paths.push(entry?.path().join("SKILL.md"));
    }
    paths.sort();
    let milliseconds = |from: Instant| from.elapsed().as_secs_f64() * 1e3;
    let mut read = f64::MAX;
    let mut size = 0;
    for _ in 0..3 {
        let from = Instant::now();
        size = 0;
        for path in &paths {
            size += black_box(fs::read(path)?).len();
        }
        read = read.min(milliseconds(from));
    }
    println!(
        "{} skills, {} MB, read in {read:.0} ms",
        paths.len(),
        size >> 20
    );
    let from = Instant::now();
    let bytes = build(&paths)?;
    let built = milliseconds(from);
    println!(
        "index of {:.1} MB built in {built:.0} ms, {:.1} x reading",
        bytes.len() as f64 / 1e6,
        built / read
    );
    let from = Instant::now();
    let segment = Segment::open(bytes).ok_or("not a segment")?;
    let index = SkillIndex::new(vec![segment], |_| true);
    println!("opened in {:.1} ms", milliseconds(from));
    let queries = fs::read_to_string(queries)?;
    let mut times = Vec::new();
    for line in queries.lines().take(500) {
        let query = line.split('\t').next().unwrap_or_default();
        let from = Instant::now();
        black_box(index.search(query, 10)?);
        times.push(milliseconds(from));
    }
    times.sort_by(f64::total_cmp);
    let part = |part: usize| {
        times
            .get(times.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{} queries: p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms",
        times.len(),
        part(50),
        part(95),
        part(99)
    );
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    println!(
        "peak memory, building included: {}",
        peak.unwrap_or_default().trim_start_matches("VmHWM:").trim()
    );
    Ok(())
}

/// Builds as the program does: in parts on two threads, then merged.
fn build(paths: &[PathBuf]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut parts = Vec::new();
    let chunks: Vec<&[PathBuf]> = paths.chunks(2_048).collect();
    for pair in chunks.chunks(2) {
        let made: Vec<Option<Vec<u8>>> = std::thread::scope(|scope| {
            let running: Vec<_> = pair
                .iter()
                .map(|chunk| scope.spawn(|| part(chunk)))
                .collect();
            running
                .into_iter()
                .map(|thread| thread.join().ok()?.ok())
                .collect()
        });
        for bytes in made {
            parts.push(
                Segment::open(bytes.ok_or("a part could not be read")?).ok_or("not a segment")?,
            );
        }
    }
    let living: Vec<Vec<bool>> = parts.iter().map(|part| vec![true; part.len()]).collect();
    let all: Vec<(&Segment<Vec<u8>>, &[bool])> =
        parts.iter().zip(living.iter().map(Vec::as_slice)).collect();
    Ok(merged(&all).ok_or("damaged")?)
}

fn part(paths: &[PathBuf]) -> std::io::Result<Vec<u8>> {
    let mut builder = SegmentBuilder::default();
    for path in paths {
        let data = fs::read(path)?;
        let text = String::from_utf8_lossy(&data);
        let folder = path
            .parent()
            .and_then(|path| path.file_name())
            .unwrap_or_default();
        let folder = folder.to_string_lossy();
        let file = FileText {
            name: "SKILL.md",
            text: &text,
        };
        let files = Files {
            folder: Some(&folder),
            skill_md: Some(file),
            ..Files::default()
        };
        let (card, _) = parse_card(&files, Strictness::Lenient);
        let mut key = SkillKey::default();
        for (position, byte) in folder.bytes().enumerate() {
            let at = position % 16;
            key[at] =
                key[at].wrapping_mul(31).wrapping_add(byte) ^ key[(at + 7) % 16].rotate_left(3);
        }
        let (name, description) = card.as_ref().map_or((&*folder, ""), |card| {
            (card.name.as_str(), &*card.description)
        });
        builder.add(&SearchableSkill {
            key,
            name,
            description,
            body: metier_model::body(&text),
            marks: 0,
        });
    }
    Ok(builder.finish())
}
