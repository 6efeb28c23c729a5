//! The text of an approval question: who asks, for what, and what each answer covers.

use metier_model::{
    Scope, Want,
    scope::CommandPattern,
    text::{shell_word, with_blanks_shown},
};
use metier_policy::{
    Act, ApprovalOffer, ApprovalQuestion, ApprovalSubject, ChangeKind, ChangePreview, Changes,
    Danger, LineChange, PendingAct, PreviewLine, Reply, RequestReason, RequestedPermission, plain,
};
use sha2::{Digest as _, Sha256};

use crate::text::{Tone, count, one_line};

/// Colours a text for the terminal that asks, if that has colours.
type Paint<'p> = &'p dyn Fn(&str, Tone) -> String;

/// How many files of a kind are named in a question.
const MAX_NAMED: usize = 10;
/// The number of permissions that a question lists, and the number of characters of each. One letter shows the rest.
const MAX_WANTS: usize = 20;
const MAX_SHOWN: usize = 400;
const SHOWN_END: usize = 100;
/// How the rest is shown at a terminal.
const AT_TERMINAL: &str = "type `l`";

/// The question as `metier` prints it at a terminal; [`choices`] follow. Texts of skills and models are on separate lines, with
/// control characters escaped.
///
/// ```
/// use metier::{ApprovalIdentity, ApprovalQuestion, Digest, Source, approval_text};
///
/// let identity = ApprovalIdentity { skill: "pdf".into(), source: Source::User, digest: Digest([0; 32]) };
/// let asked = ApprovalQuestion::about_permissions(identity, "/skills/pdf".into(), "s1".into(), Vec::new(), None);
/// let text = approval_text::question(&asked, false, &|text, _| text.to_owned());
/// assert!(text.contains("The skill pdf asks for permission."));
/// assert!(approval_text::choices(&asked).ends_with("Your answer? (no) "));
/// ```
pub fn question(question: &ApprovalQuestion, by_subagent: bool, paint: Paint<'_>) -> String {
    match &question.subject {
        ApprovalSubject::Permissions { asked, changes } => {
            about_permissions(question, asked, changes.as_ref(), AT_TERMINAL)
        }
        ApprovalSubject::Act(pending) => about_act(question, pending, by_subagent, paint),
    }
}

/// The question as a client of a protocol shows it: the same text as at a terminal, without colours and keys. [`client_answers`] follow.
///
/// The example of [`client_answers`] prints it.
#[must_use]
pub fn card(question: &ApprovalQuestion) -> String {
    let plain: Paint<'_> = &|text, _| text.to_owned();
    let text = match &question.subject {
        ApprovalSubject::Permissions { asked, changes } => {
            let word = shell_word(&question.identity.skill).into_owned();
            let rest = format!("run `metier permissions {word}`");
            about_permissions(question, asked, changes.as_ref(), &rest)
        }
        ApprovalSubject::Act(pending) => about_act(question, pending, false, plain),
    };
    text.trim().to_owned()
}

/// The answers that a client can choose: the reply, a word for it, and what it covers. Never one that lasts longer than the client's
/// session. The first one is the no.
///
/// ```
/// use metier::{ApprovalIdentity, ApprovalQuestion, Digest, Source, approval_text};
///
/// let identity = ApprovalIdentity { skill: "pdf".into(), source: Source::User, digest: Digest([0; 32]) };
/// let asked = ApprovalQuestion::about_permissions(identity, "/skills/pdf".into(), "s1".into(), Vec::new(), None);
/// println!("{}", approval_text::card(&asked));
/// for (reply, word, covers) in approval_text::client_answers(&asked) {
///     println!("{word}: {covers} ({reply:?})");
/// }
/// ```
#[must_use]
pub fn client_answers(question: &ApprovalQuestion) -> Vec<(Reply, &'static str, String)> {
    let is_act = matches!(question.subject, ApprovalSubject::Act(_));
    let mut answers = vec![(Reply::Deny, "no", "deny it".to_owned())];
    for offer in &question.offers {
        match offer {
            ApprovalOffer::Once if is_act => {
                answers.push((Reply::Once, "once", "only this time".to_owned()));
            }
            ApprovalOffer::Once => {
                answers.push((Reply::Once, "once", "for this call".to_owned()));
                let whole = "for this version of the skill, until this session ends";
                answers.push((Reply::Session, "session", whole.to_owned()));
            }
            ApprovalOffer::Session(want) => {
                let covered = format!("{}, until this session ends", covered(want));
                answers.push((Reply::Session, "session", covered));
            }
            ApprovalOffer::Always(_) => {}
        }
    }
    answers
}

