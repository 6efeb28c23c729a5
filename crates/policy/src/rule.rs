//! The ruling: a request and the answers to it become a grant, a question or a refusal.
//!
//! Nothing that a skill requests is granted silently. A permission is allowed when the user or the user's
//! configuration allowed it for exactly these bytes; one denial overrides any number of approvals; a permission
//! without an answer is a question, when the skill starts or, for metier's own tools, on each use (`on_use.rs`).

use metier_model::{Digest, Permission, Scope, Source, Want, scope::CommandPattern, shell};

use crate::{
    Decision,
    grant::{Grant, GrantTerms},
    plain::might_run_a_value,
    request::{PermissionRequest, RequestReason, RequestedPermission},
};

/// A skill, with its exact bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name of the skill.
    pub skill: Box<str>,
    /// Its source: the same name from another source is another skill.
    pub source: Source,
    /// The digest of its exact bytes.
    pub digest: Digest,
}

/// The user's answer about a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionAnswer {
    /// The permission with its scope.
    pub want: Want,
    /// `Allow` or `Deny`; `Ask` is not an answer.
    pub decision: Decision,
}

/// The result of a request.
#[derive(Debug)]
pub enum Ruling {
    /// Everything was allowed, except optional permissions that were denied.
    Granted(Box<Grant>),
    /// The user must be asked about these.
    Ask(Vec<RequestedPermission>),
    /// These permissions were denied.
    Denied(Vec<RequestedPermission>),
}

/// The decision about one permission.
#[must_use]
pub fn decide(want: &Want, answers: &[PermissionAnswer]) -> Decision {
    let denied = |answer: &&PermissionAnswer| {
        answer.decision == Decision::Deny
            && (answer.want.covers(want) || denies_line(&answer.want, want))
    };
    // A permission for all variables covers those without secrets: a secret requires a permission that names it.
    let named = |answer: &PermissionAnswer| {
        want.permission != Permission::EnvRead
            || want.scope == Scope::All
            || answer.want.scope != Scope::All
    };
    // A line that might run its input is not covered by an approval of every command: the user has not seen the line.
    let seen = |answer: &PermissionAnswer| {
        want.permission != Permission::ShellExec
            || answer.want.scope != Scope::All
            || !might_run_a_value(&want.scope)
    };
    let allowed = |answer: &&PermissionAnswer| {
        answer.decision == Decision::Allow
            && answer.want.covers(want)
            && named(answer)
            && seen(answer)
    };
    if answers.iter().any(|answer| denied(&answer)) {
        Decision::Deny
    } else if answers.iter().any(|answer| allowed(&answer)) {
        Decision::Allow
    } else {
        Decision::Ask
    }
}

/// Whether the denial of a line covers another line, in which its commands are spaced or quoted differently.
fn denies_line(denial: &Want, want: &Want) -> bool {
    let (
        Scope::Command(denial @ CommandPattern::Line(_)),
        Scope::Command(CommandPattern::Line(line)),
    ) = (&denial.scope, &want.scope)
    else {
        return false;
    };
    let denied = denial.denied_commands().unwrap_or_default();
    let Ok(line) = shell::parse(line) else {
        return false;
    };
    let mut could_run = line.could_run().into_iter();
    could_run.any(|command| denied.iter().any(|pattern| pattern.denies(&command)))
}

