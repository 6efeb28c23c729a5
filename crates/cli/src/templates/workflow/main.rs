//! The code of this skill: a workflow, which a person or another skill runs by its name.

use metier_sdk::guest::Skill;

/// From the command line: `{"arguments": ["First step", "Second step"], "text": "First step Second step"}`.
#[derive(serde::Deserialize)]
struct Input {
    #[serde(default)]
    arguments: Vec<String>,
}

fn main() -> std::process::ExitCode {
    Skill::new()
        .workflow("checklist", "Writes checklist.md with a box for each step.", |host, input: Input| {
            let steps = input.arguments;
            if steps.is_empty() {
                return Err(r#"name at least one step: metier run {{name}} "First step" "Second step""#.into());
            }
            let lines: String = steps.iter().map(|step| format!("- [ ] {step}\n")).collect();
            host.write_file("checklist.md", &lines)?;
            Ok(format!("wrote {} steps to checklist.md", steps.len()))
        })
        .serve()
}
