//! The code of this skill: a workflow, which a person or another skill runs by its name.

use metier_sdk::{
    guest::{Context, Host, Outcome, Plugin},
    wire::Manifest,
};

#[derive(Default)]
struct Checklist;

metier_sdk::export_skill!(Checklist);

impl Plugin for Checklist {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        context.workflow("checklist", "Writes checklist.md with a box for each step.", checklist);
        Ok(())
    }
}

/// From the command line: `{"arguments": ["First step", "Second step"], "text": "First step Second step"}`.
#[derive(serde::Deserialize)]
struct Input {
    #[serde(default)]
    arguments: Vec<String>,
}

fn checklist(host: &Host<'_>, input: Input) -> Outcome<String> {
    let steps = input.arguments;
    if steps.is_empty() {
        return Err(r#"name at least one step: metier run {{name}} "First step" "Second step""#.into());
    }
    let lines: String = steps.iter().map(|step| format!("- [ ] {step}\n")).collect();
    host.write_file("checklist.md", &lines)?;
    Ok(format!("wrote {} steps to checklist.md", steps.len()))
}
