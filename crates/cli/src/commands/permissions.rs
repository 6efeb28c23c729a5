//! `metier permissions`

use metier::{
    Digest,
    permissions::{ApprovalDecision, PermissionReport},
    text::shell_word,
};
use metier_wire::{AnswersDocument, SkillPermissions};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Show, approve and revoke the permissions of skills
///
/// Without a name, shows every answer so far; with one, the permissions that the skill asks for, each with your answer, for exactly
/// the bytes that it has now. An approval ends when the skill changes; a denial stays until you revoke it.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("decision").args(["approve", "deny"])))]
pub(crate) struct PermissionsArgs {
    /// The skill
    name: Option<String>,
    /// Allow this, such as `shell:exec(git *)`; without a value, everything that it asks for and that you did not deny
    #[arg(long, value_name = "P", num_args = 0.., requires = "name", conflicts_with_all = ["revoke", "deny"])]
    approve: Option<Vec<String>>,
    /// Never allow this, even if the skill changes; without a value, everything that it asks for
    #[arg(long, value_name = "P", num_args = 0.., requires = "name", conflicts_with = "revoke")]
    deny: Option<Vec<String>>,
    /// Forget the answer about this; without a value, all answers. A skill with its source, as in `project:deploy`, means that source
    /// only
    #[arg(long, value_name = "P", num_args = 0.., requires = "name")]
    revoke: Option<Vec<String>>,
    /// Decide only if the skill still has this digest
    #[arg(
        long,
        value_name = "DIGEST",
        requires_all = ["name", "decision"],
        conflicts_with = "revoke"
    )]
    digest: Option<Digest>,
}

pub(crate) fn run(run: &CliRun, args: &PermissionsArgs) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        return list(run);
    };
    let (permissions, decision) = match (&args.revoke, &args.approve, &args.deny) {
        (Some(permissions), ..) => return revoke(run, name, permissions),
        (_, Some(permissions), _) => (permissions, ApprovalDecision::Allowed),
        (_, _, Some(permissions)) => (permissions, ApprovalDecision::Denied),
        _ => return show(run, &run.permissions(name)?),
    };
    let seen = args.digest.map_or_else(
        || Ok(run.permissions(name)?.identity.digest),
        Ok::<_, Failure>,
    );
    show(
        run,
        &run.answer_permissions(name, &seen?, permissions, decision)?,
    )
}

fn revoke(run: &CliRun, name: &str, permissions: &[String]) -> Result<Exit, Failure> {
    let removed = run.forget_answers(name, permissions)?;
    if run.output.is_json() {
        return list(run);
    }
    let text = match removed {
        0 => format!("no stored answers for {}\n", one_line(name)),
        _ => format!(
            "{} revoked {}\n",
            run.output.paint("✓", Tone::Good),
            count(removed, "answer")
        ),
    };
    run.output.report(&text)?;
    Ok(Exit::Ok)
}

fn show(run: &CliRun, asked: &PermissionReport) -> Result<Exit, Failure> {
    let identity = &asked.identity;
    let rows = SkillPermissions::from(asked).permissions;
    let output = &run.output;
    if output.is_json() {
        output.document(&SkillPermissions::from(asked))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for row in &rows {
        let state = match row.state {
            "allowed" => output.paint("allowed", Tone::Good),
            "denied" => output.paint("denied ", Tone::Bad),
            _ => output.paint("ask    ", Tone::Warn),
        };
        text.push_str(&format!(
            "{state}  {}  {}\n",
            one_line(&row.permission),
            output.paint(&row.means, Tone::Faint)
        ));
    }
    output.report(&text)?;
    let word = shell_word(&identity.skill);
    if rows.is_empty() {
        output.note(&format!(
            "{} requests no permissions",
            one_line(&identity.skill)
        ));
    } else if rows.iter().any(|row| row.state == "ask") {
        output.note(&format!(
            "allow all of it with `metier permissions {word} --approve`"
        ));
    }
    Ok(Exit::Ok)
}

fn list(run: &CliRun) -> Result<Exit, Failure> {
    let approvals = run.answers()?;
    let output = &run.output;
    if output.is_json() {
        let approvals = approvals.into_iter().map(Into::into).collect();
        output.document(&AnswersDocument { approvals })?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for approval in &approvals {
        let state = match approval.decision {
            ApprovalDecision::Allowed => output.paint("allowed", Tone::Good),
            ApprovalDecision::Denied => output.paint("denied ", Tone::Bad),
        };
        let digest = approval.digest.get(..19).unwrap_or(&approval.digest);
        text.push_str(&format!(
            "{state}  {} ({}) {}  {}\n",
            one_line(&approval.skill),
            approval.source,
            one_line(&approval.permission),
            output.paint(
                &format!("{digest}… since {} by {}", approval.at, approval.by),
                Tone::Faint
            )
        ));
    }
    output.report(&text)?;
    if approvals.is_empty() {
        output.note("no permission was approved or denied yet");
    }
    Ok(Exit::Ok)
}