/// The answers that a question offers, each with what it covers; they follow [`question`].
///
/// The example of [`question`] calls it.
pub fn choices(question: &ApprovalQuestion) -> String {
    let mut out = "\n".to_owned();
    let is_act = matches!(question.subject, ApprovalSubject::Act(_));
    let undo = format!(
        "undo: metier permissions {} --revoke",
        shell_word(&question.identity.skill)
    );
    for offer in &question.offers {
        let line = match offer {
            ApprovalOffer::Once if is_act => "[y]es      only this time".to_owned(),
            ApprovalOffer::Once => "[y]es      until this run of metier ends".to_owned(),
            ApprovalOffer::Session(want) => {
                format!("[s]ession  {}, until this session ends", covered(want))
            }
            ApprovalOffer::Always(wants) if is_act => {
                let wants: Vec<String> = wants.iter().map(covered).collect();
                format!("[a]lways   {}, in every project ({undo})", wants.join(", "))
            }
            ApprovalOffer::Always(_) => {
                format!("[a]lways   for this exact version of the skill ({undo})")
            }
        };
        out.push_str(&format!("  {line}\n"));
    }
    out.push_str("  [n]o\nYour answer? (no) ");
    out
}

/// The permission that an offer covers; an exact line is not repeated.
fn covered(want: &Want) -> String {
    match &want.scope {
        Scope::Command(CommandPattern::Line(_)) => "exactly this line".to_owned(),
        _ => with_blanks_shown(&want.to_string()),
    }
}

/// One act, in full.
fn about_act(
    question: &ApprovalQuestion,
    pending: &PendingAct,
    by_subagent: bool,
    paint: Paint<'_>,
) -> String {
    let who = match by_subagent {
        true => "A sub-agent",
        false => "The model",
    };
    let skill = one_line(&question.identity.skill);
    let what = match pending.act() {
        Act::Line(_) => "run this command, which can change files of the project".to_owned(),
        Act::WriteFile { content, .. } => about_write(content, pending.preview()),
        Act::FindFiles { .. } | Act::SearchFiles { .. } => "search this folder".to_owned(),
        Act::CallTool { .. } => "call this tool of an MCP server".to_owned(),
        _ => "read this file".to_owned(),
    };
    let mut out = format!("\n{who} wants to {what}, with {skill}:\n");
    for line in pending.shown().split('\n') {
        out.push_str(&format!("  | {}\n", with_blanks_shown(line)));
    }
    if let Some(preview) = pending.preview() {
        out.push_str(&changed_lines(preview, paint));
    }
    out
}

/// The effect of a write on its file.
fn about_write(content: &[u8], preview: Option<&ChangePreview>) -> String {
    let lines = content.split(|byte| *byte == b'\n').count();
    let lines = lines - usize::from(content.last() == Some(&b'\n'));
    let size = format!("{}, {} bytes", count(lines, "line"), content.len());
    match preview.map(|preview| preview.kind) {
        Some(ChangeKind::New) => format!("write this new file ({size})"),
        Some(ChangeKind::Changed { added, removed }) => {
            let added = count(added, "line");
            format!("change this file ({added} added, {removed} removed)")
        }
        Some(ChangeKind::Replaced) => format!("replace this file ({size})"),
        None => format!("write this file ({size})"),
    }
}

/// The lines that a write changes, each behind a sign.
fn changed_lines(preview: &ChangePreview, paint: Paint<'_>) -> String {
    let mut out = String::new();
    for PreviewLine { change, text } in &preview.lines {
        let line = format!("{}{text}", change.sign());
        let line = match change {
            LineChange::Place => paint(&line, Tone::Note),
            LineChange::Kept => line,
            LineChange::Added => paint(&line, Tone::Good),
            LineChange::Removed => paint(&line, Tone::Bad),
        };
        out.push_str(&format!("  |   {}\n", line.trim_end()));
    }
    if preview.more > 0 {
        out.push_str(&format!(
            "  |   … {} more {}\n",
            preview.more,
            if preview.more == 1 { "line" } else { "lines" }
        ));
    }
    out
}

