//! Generated archives: structures that are wrong in one place or several, with bytes changed afterwards.
//!
//! The oracle is Python's `zipfile` and `tarfile`. An accepted archive must be one that Python reads without an error, with the same files
//! and the same bytes: an archive is read completely or refused, and never has two meanings.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    process::{Command, Stdio},
};

use metier_package::{ArchiveLimits, PackageTree, read_archive};
use metier_testkit::{needed, needs};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    strategy::ValueTree,
    test_runner::TestRunner,
};

/// How many archives of each format are compared.
const ARCHIVES: usize = 1500;

/// Reads every file that is named on standard input, and prints one line for each: its files with their content, or why it is refused.
const ORACLE: &str = r#"
import io, json, sys, tarfile, zipfile

def of_zip(data):
    files = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            if entry.is_dir():
                continue
            with archive.open(entry) as content:
                data = content.read()
            if entry.filename in files:
                raise ValueError("twice")
            files[entry.filename] = data.hex()
    return files

def of_tar(data):
    files = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for entry in archive.getmembers():
            if entry.isdir():
                continue
            if not entry.isreg():
                raise ValueError("special")
            name = entry.name[2:] if entry.name.startswith("./") else entry.name
            if name in files:
                raise ValueError("twice")
            files[name] = archive.extractfile(entry).read().hex()
    return files

for line in sys.stdin:
    with open(line.strip(), "rb") as file:
        data = file.read()
    try:
        print(json.dumps((of_zip if data[:2] == b"PK" else of_tar)(data)))
    except Exception as error:
        print(json.dumps("%s: %s" % (type(error).__name__, error)))
"#;

/// A name that is valid in most cases.
fn name() -> impl Strategy<Value = Vec<u8>> {
    let good = select(vec![
        "SKILL.md",
        "scripts/run.sh",
        "scripts/lib.py",
        "a",
        "b/c",
        "b/d.txt",
        "été.md",
        "日本/語.md",
        "x.tar",
        ".hidden",
    ]);
    let bad = select(vec![
        &b"../x"[..],
        b"/abs",
        b"C:\\x",
        b"..\\x",
        b"a/../../x",
        b"A",
        b"a/",
        b"a/b",
        b"b",
        b"skill.md",
        b"a/./b",
        b"a//b",
        b"./a",
        b".",
        b"",
        b"aux.md",
        b"x\0y",
        b"x\ny",
        b"x\x1b[2J",
        "x\u{202e}y".as_bytes(),
        "e\u{301}te\u{301}.md".as_bytes(),
        b"\xe9t\xe9.md",
        b"x.",
        b"x ",
    ]);
    prop_oneof![
        12 => good.prop_map(|name| name.as_bytes().to_vec()),
        1 => bad.prop_map(<[u8]>::to_vec),
    ]
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => vec(any::<u8>(), 0..40),
        1 => Just(b"echo hi\n".repeat(20)),
        // Parts of archives, which a searching reader finds.
        1 => select(vec![&b"PK\x01\x02"[..], b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"]).prop_map(|magic| [b"x", magic, &[0; 30]].concat()),
    ]
}

/// A change that is made in one entry of a few.
fn rare<T: Clone + std::fmt::Debug + 'static>(
    usual: T,
    values: Vec<T>,
) -> impl Strategy<Value = T> {
    prop_oneof![40 => Just(usual), 1 => select(values)]
}

#[derive(Clone, Debug)]
struct MadeZipEntry {
    name: Vec<u8>,
    content: Vec<u8>,
    is_deflated: bool,
    is_behind: bool,
    flags: u16,
    attributes: u32,
    local_name: Option<Vec<u8>>,
    extra: Vec<u8>,
    local_extra: Vec<u8>,
    /// The numbers added to the size in the directory and in the header.
    size_lies: (i32, i32),
    crc_lie: u32,
    /// The header of another entry.
    points_to: Option<Index>,
    gap: Vec<u8>,
}

fn extra_fields() -> Vec<Vec<u8>> {
    let zip64 = [&[1, 0, 16, 0][..], &[5; 16]].concat();
    let name = [&[0x75, 0x70, 9, 0, 1, 0, 0, 0, 0][..], b"evil"].concat();
    let time = [0x55, 0x54, 5, 0, 1, 0, 0, 0, 0].to_vec();
    vec![zip64, name, time, vec![1], vec![0xff; 4]]
}

