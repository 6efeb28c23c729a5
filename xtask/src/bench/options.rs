//! The bench's command line.

use std::path::PathBuf;

use crate::Result;

/// The measured areas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BenchPart {
    /// Lists and checks of whole catalogs, and starting.
    Catalog,
    /// The scanner.
    Scan,
    /// Activation, permission and the sandbox.
    Render,
    /// Skills that run: activation, calls, hooks.
    Host,
    /// The time that an agent waits for us.
    Mcp,
    /// Sessions with a model that costs nothing.
    Agent,
    /// Installing from a registry.
    Hub,
    /// The daemon.
    Serve,
    /// The search index, compared with others.
    Select,
}

/// The areas to measure, and the effort.
#[derive(Debug)]
pub(super) struct BenchOptions {
    pub(super) part: BenchPart,
    pub(super) sizes: Vec<usize>,
    /// Few rounds and no large catalogs: to check that it works, not to quote.
    pub(super) quick: bool,
    pub(super) keep: Option<PathBuf>,
    /// The program to measure; by default a build of this source with the profile `dist`.
    pub(super) metier: Option<PathBuf>,
    /// Real skills, for `select`.
    pub(super) skills: Option<PathBuf>,
    pub(super) markdown: bool,
}

impl BenchOptions {
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut sizes = None;
        let mut options = Self {
            part: BenchPart::Catalog,
            sizes: Vec::new(),
            quick: false,
            keep: None,
            metier: None,
            skills: None,
            markdown: false,
        };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or(format!("`{argument}` needs a value"))
            };
            match argument.as_str() {
                "catalog" => options.part = BenchPart::Catalog,
                "scan" => options.part = BenchPart::Scan,
                "render" => options.part = BenchPart::Render,
                "host" => options.part = BenchPart::Host,
                "mcp" => options.part = BenchPart::Mcp,
                "agent" => options.part = BenchPart::Agent,
                "hub" => options.part = BenchPart::Hub,
                "serve" => options.part = BenchPart::Serve,
                "select" => options.part = BenchPart::Select,
                "--quick" => options.quick = true,
                "--markdown" => options.markdown = true,
                "--keep" => options.keep = Some(value()?.into()),
                "--skills" => options.skills = Some(value()?.into()),
                "--metier" => options.metier = Some(value()?.into()),
                "--sizes" => sizes = Some(parse_sizes(value()?)?),
                other => return Err(format!("bench does not know `{other}`").into()),
            }
        }
        let usual: &[usize] = match (options.part, options.quick) {
            (BenchPart::Scan, true) => &[100],
            (BenchPart::Scan, false) => &[500],
            (BenchPart::Render | BenchPart::Host | BenchPart::Agent | BenchPart::Hub, _) => &[],
            (BenchPart::Serve, true) => &[1_000],
            (BenchPart::Serve, false) => &[10_000],
            (BenchPart::Select, true) => &[1_000],
            (BenchPart::Select, false) => &[10_000, 60_000],
            (BenchPart::Mcp, true) => &[52],
            (BenchPart::Mcp, false) => &[52, 10_000],
            (BenchPart::Catalog, true) => &[52, 1_000],
            (BenchPart::Catalog, false) => &[52, 1_000, 10_000, 50_000],
        };
        options.sizes = sizes.unwrap_or_else(|| usual.to_vec());
        Ok(options)
    }

    /// Small catalogs are cheap to repeat and noisy.
    pub(super) fn rounds(&self, size: usize) -> usize {
        match size {
            _ if self.quick => 5,
            0..500 => 31,
            500..5_000 => 21,
            5_000..20_000 => 11,
            _ => 5,
        }
    }
}

fn parse_sizes(text: &str) -> Result<Vec<usize>> {
    let size = |part: &str| match part.trim().parse() {
        Ok(size) if size > 0 => Ok(size),
        _ => Err(format!("`{part}` is not a number of skills").into()),
    };
    text.split(',').map(size).collect()
}

#[cfg(test)]
mod tests {
    use super::{BenchOptions, BenchPart};

    fn parse(line: &str) -> crate::Result<BenchOptions> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        BenchOptions::parse(&words)
    }

    #[test]
    fn options_are_understood() {
        let options = parse("catalog --sizes 52,10 --quick --keep x --markdown").unwrap();
        assert_eq!(options.sizes, [52, 10]);
        assert!(options.quick && options.markdown && options.keep.is_some());
        assert_eq!(parse("").unwrap().sizes, [52, 1_000, 10_000, 50_000]);
        let scan = parse("scan").unwrap();
        assert_eq!(
            (scan.part, scan.sizes.as_slice()),
            (BenchPart::Scan, &[500][..])
        );
        assert_eq!(parse("mcp").unwrap().sizes, [52, 10_000]);
        assert_eq!(parse("host --quick").unwrap().part, BenchPart::Host);
        assert_eq!(parse("agent").unwrap().part, BenchPart::Agent);
        let select = parse("select --skills x").unwrap();
        assert_eq!(
            (select.part, select.sizes.as_slice()),
            (BenchPart::Select, &[10_000, 60_000][..])
        );
    }

    #[test]
    fn wrong_options_are_errors() {
        for line in ["--sizes", "--sizes 0", "--sizes a", "--fast", "daemon"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