/// Permissions of a skill that is about to start.
fn about_permissions(
    question: &ApprovalQuestion,
    asked: &[RequestedPermission],
    changes: Option<&Changes>,
    rest: &str,
) -> String {
    let identity = &question.identity;
    let mut out = format!(
        "\nThe skill {} asks for permission.\n  source  {}\n  place   {}\n  digest  {}\n\nIt wants to\n",
        one_line(&identity.skill),
        identity.source.as_str(),
        with_blanks_shown(&question.place),
        identity.digest,
    );
    let wants = by_danger(asked);
    for asked in wants.iter().take(MAX_WANTS) {
        out.push_str(&format!("  - {}\n", cut(want(asked), rest)));
    }
    if let [.., last, next] = &wants[..wants.len().min(MAX_WANTS + 1)]
        && wants.len() > MAX_WANTS
    {
        let alike = Danger::of(&last.want) == Danger::of(&next.want);
        let compared = if alike {
            "some of them as dangerous as these"
        } else {
            "less dangerous than these"
        };
        out.push_str(&format!(
            "  and {} more, {compared}: {rest} to list all {}\n",
            wants.len() - MAX_WANTS,
            wants.len()
        ));
    }
    if let Some(changes) = changes {
        out.push_str(&format!(
            "\nIt is not what you approved on {}:\n",
            one_line(&changes.since)
        ));
        out.push_str(&differences(changes, rest));
    }
    out
}

/// The worst first; what is alike stays in the order in which the skill asks for it.
fn by_danger(asked: &[RequestedPermission]) -> Vec<&RequestedPermission> {
    let mut wants: Vec<&RequestedPermission> = asked.iter().collect();
    wants.sort_by_key(|asked| Danger::rank(&asked.want));
    wants
}

/// A requested permission in full.
fn want(asked: &RequestedPermission) -> String {
    let why = match &asked.why {
        RequestReason::Declared | RequestReason::InProject | RequestReason::OnUse => String::new(),
        RequestReason::Inferred => "  (inferred: the skill declares no permissions)".to_owned(),
        RequestReason::Configured(entry) => format!(
            "  (from your configuration: skills.entries.{})",
            one_line(entry)
        ),
        RequestReason::Hooks => "  (for its hooks, which also run without it)".to_owned(),
    };
    format!("{}{why}", plain(&asked.want))
}

/// All requested permissions in full, where [`question`] shows the first ones.
///
/// [`question`] has an example of a question; its subject contains the permissions.
pub fn all_wants(asked: &[RequestedPermission]) -> String {
    let lines = by_danger(asked).into_iter().enumerate();
    let lines = lines.map(|(at, asked)| format!("  {}. {}\n", at + 1, want(asked)));
    format!("\nIt wants to\n{}", lines.collect::<String>())
}

/// The beginning and the end of a long text, with how much is missing and a hash of the whole, so that two that differ in the
/// middle differ here too.
fn cut(text: String, rest: &str) -> String {
    let letters = text.chars().count();
    if letters <= MAX_SHOWN {
        return text;
    }
    let start: String = text.chars().take(MAX_SHOWN - SHOWN_END).collect();
    let end: String = text.chars().skip(letters - SHOWN_END).collect();
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!(
        "{start} […{} more characters, {rest} to see them; sha256 {hash}…] {end}",
        letters - MAX_SHOWN
    )
}

/// The differences between the approved bytes and the current ones, one per line; part of [`question`].
///
/// ```
/// let changes = metier::Changes { since: "2026-01-02T03:04:05Z".into(), added: vec!["run.sh".into()], ..metier::Changes::default() };
/// assert_eq!(metier::approval_text::difference(&changes), "  new file: run.sh\n");
/// ```
pub fn difference(changes: &Changes) -> String {
    differences(changes, AT_TERMINAL)
}

