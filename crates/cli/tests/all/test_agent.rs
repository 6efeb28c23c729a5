//! The fixture for agents: the real program, real skills, and a model that follows the test's script.

use metier_testkit::{
    ProgramOutput,
    model_server::{ModelServer, Recorded, ScriptedTurn},
};
use serde_json::Value;

use crate::skill_project::SkillProject;

/// A machine with a model.
pub(crate) struct TestAgent {
    pub(crate) stage: SkillProject,
    pub(crate) server: ModelServer,
}

impl TestAgent {
    /// A model that plays these turns, one for each request, and skills that the test writes.
    pub(crate) fn new(script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let server = ModelServer::start(script);
        let mut stage = SkillProject::new();
        stage
            .context
            .env("METIER_MODEL", "anthropic/test-model")
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("ANTHROPIC_API_KEY", "sk-test");
        Self { stage, server }
    }

    /// Runs the program on the skills of this fixture and the built-in ones.
    pub(crate) fn run(&self, arguments: &[&str]) -> ProgramOutput {
        self.stage.context.run(arguments)
    }

    /// A skill in the user's folder.
    pub(crate) fn skill(&self, name: &str, front: &str, body: &str) {
        self.stage
            .skill_in("~/.config/metier/skills", name, front, body);
    }

    /// The requests, after all turns were played without an error.
    pub(crate) fn finish(self) -> Vec<Recorded> {
        self.server.finish()
    }
}

/// The events of a run with `--format jsonl`.
pub(crate) fn events(output: &ProgramOutput) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The last message of a request, whatever it is, as text.
pub(crate) fn last_message(request: &Recorded) -> String {
    let messages = request.json["messages"].as_array().unwrap();
    messages.last().unwrap()["content"].to_string()
}
