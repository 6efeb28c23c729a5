//! The code of this skill: it gets every answer before the user sees it.

use metier_sdk::{HookPhase, guest::Skill, wire::HookAnswer};

const PLAIN: [(&str, &str); 3] = [
    ("in order to", "to"),
    ("utilize", "use"),
    ("at this point in time", "now"),
];

fn main() -> std::process::ExitCode {
    Skill::new()
        .hook(HookPhase::AfterResponse, |_, mut event| {
            let text = event["text"].as_str().unwrap_or_default();
            // Every second piece is code between backticks.
            let pieces = text.split('`').enumerate().map(|(number, piece)| match number % 2 {
                0 => plain(piece),
                _ => piece.to_owned(),
            });
            event["text"] = pieces.collect::<Vec<_>>().join("`").into();
            Ok(HookAnswer::changed(event))
        })
        .serve()
}

fn plain(text: &str) -> String {
    PLAIN.iter().fold(text.to_owned(), |text, (long, short)| text.replace(long, short))
}