/// Rules on a request. Optional permissions that were denied are dropped. What the user allowed beyond the request is
/// granted too: that was the user's decision; what the user denied stays denied within whatever was allowed.
#[must_use]
pub fn rule(
    identity: Identity,
    request: &PermissionRequest,
    answers: &[PermissionAnswer],
    terms: GrantTerms,
) -> Ruling {
    let decision = |asked: &RequestedPermission| match (decide(&asked.want, answers), &asked.why) {
        (Decision::Ask, RequestReason::InProject) => Decision::Allow,
        (decision, _) => decision,
    };
    let starts = request.iter().filter(|asked| {
        // A denial of one of these denies the act.
        !matches!(asked.why, RequestReason::OnUse | RequestReason::InProject)
    });
    let starts: Vec<&RequestedPermission> = starts.collect();
    let with = |wanted: Decision| -> Vec<RequestedPermission> {
        let decided = starts.iter().filter(|asked| decision(asked) == wanted);
        decided.map(|asked| (*asked).clone()).collect()
    };
    let (mut denied, open) = (with(Decision::Deny), with(Decision::Ask));
    // It continues without optional permissions; none of them is granted.
    denied.retain(|asked| !asked.why.is_optional());
    if !denied.is_empty() {
        return Ruling::Denied(denied);
    }
    if !open.is_empty() {
        return Ruling::Ask(open);
    }
    let said = |decision| {
        let answers = answers
            .iter()
            .filter(move |answer| answer.decision == decision);
        answers.map(|answer| answer.want.clone())
    };
    let decided = |wanted: Decision| {
        let asked = request
            .iter()
            .filter(move |asked| decision(asked) == wanted);
        asked.map(|asked| asked.want.clone())
    };
    let mut allowed: Vec<Want> = decided(Decision::Allow)
        .chain(said(Decision::Allow))
        .collect();
    allowed.sort();
    allowed.dedup();
    let on_use = decided(Decision::Ask).collect();
    let grant = Grant::mint(identity, allowed, said(Decision::Deny).collect(), terms);
    Ruling::Granted(Box::new(grant.asking_on_use(on_use)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Rates;

    // case 159
    #[test]
    fn what_is_optional_is_asked_for_and_left_out_when_it_is_denied() {
        let want = |text: &str| text.parse::<Want>().unwrap();
        let asked = |text: &str, why| RequestedPermission {
            want: want(text),
            why,
        };
        let request = PermissionRequest::new([
            asked("shell:exec(./check.sh)", RequestReason::Inferred),
            asked("file:read(./**)", RequestReason::Hooks),
        ]);
        let identity = || Identity {
            skill: "x".into(),
            source: Source::User,
            digest: Digest([0; 32]),
        };
        let terms = || GrantTerms {
            rates: Rates {
                shell_exec: 1,
                net_fetch: 1,
                llm_call: 1,
            },
            shell_timeout: Duration::ZERO,
            fetch_timeout: Duration::ZERO,
            prefixes: None,
            project: "/p".into(),
            home: None,
        };
        let answer = |text: &str, decision| PermissionAnswer {
            want: want(text),
            decision,
        };
        let run = answer("shell:exec(./check.sh)", Decision::Allow);
        let open = rule(identity(), &request, std::slice::from_ref(&run), terms());
        assert!(
            matches!(&open, Ruling::Ask(open) if open.len() == 1),
            "{open:?}"
        );
        let no = answer("file:read(./**)", Decision::Deny);
        match rule(identity(), &request, &[run.clone(), no.clone()], terms()) {
            Ruling::Granted(grant) => {
                assert_eq!(grant.allowed(), std::slice::from_ref(&run.want));
                assert_eq!(grant.denied(), std::slice::from_ref(&no.want));
            }
            other => panic!("{other:?}"),
        }
        let never = answer("shell:exec(./check.sh)", Decision::Deny);
        let refused = rule(identity(), &request, &[never], terms());
        assert!(matches!(refused, Ruling::Denied(_)), "{refused:?}");
    }

    // case 168
    #[test]
    fn a_line_that_might_run_a_value_is_approved_by_itself() {
        for line in [
            "jobs -x $ARGUMENTS",
            "sqlite3 x \"$query\"",
            "printf %s \"$text\" | tee \"$TMPDIR/x.sh\"; sh \"$TMPDIR/x.sh\"",
            "echo \"$text\" | python3 /dev/stdin",
        ] {
            let line: Want = format!("shell:exec({line})").parse().unwrap();
            let said = |want: &Want| {
                let want = want.clone();
                let decision = Decision::Allow;
                [PermissionAnswer { want, decision }]
            };
            let all: Want = "shell:exec".parse().unwrap();
            assert_eq!(decide(&line, &said(&all)), Decision::Ask, "{line}");
            assert_eq!(decide(&line, &said(&line)), Decision::Allow, "{line}");
            let harmless: Want = "shell:exec(gh pr view $ARGUMENTS)".parse().unwrap();
            assert_eq!(decide(&harmless, &said(&all)), Decision::Allow);
        }
    }

    // case 213
    #[test]
    fn a_denied_line_stays_denied_when_its_spacing_changes() {
        let denied: Want = "shell:exec(git log | head)".parse().unwrap();
        let decision = Decision::Deny;
        let answers = [PermissionAnswer {
            want: denied,
            decision,
        }];
        for (line, expected) in [
            ("git log | head", Decision::Deny),
            ("git log |head", Decision::Deny),
            ("git  log | head -3", Decision::Deny),
            ("ls | tail", Decision::Ask),
        ] {
            let want: Want = format!("shell:exec({line})").parse().unwrap();
            assert_eq!(decide(&want, &answers), expected, "{line}");
        }
    }

    // case 101
    #[test]
    fn a_value_is_handed_out_only_to_whom_it_was_named() {
        let check = |want: &str, said: &str, decision: Decision, expected: Decision| {
            let (want, said): (Want, Want) = (want.parse().unwrap(), said.parse().unwrap());
            let answers = [PermissionAnswer {
                want: said,
                decision,
            }];
            assert_eq!(decide(&want, &answers), expected, "{want}: {answers:?}");
        };
        check("env:read(KEY)", "env:read", Decision::Allow, Decision::Ask);
        check("env:read(KEY)", "env:read", Decision::Deny, Decision::Deny);
        check(
            "env:read(KEY)",
            "env:read(KEY)",
            Decision::Allow,
            Decision::Allow,
        );
        check("env:read", "env:read", Decision::Allow, Decision::Allow);
        check(
            "env:write(KEY)",
            "env:write",
            Decision::Allow,
            Decision::Allow,
        );
    }
}
