//! Links inside a skill, resolved among the files that were read, never on the disk.
//!
//! A link to a file of the same skill is a second name of it. Its target is looked up among the given files, whose bytes
//! and link targets are part of the digest, so that they cannot be replaced later. A link that leaves the
//! skill, points to a missing file or a folder, passes through another link, or forms a cycle is not followed.

use std::collections::BTreeMap;

use crate::input::{FileToScan, ScannedContent};

/// The length of a chain of links.
const MOST_STEPS: usize = 8;
/// The maximum size of bytes that are scanned again under other names: a hundred links to one file are a hundred files.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The links of a skill.
pub(crate) struct SkillLinks<'f> {
    files: BTreeMap<&'f str, &'f ScannedContent<'f>>,
    left: usize,
}

impl<'f> SkillLinks<'f> {
    pub(crate) fn new(files: &'f [FileToScan<'f>]) -> Self {
        let linked = files
            .iter()
            .any(|file| matches!(file.content, ScannedContent::Link(_)));
        // Few skills contain links.
        let files = if linked { files } else { &[] };
        Self {
            files: files
                .iter()
                .map(|file| (file.path, &file.content))
                .collect(),
            left: MOST_BYTES,
        }
    }

    /// The content of the file that the link at `path` points to.
    pub(crate) fn follow(&mut self, path: &str, target: &str) -> Option<&'f [u8]> {
        let mut here = self.resolve(path, target)?;
        for _ in 0..MOST_STEPS {
            match self.files.get(here.as_str())? {
                ScannedContent::Bytes(bytes) => {
                    self.left = self.left.checked_sub(bytes.len())?;
                    return Some(bytes);
                }
                ScannedContent::Link(target) => here = self.resolve(&here, target)?,
                ScannedContent::Unread(_) => return None,
            }
        }
        None
    }

    /// The path that a link points to, without following it.
    fn resolve(&self, path: &str, target: &str) -> Option<String> {
        // A name that is not valid UTF-8 was converted, and can be the same as another name.
        let odd = ['\\', '\0', ':', '\u{fffd}'];
        if target.is_empty() || target.starts_with('/') || target.contains(odd) {
            return None;
        }
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        for part in target.split('/') {
            // A link on the path would point elsewhere.
            if self.is_link(&parts) {
                return None;
            }
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }

    fn is_link(&self, parts: &[&str]) -> bool {
        matches!(
            self.files.get(parts.join("/").as_str()),
            Some(ScannedContent::Link(_))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_within_the_skill_only() {
        let file = |path, content| FileToScan { path, content };
        let files = [
            file("SKILL.md", ScannedContent::Bytes(b"text")),
            file("a/b.py", ScannedContent::Bytes(b"code")),
            file("a/up", ScannedContent::Link("../SKILL.md")),
            file("beside", ScannedContent::Link("./a/b.py")),
            file("twice", ScannedContent::Link("beside")),
            file("out", ScannedContent::Link("../../etc/passwd")),
            file("root", ScannedContent::Link("/etc/passwd")),
            file("loop", ScannedContent::Link("pool")),
            file("pool", ScannedContent::Link("loop")),
            file("self", ScannedContent::Link("self")),
            file("gone", ScannedContent::Link("nothing")),
            file("folder", ScannedContent::Link("a")),
            file("through", ScannedContent::Link("folder/b.py")),
            file("around", ScannedContent::Link("folder/../SKILL.md")),
            file("unread", ScannedContent::Unread("why")),
            file("to-unread", ScannedContent::Link("unread")),
        ];
        let mut links = SkillLinks::new(&files);
        let mut check = |path: &str, expected: Option<&[u8]>| {
            let found = files.iter().find(|file| file.path == path);
            let Some(ScannedContent::Link(target)) = found.map(|file| &file.content) else {
                panic!("{path} is no link");
            };
            assert_eq!(links.follow(path, target), expected, "{path}");
        };
        check("a/up", Some(b"text"));
        check("beside", Some(b"code"));
        check("twice", Some(b"code"));
        for path in [
            "out",
            "root",
            "loop",
            "pool",
            "self",
            "gone",
            "folder",
            "through",
            "around",
            "to-unread",
        ] {
            check(path, None);
        }
    }

    #[test]
    fn many_links_to_a_large_file_are_not_read() {
        let large = vec![b'a'; MOST_BYTES / 2];
        let files = [
            FileToScan {
                path: "a",
                content: ScannedContent::Bytes(&large),
            },
            FileToScan {
                path: "b",
                content: ScannedContent::Link("a"),
            },
        ];
        let mut links = SkillLinks::new(&files);
        let read = (0..4).filter(|_| links.follow("b", "a").is_some()).count();
        assert_eq!(read, 2);
    }
}
