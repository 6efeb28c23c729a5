//! Links inside a skill, resolved among the files that were read, never on the disk.
//!
//! A link to a file of the same skill is a second name of it. Its target is looked up among the given files, whose bytes
//! and link targets are part of the digest, so that they cannot be replaced later. A link that leaves the
//! skill, points to a missing file or a folder, passes through another link, or forms a cycle is not followed.

use std::collections::BTreeMap;

use crate::scan::{Content, File};

/// The length of a chain of links.
const MOST_STEPS: usize = 8;
/// The bytes that are scanned again under other names: a hundred links to one file are a hundred files.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The links of a skill.
pub(crate) struct Links<'f> {
    files: BTreeMap<&'f str, &'f Content<'f>>,
    left: usize,
}

impl<'f> Links<'f> {
    pub(crate) fn new(files: &'f [File<'f>]) -> Self {
        let linked = files
            .iter()
            .any(|file| matches!(file.content, Content::Link(_)));
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
                Content::Bytes(bytes) => {
                    self.left = self.left.checked_sub(bytes.len())?;
                    return Some(bytes);
                }
                Content::Link(target) => here = self.resolve(&here, target)?,
                Content::Unread(_) => return None,
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
            // A link on the path would lead elsewhere.
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
            Some(Content::Link(_))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_within_the_skill_only() {
        let file = |path, content| File { path, content };
        let files = [
            file("SKILL.md", Content::Bytes(b"text")),
            file("a/b.py", Content::Bytes(b"code")),
            file("a/up", Content::Link("../SKILL.md")),
            file("beside", Content::Link("./a/b.py")),
            file("twice", Content::Link("beside")),
            file("out", Content::Link("../../etc/passwd")),
            file("root", Content::Link("/etc/passwd")),
            file("loop", Content::Link("pool")),
            file("pool", Content::Link("loop")),
            file("self", Content::Link("self")),
            file("gone", Content::Link("nothing")),
            file("folder", Content::Link("a")),
            file("through", Content::Link("folder/b.py")),
            file("around", Content::Link("folder/../SKILL.md")),
            file("unread", Content::Unread("why")),
            file("to-unread", Content::Link("unread")),
        ];
        let mut links = Links::new(&files);
        let mut check = |path: &str, expected: Option<&[u8]>| {
            let found = files.iter().find(|file| file.path == path);
            let Some(Content::Link(target)) = found.map(|file| &file.content) else {
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
            File {
                path: "a",
                content: Content::Bytes(&large),
            },
            File {
                path: "b",
                content: Content::Link("a"),
            },
        ];
        let mut links = Links::new(&files);
        let read = (0..4).filter(|_| links.follow("b", "a").is_some()).count();
        assert_eq!(read, 2);
    }
}
