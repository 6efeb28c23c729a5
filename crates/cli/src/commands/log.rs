//! `metier log`

use std::time::{Duration, SystemTime};

use metier::{
    receipts::{ReceiptQuery, Verified},
    text::{ago, duration},
};
use metier_wire::{LogDocument, ReceiptRow};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Show what skills did, and what was refused
///
/// Every act of a skill leaves a receipt, allowed or not, with the digest of the skill. It is written before the act starts
/// and completed when it ends; until then it is `begun`. --verbose prints exact times. Receipts form a hash chain that reveals a changed or missing receipt: --verify
/// checks all of them, including older ones in files next to the database.
#[derive(clap::Args)]
pub(crate) struct LogArgs {
    /// Only the receipts of this skill
    name: Option<String>,
    /// Only since this time: `2026-01-31`, `2026-01-31T09:00:00Z`, or an age such as `10m`, `3h`, `7d`
    #[arg(long, value_name = "T")]
    since: Option<String>,
    /// Show at most this many, the newest first; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Check that no receipt was changed or removed
    #[arg(long)]
    verify: bool,
}

pub(crate) fn run(run: &CliRun, args: &LogArgs) -> Result<Exit, Failure> {
    let since = args
        .since
        .as_deref()
        .map(|text| time(run, text))
        .transpose()?;
    let query = ReceiptQuery {
        skill: args.name.clone(),
        since,
        limit: (args.limit > 0).then_some(args.limit),
    };
    let receipts = run.receipts(&query)?;
    let verified = args.verify.then(|| run.verify_receipts()).transpose()?;
    let rows: Vec<ReceiptRow> = receipts.iter().map(ReceiptRow::from).collect();
    let whole = verified
        .as_ref()
        .map(|verified| matches!(verified, Verified::Whole { .. }));
    if run.output.is_json() {
        run.output.document(&LogDocument {
            receipts: rows,
            whole,
        })?;
    } else {
        let text: String = rows.iter().map(|row| line(run, row)).collect();
        run.output.report(&text)?;
        if rows.is_empty() {
            nothing(run, args)?;
        }
        match &verified {
            Some(Verified::Whole { count }) => run
                .output
                .say(&format!("all {count} receipts are unchanged")),
            Some(Verified::Broken { id, why }) => run.output.say(&format!(
                "{} receipt {id}: {why}",
                run.output.paint_talk("broken:", Tone::Bad)
            )),
            None => {}
        }
    }
    Ok(Exit::unmet_if(whole == Some(false)))
}

fn line(run: &CliRun, row: &ReceiptRow) -> String {
    let output = &run.output;
    let mark = match (row.decision, row.outcome) {
        ("refused", _) => output.paint("✗ refused", Tone::Bad),
        (_, Some("begun")) => output.paint("… begun  ", Tone::Warn),
        (_, Some("ok")) => output.paint("✓ ok     ", Tone::Good),
        (_, Some("timeout")) => output.paint("! timeout", Tone::Warn),
        _ => output.paint("! error  ", Tone::Warn),
    };
    let sandbox = match row.sandbox.as_deref() {
        Some("unsandboxed") => " UNSANDBOXED",
        _ => "",
    };
    let reason = row
        .reason
        .as_deref()
        .map(|reason| format!("\n    {}", one_line(reason)))
        .unwrap_or_default();
    let times = match row.count {
        1 => String::new(),
        count => format!(" {count} times"),
    };
    let note = match row.note.as_str() {
        "" => String::new(),
        note => format!(", {}", one_line(note)),
    };
    let at = match output.is_verbose() {
        true => row.at.clone(),
        false => ago(run.machine().now, &row.at),
    };
    format!(
        "{} {mark}{times} {} {} {} ({}{note}{sandbox}){reason}\n",
        output.paint(&format!("{at:<11}"), Tone::Faint),
        output.paint(&one_line(&row.skill), Tone::Strong),
        row.act,
        one_line(&row.detail),
        duration(Duration::from_millis(row.ms)),
    )
}

/// Why nothing is shown. An unknown skill is an error: a typo must not look like a skill that did nothing.
fn nothing(run: &CliRun, args: &LogArgs) -> Result<(), Failure> {
    let since = args.since.as_ref().map_or("", |_| " since then");
    if let Some(name) = &args.name {
        run.lookup(&run.skills()?, name)?;
        run.output
            .note(&format!("no receipts of `{}`{since}", one_line(name)));
    } else {
        run.output.note(&format!("no receipts{since}"));
    }
    Ok(())
}

/// A time, a day, or an age.
fn time(run: &CliRun, text: &str) -> Result<SystemTime, Failure> {
    let moment = humantime::parse_rfc3339_weak(text)
        .or_else(|_| humantime::parse_rfc3339_weak(&format!("{text} 00:00:00")))
        .ok()
        .or_else(|| {
            humantime::parse_duration(text)
                .ok()
                .and_then(|ago| run.machine().now.checked_sub(ago))
        });
    moment.ok_or_else(|| {
        Failure::broken("usage", format!("`{}` is not a time", one_line(text)))
            .hint("write 2026-01-31, 2026-01-31T09:00:00Z, or an age such as 10m, 3h, 7d")
    })
}
