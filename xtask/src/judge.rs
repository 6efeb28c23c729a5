//! `cargo xtask judge`: third-party programs use metier, and their results are compared with the expected ones.
//!
//! **Problem.** Our own tests show that the two ends that we wrote understand each other. **Decision.** Third-party suites, clients and
//! agents are installed at fixed versions below `target/judge/` and run against the built program, in a separate home, on the loopback
//! interface. Each judge reports checks by name. A failed check is on the list of expected failures with its reason ([`known`]), or the
//! command fails; a check that passes although it is on the list also fails the command, and so does a check of a table that was not
//! reported.
//!
//! Not part of `cargo xtask test`, because the downloads are a gigabyte and the runs take minutes. docs/judges.md has the results.

mod agents;
mod conformance;
mod inspector;
mod known;
mod machine;
mod scripted;
mod tools;
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use crate::Result;
use machine::JudgedMachine;
use tools::JudgeTools;
use verdict::{JudgeCheck, Judgement};

/// One third-party program, or one role of it.
struct ForeignJudge {
    name: &'static str,
    /// The program and its version, for the report.
    what: &'static str,
    /// Our examples that take part.
    examples: &'static [&'static str],
    run: fn(&JudgeTools, &JudgedMachine) -> Result<Vec<JudgeCheck>>,
}

const JUDGES: &[ForeignJudge] = &[
    ForeignJudge {
        name: "conformance-server",
        what: "@modelcontextprotocol/conformance 0.2.0-alpha.12, against a server",
        examples: &["conformance_fixture"],
        run: conformance::server,
    },
    ForeignJudge {
        name: "conformance-client",
        what: "@modelcontextprotocol/conformance 0.2.0-alpha.12, against a client",
        examples: &["conformance_client"],
        run: conformance::client,
    },
    ForeignJudge {
        name: "inspector",
        what: "MCP Inspector 2.12.0, command line",
        examples: &[],
        run: inspector::run,
    },
    ForeignJudge {
        name: "python-mcp",
        what: "the official Python SDK, mcp 2.3.0",
        examples: &[],
        run: scripted::python_mcp,
    },
    ForeignJudge {
        name: "python-fastmcp",
        what: "fastmcp 4.1.2",
        examples: &[],
        run: scripted::python_fastmcp,
    },
    ForeignJudge {
        name: "websocket",
        what: "Python websockets 17.4, against `metier serve`",
        examples: &[],
        run: scripted::websocket,
    },
    ForeignJudge {
        name: "page",
        what: "Chromium and axe-core 4.14.0, against the page",
        examples: &["scripted_model"],
        run: scripted::page,
    },
    ForeignJudge {
        name: "codex",
        what: "Codex CLI 0.166.0 with a scripted model",
        examples: &["scripted_model"],
        run: agents::codex,
    },
    ForeignJudge {
        name: "opencode",
        what: "OpenCode 1.18.33 with a scripted model",
        examples: &["scripted_model"],
        run: agents::opencode,
    },
];

const USAGE: &str =
    "usage: cargo xtask judge [--metier FILE] [--skills DIR] [--markdown] [JUDGE …]";

/// The requested judges and options.
#[derive(Default)]
struct JudgeOptions {
    judges: Vec<String>,
    /// This program instead of a debug build.
    metier: Option<PathBuf>,
    /// A folder with more skills, such as a checkout of a public collection.
    skills: Option<PathBuf>,
    markdown: bool,
}

/// Installs the judges and runs those that were named, or all.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = JudgeOptions::parse(arguments)?;
    let judges = options.judges()?;
    let examples = judges.iter().flat_map(|judge| judge.examples);
    let examples: Vec<&str> = examples.copied().collect();
    let tools = JudgeTools::prepare(options.metier.as_deref(), &examples)?;
    let mut surprises = 0;
    let mut lines = Vec::new();
    for judge in judges {
        // Approvals and changes of one judge are absent for the next.
        let machine = JudgedMachine::new(&tools, options.skills.as_deref())?;
        let start = Instant::now();
        let checks = (judge.run)(&tools, &machine)?;
        let judgement = Judgement::of(judge.name, checks, known::FAILURES);
        print!("{}", judgement.report(judge.what, options.markdown));
        surprises += judgement.surprises.len();
        lines.push(format!("{judgement}; {} s", start.elapsed().as_secs()));
    }
    println!("\n{}", lines.join("\n"));
    Ok(match surprises {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}

impl JudgeOptions {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut path = || words.next().map(PathBuf::from).ok_or(USAGE);
            match word.as_str() {
                "--metier" => options.metier = Some(path()?),
                "--skills" => options.skills = Some(path()?),
                "--markdown" => options.markdown = true,
                option if option.starts_with('-') => return Err(USAGE.into()),
                name => options.judges.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    fn judges(&self) -> Result<Vec<&'static ForeignJudge>> {
        if self.judges.is_empty() {
            return Ok(JUDGES.iter().collect());
        }
        let find = |name: &String| JUDGES.iter().find(|judge| judge.name == name);
        let names = JUDGES.iter().map(|judge| judge.name).collect::<Vec<_>>();
        let found = self.judges.iter().map(|name| {
            find(name).ok_or_else(|| format!("there is no judge `{name}`: {}", names.join(", ")))
        });
        Ok(found.collect::<std::result::Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_judge_is_an_error_with_the_known_ones() {
        let options = JudgeOptions::parse(&["codecs".to_owned()]).unwrap();
        let error = options.judges().err().unwrap().to_string();
        assert!(
            error.contains("`codecs`") && error.contains("codex"),
            "{error}"
        );
        assert!(JudgeOptions::parse(&["--fast".to_owned()]).is_err());
    }

    #[test]
    fn an_expected_failure_belongs_to_a_judge() {
        for failure in known::FAILURES {
            let is_judge = JUDGES.iter().any(|judge| judge.name == failure.judge);
            assert!(
                is_judge && !failure.reason.is_empty(),
                "{}: {}",
                failure.judge,
                failure.check
            );
        }
    }
}
