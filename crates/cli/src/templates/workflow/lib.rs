//! The code of this skill, as a library: a workflow, which a person or another skill runs by its name.

use metier_sdk::guest::{Context, Outcome, Plugin};
use metier_sdk::wire::Manifest;

/// The skill as a value.
#[derive(Default)]
struct This;

metier_sdk::export_skill!(This);

impl Plugin for This {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        let about = "Writes checklist.md with a box for each step.";
        context.workflow("checklist", about, |host, input: Input| {
            let steps = input.arguments;
            if steps.is_empty() {
                return Err(r#"name at least one step: metier run {{name}} "First step" "Second step""#.into());
            }
            let lines: String = steps.iter().map(|step| format!("- [ ] {step}\n")).collect();
            host.write_file("checklist.md", &lines)?;
            Ok(format!("wrote {} steps to checklist.md", steps.len()))
        });
        Ok(())
    }
}

/// From the command line: `{"arguments": ["First step", "Second step"], "text": "First step Second step"}`.
#[derive(serde::Deserialize)]
struct Input {
    #[serde(default)]
    arguments: Vec<String>,
}
