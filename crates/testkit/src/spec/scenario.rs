//! Runs one scenario in its context, and records every difference.

use std::any::Any;

use serde_json::Value;

use super::bless::Correction;
use super::compare::Comparison;
use super::document::{Action, ScenarioStep, SpecScenario};
use super::report::PrintedJson;
use super::transcript::{TranscriptCommand, drop_blank_end};
use super::words::CommandWord;
use super::{SpecServices, builtin, contains, escape, model::SpecModel};
use crate::{ProgramOutput, TestContext};

/// The result of a scenario.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) commands: usize,
    pub(super) mismatches: Vec<TranscriptMismatch>,
    pub(super) printed: Vec<PrintedJson>,
}

/// One difference, and the corrected expectation if that would fix it.
#[derive(Debug)]
pub(super) struct TranscriptMismatch {
    pub(super) line: usize,
    pub(super) message: String,
    pub(super) correction: Option<Correction>,
}

/// Runs all steps; a difference does not stop the later ones, a failed preparation does.
pub(super) fn run(
    context: TestContext,
    services: SpecServices<'_>,
    shared: &[ScenarioStep],
    scenario: &SpecScenario,
) -> Done {
    let mut runner = Runner {
        context,
        services,
        running: Vec::new(),
        last: None,
        model: None,
        done: Done::default(),
    };
    let steps: Vec<&ScenarioStep> = shared.iter().chain(&scenario.steps).collect();
    for (index, step) in steps.iter().enumerate() {
        let next = steps.get(index + 1).map(|step| &step.action);
        let json_follows = matches!(next, Some(Action::JsonContains(_)));
        if let Err(message) = runner.step(step, json_follows) {
            runner.mismatch(step.line, message, None);
            break;
        }
    }
    runner.end(scenario.line);
    runner.done
}

struct Runner<'a> {
    /// The servers of this scenario; they end before the folder of the context is removed.
    running: Vec<Box<dyn Any>>,
    context: TestContext,
    services: SpecServices<'a>,
    /// The last command and its output, for `json contains`.
    last: Option<(String, ProgramOutput)>,
    /// The model of this scenario, once it has one.
    model: Option<SpecModel>,
    done: Done,
}