fn zip_entry() -> impl Strategy<Value = MadeZipEntry> {
    let flags = rare(0, vec![1, 1 << 5, 1 << 6, 1 << 13, 1 << 1]);
    let attributes = rare(
        0o100_644 << 16,
        vec![
            0,
            0o120_777 << 16,
            0o040_755 << 16,
            0o010_644 << 16,
            0o104_755 << 16,
            0x10,
        ],
    );
    let lie = || rare(0, vec![1, -1, 1000]);
    let first = (
        name(),
        content(),
        any::<bool>(),
        any::<bool>(),
        flags,
        attributes,
    );
    let other_name = rare(
        None,
        vec![Some(b"evil.sh".to_vec()), Some(b"../x".to_vec())],
    );
    let points_to = prop_oneof![40 => Just(None), 1 => any::<Index>().prop_map(Some)];
    let second = (
        other_name,
        rare(Vec::new(), extra_fields()),
        rare(Vec::new(), extra_fields()),
        (lie(), lie()),
        rare(0, vec![1]),
        points_to,
        rare(Vec::new(), vec![b"gap".to_vec(), vec![0; 12]]),
    );
    (first, second).prop_map(|(first, second)| {
        let (name, content, is_deflated, is_behind, flags, attributes) = first;
        let (local_name, extra, local_extra, size_lies, crc_lie, points_to, gap) = second;
        let is_utf8 = std::str::from_utf8(&name).is_ok();
        let flags = flags | (u16::from(is_utf8) << 11) | (u16::from(is_behind) << 3);
        MadeZipEntry {
            name,
            content,
            is_deflated,
            is_behind,
            flags,
            attributes,
            local_name,
            extra,
            local_extra,
            size_lies,
            crc_lie,
            points_to,
            gap,
        }
    })
}

fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers
        .iter()
        .for_each(|number| out.extend(number.to_le_bytes()));
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The archive that these entries describe.
fn zip_of(entries: &[MadeZipEntry], before: &[u8], comment: &[u8], behind: &[u8]) -> Vec<u8> {
    let mut archive = before.to_vec();
    let mut rows = Vec::new();
    for entry in entries {
        archive.extend(&entry.gap);
        let start = archive.len() as u32;
        let packed = match entry.is_deflated {
            true => deflated(&entry.content),
            false => entry.content.clone(),
        };
        let mut crc = flate2::Crc::new();
        crc.update(&entry.content);
        let crc = crc.sum().wrapping_add(entry.crc_lie);
        let method = if entry.is_deflated { 8 } else { 0 };
        let sizes = |lie: i32| {
            (
                packed.len() as u32,
                (entry.content.len() as u32).wrapping_add_signed(lie),
            )
        };
        let name = entry.local_name.as_ref().unwrap_or(&entry.name);
        archive.extend(b"PK\x03\x04");
        put(&mut archive, &[20, entry.flags, method, 0, 33]);
        let (size, unpacked) = sizes(entry.size_lies.1);
        let announced = if entry.is_behind {
            [0; 3]
        } else {
            [crc, size, unpacked]
        };
        announced
            .iter()
            .for_each(|number| archive.extend(number.to_le_bytes()));
        put(
            &mut archive,
            &[name.len() as u16, entry.local_extra.len() as u16],
        );
        archive.extend([name.as_slice(), &entry.local_extra, &packed].concat());
        if entry.is_behind {
            archive.extend(b"PK\x07\x08");
            [crc, size, unpacked]
                .iter()
                .for_each(|number| archive.extend(number.to_le_bytes()));
        }
        rows.push((start, crc, sizes(entry.size_lies.0), method));
    }
    let directory = archive.len() as u32;
    for (entry, (start, crc, (size, unpacked), method)) in entries.iter().zip(&rows) {
        let start = entry
            .points_to
            .map_or(*start, |index| rows[index.index(rows.len())].0);
        archive.extend(b"PK\x01\x02");
        put(
            &mut archive,
            &[3 << 8 | 20, 20, entry.flags, *method, 0, 33],
        );
        [*crc, *size, *unpacked]
            .iter()
            .for_each(|number| archive.extend(number.to_le_bytes()));
        put(
            &mut archive,
            &[entry.name.len() as u16, entry.extra.len() as u16, 0, 0, 0],
        );
        archive.extend(entry.attributes.to_le_bytes());
        archive.extend(start.to_le_bytes());
        archive.extend([entry.name.as_slice(), &entry.extra].concat());
    }
    let size = archive.len() as u32 - directory;
    archive.extend(b"PK\x05\x06");
    put(
        &mut archive,
        &[0, 0, entries.len() as u16, entries.len() as u16],
    );
    archive.extend(size.to_le_bytes());
    archive.extend(directory.to_le_bytes());
    put(&mut archive, &[comment.len() as u16]);
    archive.extend([comment, behind].concat());
    archive
}

