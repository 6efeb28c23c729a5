//! `metier publish`

use std::path::PathBuf;

use metier::distribution::registry::{PublishOptions, PublishStatus};
use metier_wire::PublishDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
    password,
};

/// Pack a skill and publish it in a registry
///
/// A version never changes once it is published: publishing the same bytes again is fine, other bytes need a new version. The registry scans the
/// package; one with a critical finding is kept but not served. Run `metier login` first.
#[derive(clap::Args)]
pub(crate) struct PublishArgs {
    /// The folder or the name of the skill, or a .skill file
    #[arg(value_name = "SKILL")]
    skill: String,
    /// The registry [default: the first one of `skills.registry_url`]
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// Sign the package with your key
    #[arg(long)]
    sign: bool,
    /// The file of the secret key [default: the one that `metier keygen` created]
    #[arg(long, value_name = "FILE", requires = "sign")]
    key: Option<PathBuf>,
    /// Read the password of the key from the first line of this file
    #[arg(long, value_name = "FILE", requires = "sign")]
    password_file: Option<PathBuf>,
    /// For administrators: accept a name that resembles another skill's
    #[arg(long)]
    allow_similar: bool,
    /// Pack and check the skill, but send nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &PublishArgs) -> Result<Exit, Failure> {
    let options = PublishOptions {
        registry: args.registry.clone(),
        sign: args.sign,
        key: args.key.clone(),
        allow_similar: args.allow_similar,
        dry_run: args.dry_run,
    };
    let report = run.publish(&args.skill, &options, &mut || {
        password::existing(run, args.password_file.as_deref())
    })?;
    let output = &run.output;
    let answer = report.answer.as_ref();
    let is_kept = answer.is_some_and(|answer| answer.status == PublishStatus::Quarantined);
    let exit = Exit::unmet_if(is_kept);
    if output.is_json() {
        output.document(&PublishDocument::new(&report))?;
        return Ok(exit);
    }
    let registry = one_line(&report.registry);
    let Some(answer) = answer else {
        let line = format!("{} bytes would be sent to {registry}\n", report.size);
        output.report(&line)?;
        return Ok(exit);
    };
    let title = one_line(&format!("{} {}", answer.name, answer.version));
    let mut text = match answer.status {
        PublishStatus::Published => {
            let sign = output.paint("✓", Tone::Good);
            format!("{sign} published {title} in {registry}\n")
        }
        PublishStatus::Unchanged => {
            format!("{title} is published in {registry} with these bytes\n")
        }
        PublishStatus::Quarantined => {
            let sign = output.paint("✗", Tone::Bad);
            format!("{sign} {title} is quarantined in {registry}: it is not served\n")
        }
    };
    text.push_str(&format!("  {}\n", one_line(&answer.archive)));
    if let Some(signer) = &report.signer {
        text.push_str(&format!("  signed by {}\n", one_line(signer)));
    }
    for finding in &answer.findings {
        let line = format!(
            "{} {}:{}: {} ({})",
            finding.severity, finding.file, finding.line, finding.message, finding.rule
        );
        text.push_str(&format!("  {}\n", one_line(&line)));
    }
    output.report(&text)?;
    Ok(exit)
}