impl Runner<'_> {
    fn step(&mut self, step: &ScenarioStep, json_follows: bool) -> Result<(), String> {
        let place = &self.context.place;
        match &step.action {
            Action::File {
                path,
                content,
                expand,
            } => {
                let expanded =
                    expand.then(|| self.expand(&String::from_utf8_lossy(content)).into_bytes());
                place
                    .write(path, expanded.as_ref().unwrap_or(content))
                    .map(drop)
            }
            Action::Symlink { target, path } => place.symlink(&self.expand(target), path).map(drop),
            Action::Dir { path } => place.dir(path).map(drop),
            Action::Service { name } => return self.start(name),
            Action::Env(pairs) => {
                self.variables(pairs);
                Ok(())
            }
            Action::Console(commands) => {
                for (index, command) in commands.iter().enumerate() {
                    let json_follows = json_follows && index + 1 == commands.len();
                    self.command(command, json_follows);
                }
                Ok(())
            }
            Action::JsonContains(expected) => {
                self.json(step.line, expected);
                Ok(())
            }
            Action::Model(turns) => return self.play(turns),
            Action::Asked(expected) => {
                let wrong = match &mut self.model {
                    Some(model) => model.check(expected),
                    None => vec!["no model was asked, because there is none".to_owned()],
                };
                for message in wrong {
                    self.mismatch(step.line, message, None);
                }
                Ok(())
            }
        }
        .map_err(|error| error.to_string())
    }

    fn start(&mut self, name: &str) -> Result<(), String> {
        let service = self.services.iter().find(|(known, _)| *known == name);
        let Some((_, start)) = service else {
            return Err(format!("there is no service `{name}` here"));
        };
        self.running.push(start(&mut self.context));
        Ok(())
    }

    fn play(&mut self, turns: &[Value]) -> Result<(), String> {
        let model = self.model.get_or_insert_with(SpecModel::start);
        for (name, value) in model.variables() {
            self.context.env(name, value);
        }
        model.play(turns)
    }

    /// The model's errors: invalid requests, and turns that were never played.
    fn end(&mut self, line: usize) {
        let model = self.model.take();
        for problem in model.map(SpecModel::end).unwrap_or_default() {
            self.mismatch(line, format!("the model server: {problem}"), None);
        }
    }

    fn variables(&mut self, pairs: &[(String, String)]) {
        for (name, value) in pairs {
            if value.is_empty() {
                self.context.unset(name);
            } else {
                let value = self.expand(value);
                self.context.env(name, value);
            }
        }
    }

    fn command(&mut self, command: &TranscriptCommand, json_follows: bool) {
        self.done.commands += 1;
        let output = match self.execute(command) {
            Ok(output) => output.filtered(),
            Err(message) => {
                self.last = None;
                return self.mismatch(command.line, format!("$ {}\n{message}", command.text), None);
            }
        };
        let stdout = if json_follows {
            ""
        } else {
            output.stdout.as_str()
        };
        let mut actual = lines(stdout);
        actual.extend(lines(&output.stderr));
        drop_blank_end(&mut actual);
        let comparison = Comparison::new(&command.expected, &actual);
        if !comparison.is_match() || output.code != command.code {
            let message = describe(command, &comparison, &output, json_follows);
            let correct = |source| Correction::new(source, &comparison.corrected(), output.code);
            let correction = command.source.clone().map(correct);
            self.mismatch(command.line, message, correction);
        }
        self.last = Some((command.text.clone(), output));
    }

    fn execute(&mut self, command: &TranscriptCommand) -> Result<ProgramOutput, String> {
        let words: Vec<String> = command.words.iter().map(|word| self.word(word)).collect();
        let Some((program, arguments)) = words.split_first() else {
            return Err("no program".to_owned());
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if program == "metier" {
            let output = self.program(command, &arguments)?;
            if arguments.contains(&"--json") {
                self.done.printed.push(PrintedJson {
                    arguments: words[1..].to_vec(),
                    stdout: output.stdout.clone(),
                });
            }
            return Ok(output);
        }
        match builtin::run(&self.context.place, program, &arguments) {
            Some(Ok(stdout)) => Ok(self.context.output(stdout, String::new(), 0)),
            Some(Err(error)) => {
                let stderr = format!("{program}: {error}\n");
                Ok(self.context.output(String::new(), stderr, 1))
            }
            None => Err(format!(
                "`{program}` is not available here, only `metier` and cat rm mkdir chmod mkfifo ln"
            )),
        }
    }

    fn program(
        &self,
        command: &TranscriptCommand,
        arguments: &[&str],
    ) -> Result<ProgramOutput, String> {
        let stdin = match &command.stdin {
            Some(name) => {
                let content = self.context.place.path(name).and_then(std::fs::read);
                Some(content.map_err(|error| format!("{name}: {error}"))?)
            }
            None => None,
        };
        let env: Vec<_> = command
            .env
            .iter()
            .map(|(name, value)| (name.clone(), self.expand(value)))
            .collect();
        let result = self.context.try_run_with(arguments, stdin.as_deref(), &env);
        result.map_err(|error| self.context.filter(&error.to_string()))
    }

    fn json(&mut self, line: usize, expected: &Value) {
        let result = match &self.last {
            None => Err("no command before this block has printed anything".to_owned()),
            Some((text, output)) => {
                let parsed = serde_json::from_str(&output.stdout);
                let parsed = parsed.map_err(|error| format!("not one JSON document: {error}"));
                let result = parsed.and_then(|actual| contains::contains(expected, &actual));
                result.map_err(|reason| format!("$ {text}\n{reason}\n{}", output.snapshot()))
            }
        };
        if let Err(message) = result {
            self.mismatch(line, message, None);
        }
    }

    /// Replaces a leading `~/` and the labels by this run's paths.
    fn word(&self, word: &CommandWord) -> String {
        match word.text.strip_prefix("~/") {
            Some(rest) if !word.quoted => self.expand(&format!("[HOME]/{rest}")),
            _ => self.expand(&word.text),
        }
    }

    fn expand(&self, text: &str) -> String {
        self.context.filters.expand(text)
    }

    fn mismatch(&mut self, line: usize, message: String, correction: Option<Correction>) {
        self.done.mismatches.push(TranscriptMismatch {
            line,
            message,
            correction,
        });
    }
}

fn lines(text: &str) -> Vec<String> {
    escape::visible(text).lines().map(str::to_owned).collect()
}

fn describe(
    command: &TranscriptCommand,
    comparison: &Comparison<'_>,
    output: &ProgramOutput,
    json_follows: bool,
) -> String {
    let mut message = format!("$ {}\n", command.text);
    if output.code != command.code {
        message.push_str(&format!(
            "expected exit code {}, got {}\n",
            command.code, output.code
        ));
    }
    if json_follows {
        message.push_str(
            "(standard output belongs to the `json contains` block; this is standard error)\n",
        );
    }
    message.push_str("- expected, + actual\n");
    message.push_str(&comparison.diff());
    message
}
