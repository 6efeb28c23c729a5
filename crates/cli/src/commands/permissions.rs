//! `metier permissions`

use std::process::ExitCode;

use metier_model::{Want, text::shell_word};
use metier_policy::{Asked, Identity, Request, Why, plain};
use metier_runtime::{
    desk::{self, Subject},
    permissions as asked, premises,
};
use metier_store::{Answer, Store};
use metier_wire::{AnswersDocument, PermissionRow, SkillPermissions};

use crate::{
    commands::find_usable,
    failure::Failure,
    office::{Office, meant_by_name, terms},
    output::{Tone, one_line},
    session::Session,
};

/// Show, give and take back what skills may do
///
/// Without a name: everything that was ever answered. With one: what the skill asks for and what it was given, for exactly
/// the bytes that it has now. An approval ends when the skill changes.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: Option<String>,
    /// Allow this, such as `shell:exec(git *)`; without a value, everything that it asks for
    #[arg(long, value_name = "P", num_args = 0.., requires = "name", conflicts_with_all = ["revoke", "deny"])]
    approve: Option<Vec<String>>,
    /// Never allow this; without a value, everything that it asks for
    #[arg(long, value_name = "P", num_args = 0.., requires = "name", conflicts_with = "revoke")]
    deny: Option<Vec<String>>,
    /// Forget what was answered about this; without a value, all of it
    #[arg(long, value_name = "P", num_args = 0.., requires = "name")]
    revoke: Option<Vec<String>>,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let Some(name) = &args.name else {
        return list(session);
    };
    let inventory = session.inventory()?;
    if let Some(permissions) = &args.revoke {
        return revoke(session, name, permissions);
    }
    let entry = inventory.entry(find_usable(session, &inventory, name)?);
    let loaded = session.load(&inventory, entry)?;
    let request = asked::everything(&loaded, &session.config);
    let answer = match (&args.approve, &args.deny) {
        (Some(permissions), _) => Some((permissions, Answer::Allowed)),
        (_, Some(permissions)) => Some((permissions, Answer::Denied)),
        _ => None,
    };
    let identity = premises::identity(&loaded);
    if let Some((permissions, answer)) = answer {
        let asked = chosen(&request, permissions)?;
        let place = entry.place.path();
        let subject = Subject {
            identity: &identity,
            place: &place.to_string_lossy(),
            held: &loaded.held,
        };
        Office::open(session)?
            .desk()
            .remember(&subject, &asked, answer, "command")?;
    }
    if desk::is_approved_elsewhere(&identity, &session.config.approved) {
        session.output.note(&meant_by_name(entry));
    }
    show(session, &identity, &request)
}

/// What was named, or everything that is asked for.
fn chosen(request: &Request, permissions: &[String]) -> Result<Vec<Asked>, Failure> {
    if permissions.is_empty() {
        return Ok(request.iter().cloned().collect());
    }
    let read = |text: &String| {
        let want: Want = text.parse().map_err(|error: metier_model::WantError| {
            Failure::broken("usage", error.to_string())
                .hint("write it as in `shell:exec(git *)` or `net:fetch(api.github.com)`")
        })?;
        Ok(Asked {
            want,
            why: Why::Declared,
        })
    };
    permissions.iter().map(read).collect()
}

fn revoke(session: &Session, name: &str, permissions: &[String]) -> Result<ExitCode, Failure> {
    let store = match &session.machine.database {
        Some(database) => Store::open_existing(database)?,
        None => None,
    };
    let name = name.rsplit_once(':').map_or(name, |(_, name)| name);
    let mut removed = 0;
    if let Some(store) = &store {
        if permissions.is_empty() {
            removed += store.revoke_approvals(name, None)?;
        }
        for permission in permissions {
            removed += store.revoke_approvals(name, Some(permission))?;
        }
    }
    if session.output.is_json() {
        return list(session);
    }
    let text = match removed {
        0 => format!("nothing was remembered about {}\n", one_line(name)),
        _ => format!(
            "{} forgotten: {}\n",
            session.output.paint("✓", Tone::Good),
            crate::output::count(removed, "answer")
        ),
    };
    session.output.report(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The permissions of a skill with what was decided about each.
pub(super) fn rows(
    session: &Session,
    identity: &Identity,
    request: &Request,
) -> Result<Vec<PermissionRow>, Failure> {
    let store = match &session.machine.database {
        Some(database) => Store::open_existing(database)?,
        None => None,
    };
    let (now, approved) = (&session.global.approve_skills, &session.config.approved);
    let terms = terms(session);
    let standing = desk::standing(store.as_ref(), identity, request, &terms, now, approved)?;
    let row = |(want, decision): (Want, metier_policy::Decision)| PermissionRow {
        permission: want.to_string(),
        state: match decision {
            metier_policy::Decision::Allow => "allowed",
            metier_policy::Decision::Ask => "ask",
            metier_policy::Decision::Deny => "denied",
        },
        means: plain(&want),
    };
    Ok(standing.into_iter().map(row).collect())
}

fn show(session: &Session, identity: &Identity, request: &Request) -> Result<ExitCode, Failure> {
    let rows = rows(session, identity, request)?;
    let output = &session.output;
    if output.is_json() {
        output.document(&SkillPermissions {
            name: &identity.skill,
            source: identity.source.as_str(),
            digest: identity.digest.to_string(),
            permissions: rows,
        })?;
        return Ok(ExitCode::SUCCESS);
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
        output.note(&format!("{} asks for nothing", one_line(&identity.skill)));
    } else if rows.iter().any(|row| row.state == "ask") {
        output.note(&format!(
            "allow all of it with `metier permissions {word} --approve`"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(session: &Session) -> Result<ExitCode, Failure> {
    let store = match &session.machine.database {
        Some(database) => Store::open_existing(database)?,
        None => None,
    };
    let approvals = store.map_or(Ok(Vec::new()), |store| store.all_approvals())?;
    let output = &session.output;
    if output.is_json() {
        let approvals = approvals.into_iter().map(Into::into).collect();
        output.document(&AnswersDocument { approvals })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for approval in &approvals {
        let state = match approval.decision {
            Answer::Allowed => output.paint("allowed", Tone::Good),
            Answer::Denied => output.paint("denied ", Tone::Bad),
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
        output.note("nothing was approved or denied yet");
    }
    Ok(ExitCode::SUCCESS)
}
