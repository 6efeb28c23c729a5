//! The code of this skill, as a library: it gets every answer before the user sees it.

use metier_sdk::HookPhase;
use metier_sdk::guest::{Context, Outcome, Plugin};
use metier_sdk::wire::{HookAnswer, Manifest};

const PLAIN: [(&str, &str); 3] = [
    ("in order to", "to"),
    ("utilize", "use"),
    ("at this point in time", "now"),
];

/// The skill as a value.
#[derive(Default)]
struct This;

metier_sdk::export_skill!(This);

impl Plugin for This {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        context.hook(HookPhase::AfterResponse, |_, mut event| {
            let text = event["text"].as_str().unwrap_or_default();
            // Every second piece is code between backticks.
            let pieces = text.split('`').enumerate().map(|(number, piece)| match number % 2 {
                0 => plain(piece),
                _ => piece.to_owned(),
            });
            event["text"] = pieces.collect::<Vec<_>>().join("`").into();
            Ok(HookAnswer::changed(event))
        });
        Ok(())
    }
}

fn plain(text: &str) -> String {
    PLAIN.iter().fold(text.to_owned(), |text, (long, short)| text.replace(long, short))
}