fn zips() -> impl Strategy<Value = Vec<u8>> {
    let end = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    let around = (
        rare(Vec::new(), vec![b"PKjunk".to_vec(), vec![0; 30]]),
        rare(Vec::new(), vec![b"a comment".to_vec(), end.clone()]),
        rare(Vec::new(), vec![b"more".to_vec(), end]),
    );
    (vec(zip_entry(), 0..5), around).prop_map(|(entries, (before, comment, behind))| {
        zip_of(&entries, &before, &comment, &behind)
    })
}

#[derive(Clone, Debug)]
struct MadeTarEntry {
    name: Vec<u8>,
    content: Vec<u8>,
    kind: u8,
    format: TarFormat,
    prefix: Vec<u8>,
    size: Option<&'static [u8]>,
    size_lie: i32,
    extended: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum TarFormat {
    Posix,
    Gnu,
    Old,
}

fn tar_entry() -> impl Strategy<Value = MadeTarEntry> {
    let kinds = b"\x001234567xgLKSVMNZ".to_vec();
    let format = prop_oneof![
        6 => Just(TarFormat::Posix),
        6 => Just(TarFormat::Gnu),
        1 => Just(TarFormat::Old),
    ];
    let prefix = prop_oneof![
        20 => Just(Vec::new()),
        2 => Just(b"deep/er".to_vec()),
        1 => Just(b"../up".to_vec()),
    ];
    let size: Vec<Option<&'static [u8]>> = vec![
        Some(b"           "),
        Some(b"-0000000001\0"),
        Some(b"\x80\0\0\0\0\0\0\0\0\0\0\x01"),
        Some(b"  0000010\0\0\0"),
        Some(b"9\0"),
        Some(b"77777777777\0"),
        Some(b"1_0\0"),
    ];
    let extended: Vec<Vec<u8>> = [
        &b"16 path=../../x\n"[..],
        b"12 path=a/b\n",
        b"+12 path=a/b\n",
        b"9 size=5\n",
        b"16 mtime=1.5e10\n",
        b"12 path=a/b\n12 path=c/d\n",
        b"21 GNU.sparse.name=x\n",
        b"99 path=x\n",
        b"path=x\n",
        b"8 path=\n",
        b"15 comment=abc\n",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    let lie = rare(0, vec![1, 512, -1]);
    let all = (
        name(),
        content(),
        rare(b'0', kinds),
        format,
        prefix,
        rare(None, size),
        lie,
        rare(Vec::new(), extended),
    );
    all.prop_map(
        |(name, content, kind, format, prefix, size, size_lie, extended)| MadeTarEntry {
            name,
            content,
            kind,
            format,
            prefix,
            size,
            size_lie,
            extended,
        },
    )
}

fn tar_block(entry: &MadeTarEntry, kind: u8, size: u64) -> [u8; 512] {
    let mut block = [0u8; 512];
    let mut field = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    field(0, &entry.name[..entry.name.len().min(100)]);
    field(100, b"0000644\0");
    field(108, b"0000000\0");
    field(116, b"0000000\0");
    field(124, format!("{size:011o}\0").as_bytes());
    if let Some(size) = entry.size {
        field(124, size);
    }
    field(136, b"00000000000\0");
    field(148, b"        ");
    field(156, &[kind]);
    match entry.format {
        TarFormat::Posix => field(257, b"ustar\x0000"),
        TarFormat::Gnu => field(257, b"ustar  \0"),
        TarFormat::Old => {}
    }
    field(345, &entry.prefix);
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

fn tar_of(entries: &[MadeTarEntry], end: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut add = |block: [u8; 512], content: &[u8]| {
        archive.extend(block);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    };
    for entry in entries {
        if !entry.extended.is_empty() {
            let header = MadeTarEntry {
                name: b"extended".to_vec(),
                prefix: Vec::new(),
                size: None,
                ..entry.clone()
            };
            let size = entry.extended.len() as u64;
            add(tar_block(&header, b'x', size), &entry.extended);
        }
        let size = (entry.content.len() as u64).saturating_add_signed(entry.size_lie.into());
        add(tar_block(entry, entry.kind, size), &entry.content);
    }
    archive.extend(end);
    archive
}

fn tars() -> impl Strategy<Value = Vec<u8>> {
    let more = tar_of(
        &[MadeTarEntry {
            name: b"hidden".to_vec(),
            content: b"x".to_vec(),
            kind: b'0',
            format: TarFormat::Posix,
            prefix: Vec::new(),
            size: None,
            size_lie: 0,
            extended: Vec::new(),
        }],
        &[0; 1024],
    );
    let end = rare(
        vec![0; 1024],
        vec![
            Vec::new(),
            vec![0; 512],
            [&[0; 512][..], &more].concat(),
            [&[0; 1024][..], &more].concat(),
            [&[0; 1024][..], b"more"].concat(),
            vec![0; 10240],
        ],
    );
    (vec(tar_entry(), 1..5), end, any::<bool>()).prop_map(|(entries, end, is_packed)| {
        let tar = tar_of(&entries, &end);
        if !is_packed {
            return tar;
        }
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&tar).unwrap();
        encoder.finish().unwrap()
    })
}

/// Bytes that are changed, added, removed or cut off.
fn changed(archives: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let change = prop_oneof![
        6 => Just(None),
        4 => (0u8..4, any::<Index>(), any::<u8>()).prop_map(Some),
    ];
    (archives, change).prop_map(|(mut bytes, change)| {
        let Some((what, at, byte)) = change.filter(|_| !bytes.is_empty()) else {
            return bytes;
        };
        let at = at.index(bytes.len());
        match what {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
        bytes
    })
}

fn read(bytes: &[u8]) -> Option<PackageTree> {
    read_archive(bytes, ArchiveLimits::default()).ok()
}

/// Whether a path stays inside its folder, on every operating system. Written without the tested code.
fn is_inside(path: &str) -> bool {
    !path.starts_with('/')
        && !path.contains(['\\', ':', '\0', '\n'])
        && path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

fn compare(archives: impl Strategy<Value = Vec<u8>>, least: usize) {
    let python = needed!(needs::program("python3"));
    let folder = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let made: Vec<Vec<u8>> = (0..ARCHIVES)
        .map(|_| archives.new_tree(&mut runner).unwrap().current())
        .collect();
    let mut names = String::new();
    for (index, bytes) in made.iter().enumerate() {
        let file = folder.path().join(index.to_string());
        fs::write(&file, bytes).unwrap();
        names.push_str(&format!("{}\n", file.display()));
    }
    let list = folder.path().join("list");
    fs::write(&list, names).unwrap();
    let said = Command::new(python)
        .args(["-c", ORACLE])
        .stdin(Stdio::from(fs::File::open(list).unwrap()))
        .output()
        .unwrap();
    assert!(said.status.success(), "{said:?}");
    let said = String::from_utf8(said.stdout).unwrap();
    let said: Vec<&str> = said.lines().collect();
    assert_eq!(said.len(), made.len());
    let mut accepted = 0;
    let mut differences = Vec::new();
    for (index, (bytes, said)) in made.iter().zip(said).enumerate() {
        let Some(tree) = read(bytes) else { continue };
        accepted += 1;
        let said: serde_json::Value = serde_json::from_str(said).unwrap();
        let files: BTreeMap<String, String> = tree
            .files()
            .iter()
            .map(|file| (file.path.to_string(), hex(&file.bytes)))
            .collect();
        assert!(files.keys().all(|path| is_inside(path)), "{files:?}");
        if said != serde_json::json!(files) {
            differences.push(format!(
                "archive {index}: Python reads {said}, metier {files:?}"
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let refused = ARCHIVES - accepted;
    assert!(
        accepted >= least && refused >= least,
        "{accepted} of {ARCHIVES} were accepted"
    );
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

// case 23, 24, 27, 28, 29, 30, 31, 32, 33, 34
#[test]
fn a_zip_is_read_as_python_reads_it_or_refused() {
    compare(changed(zips()), ARCHIVES / 10);
}

// case 25, 26, 27, 29, 30, 32, 35
#[test]
fn a_tar_is_read_as_python_reads_it_or_refused() {
    compare(changed(tars()), ARCHIVES / 10);
}

// case 31
#[test]
fn overlapping_entries_are_refused() {
    // Each header is in the content of the entry before: all of them share one kernel of data.
    let inner = zip_of(&[plain_entry("inner", &[7; 4000])], b"", b"", b"");
    let start = inner
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap();
    let outer = plain_entry("outer", &inner[..start]);
    let archive = zip_of(std::slice::from_ref(&outer), b"", b"", b"");
    assert!(read(&archive).is_some(), "the outer one alone");
    let mut quoted = plain_entry("inner", &[7; 4000]);
    quoted.gap = b"".to_vec();
    let both = zip_of(&[outer, quoted], b"", b"", b"");
    // The second row of the directory points into the content of the first entry.
    let inside = 30 + "outer".len() as u32;
    let row = both
        .windows(4)
        .rposition(|window| window == b"PK\x01\x02")
        .unwrap();
    let mut overlapping = both;
    overlapping[row + 42..row + 46].copy_from_slice(&inside.to_le_bytes());
    let refused = read_archive(&overlapping, ArchiveLimits::default()).unwrap_err();
    assert!(refused.to_string().contains("overlap"), "{refused}");
}

fn plain_entry(name: &str, content: &[u8]) -> MadeZipEntry {
    MadeZipEntry {
        name: name.as_bytes().to_vec(),
        content: content.to_vec(),
        is_deflated: false,
        is_behind: false,
        flags: 0,
        attributes: 0o100_644 << 16,
        local_name: None,
        extra: Vec::new(),
        local_extra: Vec::new(),
        size_lies: (0, 0),
        crc_lie: 0,
        points_to: None,
        gap: Vec::new(),
    }
}

/// Set in the process that reads bombs.
const BOMB: &str = "METIER_TEST_BOMB";

/// A deflate stream of four gigabytes of zeros, which has a hundredth of that size.
fn endless_zeros() -> Vec<u8> {
    let zeros = vec![0u8; 16 << 20];
    let mut part = Vec::with_capacity(1 << 20);
    let mut compress = flate2::Compress::new(flate2::Compression::fast(), false);
    // The stream can be repeated up to a full flush.
    let status = compress.compress_vec(&zeros, &mut part, flate2::FlushCompress::Full);
    assert_eq!(status.unwrap(), flate2::Status::Ok);
    assert_eq!(compress.total_in(), zeros.len() as u64);
    part.repeat(256)
}

fn read_bombs() {
    let limits = ArchiveLimits {
        packed: 64 << 20,
        unpacked: 32 << 20,
        file: 16 << 20,
        entries: 1000,
        ratio: 100,
    };
    let stream = endless_zeros();
    let gzip = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &stream].concat();
    let mut entry = plain_entry("zeros", b"");
    entry.flags = 0;
    let mut zip = zip_of(&[entry], b"", b"", b"");
    // The content of the only entry, with its sizes.
    let (header, row) = (30 + "zeros".len(), zip.len() - 22 - 46 - "zeros".len());
    let (packed, unpacked) = (stream.len() as u32, u32::MAX - 1);
    for (at, number) in [
        (18, packed),
        (22, unpacked),
        (row + 20, packed),
        (row + 24, unpacked),
    ] {
        zip[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    (zip[8], zip[row + 10]) = (8, 8);
    let directory = (header + stream.len()) as u32;
    let end = zip.len() - 6;
    zip[end..end + 4].copy_from_slice(&directory.to_le_bytes());
    zip.splice(header..header, stream);
    for (bomb, expected) in [(zip, "is larger than"), (gzip, "decompression bomb")] {
        let refused = read_archive(&bomb, limits).unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
}

// case 31
#[test]
fn a_bomb_takes_no_more_memory_than_the_limits() {
    if std::env::var_os(BOMB).is_some() {
        read_bombs();
    } else {
        let shell = needed!(needs::program("bash"));
        let name = "hostile::a_bomb_takes_no_more_memory_than_the_limits";
        let done = Command::new(shell)
            .args(["-c", "ulimit -v 1000000; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--test-threads", "1"])
            .env(BOMB, "1")
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{done:?}");
        assert!(shown.contains("1 passed"), "{shown}");
    }
}