fn differences(changes: &Changes, rest: &str) -> String {
    let kinds = [
        ("new permission", &changes.new_permissions),
        ("permission no longer requested", &changes.gone_permissions),
        ("new file", &changes.added),
        ("file removed", &changes.removed),
        ("file changed", &changes.changed),
    ];
    let mut out = String::new();
    for (kind, things) in kinds {
        for thing in things.iter().take(MAX_NAMED) {
            out.push_str(&format!(
                "  {kind}: {}\n",
                cut(with_blanks_shown(thing), rest)
            ));
        }
        if things.len() > MAX_NAMED {
            out.push_str(&format!(
                "  {kind}: and {} more\n",
                things.len() - MAX_NAMED
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::{Digest, Source};
    use metier_policy::Identity;

    fn about(
        identity: Identity,
        place: &str,
        asked: Vec<RequestedPermission>,
        changes: Option<Changes>,
    ) -> ApprovalQuestion {
        let (place, session) = (place.to_owned(), "s".to_owned());
        ApprovalQuestion::about_permissions(identity, place, session, asked, changes)
    }

    // case 228
    #[test]
    fn a_question_names_the_settings_that_a_value_comes_from() {
        let asked = RequestedPermission {
            want: "env:read(PALETTE)".parse().expect("a permission"),
            why: RequestReason::Configured("github".into()),
        };
        let shown = all_wants(&[asked]);
        assert!(
            shown.contains("(from your configuration: skills.entries.github)"),
            "{shown}"
        );
    }

    // case 61, 127
    #[test]
    fn a_question_cannot_be_spoofed() {
        let identity = Identity {
            skill: "x\u{1b}[2Jy\nIt wants nothing".into(),
            source: Source::Project,
            digest: Digest([1; 32]),
        };
        let asked = [RequestedPermission {
            want: "shell:exec(echo a\\n\u{202e}rm -rf ~)"
                .parse()
                .expect("a permission"),
            why: RequestReason::Inferred,
        }];
        let changes = Changes {
            since: "2026-01-02T03:04:05Z".into(),
            changed: vec!["a\u{7}.sh".into()],
            ..Changes::default()
        };
        let asked = about(identity, "/p\r/q", asked.to_vec(), Some(changes));
        let text = question(&asked, false, &|text, _| text.to_owned());
        assert!(
            !text.contains(['\u{1b}', '\u{7}', '\r', '\u{202e}']),
            "{text:?}"
        );
        assert!(
            text.contains("  - run: echo a\\n\\u{202e}rm -rf ~  (inferred"),
            "{text}"
        );
        assert!(
            text.contains("The skill x\\u{1b}[2Jy It wants nothing asks"),
            "{text}"
        );
        assert!(choices(&asked).ends_with("Your answer? (no) "), "{text}");
    }

    // case 127
    #[test]
    fn what_is_dangerous_is_not_behind_what_is_harmless() {
        let identity = Identity {
            skill: "x".into(),
            source: Source::User,
            digest: Digest([1; 32]),
        };
        let asked = |text: &str| RequestedPermission {
            want: text.parse().expect("a permission"),
            why: RequestReason::Declared,
        };
        let mut wants: Vec<RequestedPermission> = (0..398)
            .map(|at| asked(&format!("file:read(./docs/{at}.md)")))
            .collect();
        wants.push(asked("file:read(~/**)"));
        let long = format!("shell:exec(echo {}; rm -r x)", "y".repeat(2_000));
        wants.push(asked(&long));
        let asked = about(identity, "/p", wants.clone(), None);
        let shown = question(&asked, false, &|text, _| text.to_owned());
        let lines: Vec<&str> = shown
            .lines()
            .filter(|line| line.starts_with("  - "))
            .collect();
        assert_eq!(lines.len(), MAX_WANTS);
        assert_eq!(lines[0], "  - read files: ~/**");
        assert!(lines[1].starts_with("  - run: echo yyy") && lines[1].ends_with("; rm -r x"));
        assert!(lines[1].contains("more characters, type `l` to see them; sha256 "));
        assert!(shown.contains(
            "  and 380 more, some of them as dangerous as these: type `l` to list all 400\n"
        ));
        let all = all_wants(&wants);
        assert_eq!(all.lines().count(), 402);
        assert!(all.contains(&"y".repeat(2_000)));
    }

    // case 127
    #[test]
    fn what_is_alike_is_not_called_less_dangerous() {
        let asked = |text: String| RequestedPermission {
            want: text.parse().expect("a permission"),
            why: RequestReason::Declared,
        };
        let shown = |wants: &[RequestedPermission]| {
            let identity = Identity {
                skill: "x".into(),
                source: Source::User,
                digest: Digest([1; 32]),
            };
            question(
                &about(identity, "/p", wants.to_vec(), None),
                false,
                &|text, _| text.to_owned(),
            )
        };
        let files = (0..MAX_WANTS).map(|at| format!("file:read(~/{at})"));
        let wide = ["file:read(./**)".to_owned(), "file:read(~/**)".to_owned()];
        let mut wants: Vec<RequestedPermission> = files.chain(wide).map(asked).collect();
        let text = shown(&wants);
        let first = text.lines().find(|line| line.starts_with("  - "));
        assert_eq!(first, Some("  - read files: ~/**"));
        assert!(
            text.contains("  and 2 more, some of them as dangerous as these"),
            "{text}"
        );
        wants.remove(0);
        let text = shown(&wants);
        assert!(
            text.contains("  and 1 more, less dangerous than these"),
            "{text}"
        );
    }
}
