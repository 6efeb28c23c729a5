//! Paths with patterns: `./src/**`, `~/notes/*.md`, `/var/log/app.log`.

use std::fmt;

use super::{NotAScope, glob};

/// The folder that a path starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anchor {
    /// `./x` and `x`: the project's folder.
    Project,
    /// `~/x`: the user's home.
    Home,
    /// `/x`: the whole machine.
    Root,
}

/// A path in which `*` and `?` match characters of one name, and a name `**` matches any names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathPattern {
    anchor: Anchor,
    segments: Vec<PathSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum PathSegment {
    /// A name `**`, which matches any names.
    Deep,
    /// A name, which can contain `*` and `?`.
    Name(Box<str>),
}

impl PathSegment {
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Deep, _) => true,
            (Self::Name(_), Self::Deep) => false,
            (Self::Name(this), Self::Name(other)) => {
                this == other
                    || &**this == "*"
                    || (!glob::is_pattern(other) && glob::matches(this, other))
            }
        }
    }
}

impl PathPattern {
    /// Everything in the project.
    #[must_use]
    pub fn project() -> Self {
        Self {
            anchor: Anchor::Project,
            segments: vec![PathSegment::Deep],
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, NotAScope> {
        if text.contains(['\\', '$', '{', '}', '[', ']', '\u{0}']) {
            return Err(NotAScope(
                "a path can't contain backslashes, variables, braces or brackets: write it out",
            ));
        }
        let (anchor, rest) = match text {
            "." | "./" => (Anchor::Project, ""),
            "~" | "~/" => (Anchor::Home, ""),
            _ => match (text.strip_prefix("~/"), text.strip_prefix('/')) {
                (Some(rest), _) => (Anchor::Home, rest),
                (_, Some(rest)) => (Anchor::Root, rest),
                _ => (Anchor::Project, text.strip_prefix("./").unwrap_or(text)),
            },
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let names = rest.split('/').filter(|_| !rest.is_empty());
        let segments = names.map(segment).collect::<Result<_, _>>()?;
        Ok(Self { anchor, segments })
    }

    /// The folder that it starts from.
    #[must_use]
    pub fn anchor(&self) -> Anchor {
        self.anchor
    }

    /// The names before the first wildcard, and the rest of the pattern.
    #[must_use]
    pub fn fixed(&self) -> (Vec<&str>, Reach) {
        let literal = self.segments.iter().map_while(|segment| match segment {
            PathSegment::Name(name) if !glob::is_pattern(name) => Some(&**name),
            _ => None,
        });
        let fixed: Vec<&str> = literal.collect();
        let reach = match &self.segments[fixed.len()..] {
            [] => Reach::Exactly,
            [PathSegment::Deep] => Reach::Everything,
            _ => Reach::Some,
        };
        (fixed, reach)
    }

    /// Whether the names of a path, relative to the anchor, match.
    #[must_use]
    pub fn matches(&self, names: &[&str]) -> bool {
        // The segments that can match next, advanced by one name at a time: the work is linear in both.
        let mut open = vec![false; self.segments.len() + 1];
        open[0] = true;
        self.skip_deep(&mut open);
        for name in names {
            let mut next = vec![false; open.len()];
            for (at, segment) in self.segments.iter().enumerate().filter(|(at, _)| open[*at]) {
                match segment {
                    PathSegment::Deep => next[at] = true,
                    PathSegment::Name(pattern) => next[at + 1] |= glob::matches(pattern, name),
                }
            }
            self.skip_deep(&mut next);
            open = next;
        }
        open.last().copied().unwrap_or(false)
    }

    /// `**` can match no name at all.
    fn skip_deep(&self, open: &mut [bool]) {
        for at in 0..self.segments.len() {
            if open[at] && self.segments[at] == PathSegment::Deep {
                open[at + 1] = true;
            }
        }
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        if self.anchor != other.anchor {
            return false;
        }
        if self.segments.last() == Some(&PathSegment::Deep) {
            let fixed = &self.segments[..self.segments.len() - 1];
            return other.segments.len() >= fixed.len()
                && fixed.iter().zip(&other.segments).all(|(this, other)| {
                    *this != PathSegment::Deep && *other != PathSegment::Deep && this.covers(other)
                });
        }
        self.segments.len() == other.segments.len()
            && self
                .segments
                .iter()
                .zip(&other.segments)
                .all(|(this, other)| {
                    this == other || (*this != PathSegment::Deep && this.covers(other))
                })
    }
}

/// The part of a pattern after its fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: exactly that file or folder.
    Exactly,
    /// Everything below that folder.
    Everything,
    /// Names that must be matched one by one.
    Some,
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.anchor, self.segments.is_empty()) {
            (Anchor::Project, true) => ".",
            (Anchor::Project, false) => "./",
            (Anchor::Home, true) => "~",
            (Anchor::Home, false) => "~/",
            (Anchor::Root, _) => "/",
        })?;
        for (position, segment) in self.segments.iter().enumerate() {
            let slash = if position == 0 { "" } else { "/" };
            match segment {
                PathSegment::Deep => write!(f, "{slash}**")?,
                PathSegment::Name(name) => write!(f, "{slash}{name}")?,
            }
        }
        Ok(())
    }
}

fn segment(name: &str) -> Result<PathSegment, NotAScope> {
    match name {
        "**" => Ok(PathSegment::Deep),
        "" | "." | ".." => Err(NotAScope("a path can't contain an empty name, `.` or `..`")),
        _ if name.contains("**") => Err(NotAScope("`**` must be a whole name, as in `./src/**`")),
        _ => Ok(PathSegment::Name(name.into())),
    }
}
