//! Matches rules about sentences, hidden characters and patterns, and adjusts severities to the context.

use std::{collections::BTreeSet, rc::Rc};

use metier_model::model_text::chat_token_at;

use crate::{
    flow::{ActKind, ProgramAct, RemoteHost, Taint},
    input::DeclaredFacts,
    prose::{ClassSet, MarkdownDocument, PhraseClass as C, Sentence, SentenceRole},
    report::{Finding, FindingLocation, FindingSeverity, FoundBy},
    rule::{Category, FileOddity, RuleCondition, ScanRule},
    rules,
    scan::SkillScanner,
    text::hidden::{self, HiddenKind},
    texts::{TextOrigin, Texts},
};

/// The number of neighbouring sentences in a passage.
const PASSAGE: usize = 6;
/// The number of blocks that a passage can span.
const BLOCKS: u32 = 4;

/// The hosts that the skill introduces.
pub(crate) struct DeclaredContext {
    words: BTreeSet<String>,
    homepage: Option<RemoteHost>,
}

impl DeclaredContext {
    pub(crate) fn new(about: &DeclaredFacts<'_>) -> Self {
        // A command does not introduce its hosts.
        let outside = |part: &(usize, &str)| part.0.is_multiple_of(2);
        let parts = about.description.split('`').enumerate().filter(outside);
        let prose: Vec<&str> = parts.map(|(_, part)| part).collect();
        let all = format!("{} {}", about.name, prose.join(" ")).to_lowercase();
        let words = all
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() >= 3)
            .map(str::to_owned)
            .collect();
        Self {
            words,
            homepage: RemoteHost::of(about.homepage),
        }
    }

    /// Whether the skill introduces this host: its name, description or homepage contains the name of the host's owner. Any name is
    /// available below a rarely used top-level domain, so the author of a skill can register exactly the right one: there only the homepage
    /// counts.
    pub(crate) fn is_related(&self, host: &RemoteHost) -> bool {
        let owner = host.owner();
        if owner.len() < 3 {
            return false;
        }
        if self
            .homepage
            .as_ref()
            .is_some_and(|page| page.owner() == owner || page.name == host.name)
        {
            return true;
        }
        if !host.has_established_ending() {
            return false;
        }
        // On code hosting sites, the name of the repository counts as well.
        if host.kind == crate::flow::HostKind::Code {
            let repository = host
                .path
                .split('/')
                .nth(1)
                .unwrap_or_default()
                .to_ascii_lowercase();
            let known = |word: &String| {
                word.len() >= 4
                    && (repository.contains(word.as_str()) || word.contains(&repository))
                    && !GENERIC.contains(&word.as_str())
            };
            if repository.len() >= 3 && self.words.iter().any(known) {
                return true;
            }
        }
        let squeezed: String = owner.chars().filter(char::is_ascii_alphanumeric).collect();
        self.is_made_of_words(&squeezed)
            || self.words.iter().any(|word| {
                word.len() >= 5
                    && squeezed.contains(word.as_str())
                    && !GENERIC.contains(&word.as_str())
                    && word.len() * 4 >= squeezed.len() * 3
            })
    }

    /// Whether a name consists of words about the skill, and of filler words: `lambdalabs`, `getharbor`. `release-hub` is not
    /// introduced by a word about releases alone.
    fn is_made_of_words(&self, name: &str) -> bool {
        const FILLERS: &[&str] = &[
            "get", "use", "try", "lang", "labs", "lab", "hq", "inc", "run",
        ];
        // For each offset, whether words end there, without and with a significant one.
        let mut reached = vec![(false, false); name.len() + 1];
        reached[0].0 = true;
        for start in 0..name.len() {
            let (plain, named) = reached[start];
            if !plain && !named {
                continue;
            }
            for end in start + 2..=name.len() {
                let part = &name[start..end];
                let says_nothing = GENERIC.contains(&part) || FILLERS.contains(&part);
                if says_nothing {
                    reached[end].0 |= plain;
                    reached[end].1 |= named;
                } else if part.len() >= 3 && self.words.contains(part) {
                    reached[end].1 = true;
                }
            }
        }
        reached[name.len()].1
    }
}

/// Words that are too common to relate a skill to a host.
const GENERIC: &[&str] = &[
    "agent", "agents", "skill", "skills", "tool", "tools", "cloud", "server", "service", "data",
    "code", "install", "setup", "update", "download", "helper", "manager", "the", "and", "for",
    "app", "api", "cli", "dev", "web", "net", "online", "system", "openclaw", "clawd", "claude",
    "python", "security", "backup", "sync", "monitor",
];

/// A rule's severity in its context: lower in warnings, tables, tests and fixtures.
pub(crate) fn in_context(
    severity: FindingSeverity,
    rule: &ScanRule,
    origin: &TextOrigin,
    texts: &Texts,
) -> FindingSeverity {
    let text = &texts.0[origin.text];
    let mut severity = match origin.role {
        SentenceRole::Warning => FindingSeverity::Info,
        SentenceRole::Quotation | SentenceRole::Caution => severity.lower(),
        SentenceRole::Table if !matches!(rule.when, RuleCondition::Flow { .. }) => severity.lower(),
        _ => severity,
    };
    // A command in a sentence is mentioned, not run; a whole chain in a sentence is meant to be pasted.
    if origin.inline && matches!(rule.when, RuleCondition::Act(..)) {
        severity = severity.lower();
    }
    // Sample code in a document shows a possibility; the skill's behaviour is in its files.
    if rule.category == Category::Capability && !origin.is_file {
        severity = FindingSeverity::Info;
    }
    // Documents describe how to set up services and timers by hand.
    let set_up = matches!(
        rule.id,
        "persistence/autostart" | "persistence/agent-instructions"
    );
    if set_up && !origin.is_file {
        severity = FindingSeverity::Info;
    }
    // In an image, the user and root are the same person.
    let in_image = {
        let name = text.file.rsplit('/').next().unwrap_or_default();
        name.to_ascii_lowercase().contains("dockerfile")
    };
    if is_aside(&text.file) && !origin.is_file || in_image && rule.id == "privilege/root-for-all" {
        severity = severity.lower();
    }
    severity
}

/// Whether the worse half of a chain is only possible: a token that a program prints is sent to an unknown URL, a path is tested
/// and not read, or a web page loads a module.
pub(crate) fn is_half_known(
    rule: &ScanRule,
    act: &ProgramAct,
    source: Option<&Taint>,
    origin: &TextOrigin,
) -> bool {
    match rule.id {
        "exfiltration/credentials" => {
            let what = source.map_or("", |taint| &*taint.source.what);
            let is_token = what.contains(' ') || what == "document.cookie";
            act.kind == ActKind::Send
                && act.host.is_none()
                && (act.subject.contains('\0') || act.subject.starts_with('/'))
                && (is_token
                    || act.detail.ends_with(".get")
                    || act
                        .subject
                        .contains(what.trim_start_matches(['~', '/', '.'])))
        }
        // "`powershell -enc …` is a hidden command": a command in a sentence that has no text, or does nothing, is an example.
        "obfuscation/decoded-and-run" => {
            origin.inline && (act.subject.contains('\0') || is_idle(&act.subject))
        }
        // A chart runs in a cluster, not on this machine.
        "remote-execution/stranger" => {
            !origin.is_file && act.kind == ActKind::Eval && act.detail == "import"
                || act.detail == "helm"
        }
        _ => false,
    }
}

/// Whether a command line only prints text.
fn is_idle(command: &str) -> bool {
    const PRINTS: &[&str] = &["echo ", "printf ", "write-host ", "write-output ", "print("];
    let lower = command.trim().to_ascii_lowercase();
    lower.is_empty()
        || lower == "…"
        || PRINTS.iter().any(|start| lower.starts_with(start))
            && !lower.contains(['|', ';', '&', '`', '$', '<', '>', '\n'])
}

/// Files that are about the skill, not part of it.
pub(crate) fn is_aside(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or_default();
    [
        "license",
        "licence",
        "changelog",
        "notice",
        "copying",
        "third_party",
    ]
    .iter()
    .any(|start| name.starts_with(start))
        || lower.split('/').rev().skip(1).any(|folder| {
            matches!(
                folder,
                "test" | "tests" | "fixtures" | "testdata" | "__tests__" | "evals"
            )
        })
}

/// The message of a finding: the rule's message, the source and the host.
pub(crate) fn message(rule: &ScanRule, act: &ProgramAct, source: Option<&Taint>) -> String {
    let mut message = rule.message.to_owned();
    let host = act.host.as_ref().map(|host| host.name.clone());
    let from = source.map(|taint| taint.source.what.replace('\0', "…"));
    match (from, host) {
        (Some(from), Some(host)) if !from.is_empty() => {
            message.push_str(&format!(": `{}` to {host}", shown_short(&from)));
        }
        (Some(from), None) if !from.is_empty() => {
            message.push_str(&format!(": `{}`", shown_short(&from)));
        }
        (None, Some(host)) => message.push_str(&format!(": {host}")),
        _ => {}
    }
    message
}

fn shown_short(text: &str) -> String {
    let visible = metier_model::text::visible(text);
    let mut short: String = visible.chars().take(80).collect();
    if short.len() < visible.len() {
        short.push('…');
    }
    short
}

/// Evidence for a report: one line, truncated, without hidden characters and terminal escapes.
pub(crate) fn shown(text: &str) -> String {
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
        .trim();
    let visible = metier_model::text::visible(line);
    let mut short: String = visible.chars().take(200).collect();
    if short.len() < visible.len() {
        short.push('…');
    }
    short
}

/// Reports hidden and confusable characters; returns the number of those that are listed.
pub(crate) fn hidden(scanner: &mut SkillScanner<'_>, index: usize) -> usize {
    let content = Rc::clone(&scanner.texts.0[index].content);
    if content.is_ascii() && memchr::memchr(0x1b, content.as_bytes()).is_none() {
        return 0;
    }
    let found = hidden::hidden(&content);
    for sight in &found.list {
        let line = scanner.texts.0[index].line_at(sight.at.start).to_owned();
        let (oddity, serious) = match sight.kind {
            HiddenKind::Tag | HiddenKind::Selector => (
                FileOddity::SmuggledText,
                sight.decoded.as_deref().is_some_and(|text| text.len() > 3),
            ),
            HiddenKind::ZeroWidth if sight.decoded.is_some() => (FileOddity::SmuggledText, true),
            HiddenKind::ZeroWidth | HiddenKind::Invisible => {
                (FileOddity::InvisibleCharacters, sight.count > 3)
            }
            HiddenKind::Bidi => (FileOddity::BidiOverride, true),
            HiddenKind::Confusable => (FileOddity::LookAlikes, true),
            HiddenKind::Escape => (FileOddity::TerminalCodes, true),
            HiddenKind::Control => continue,
        };
        let evidence = match &sight.decoded {
            Some(decoded) => format!("{decoded} ← {line}"),
            None => line,
        };
        scanner.odd_at(oddity, index, sight.at.start, &evidence, serious);
        if let Some(decoded) = sight
            .decoded
            .as_ref()
            .filter(|_| oddity == FileOddity::SmuggledText)
        {
            scanner.smuggled(index, sight.at.start, decoded.clone());
        }
    }
    found.list.iter().map(|sight| sight.count).sum()
}

/// Matches the rules about sentences.
pub(crate) fn sentences(scanner: &mut SkillScanner<'_>) {
    let documents = std::mem::take(&mut scanner.documents);
    for (index, document) in &documents {
        for (at, rule, role, evidence_at) in told(document) {
            let text = &scanner.texts.0[*index];
            let mut severity = match role {
                SentenceRole::Instruction => rule.severity,
                SentenceRole::Table | SentenceRole::Caution => rule.severity.lower(),
                SentenceRole::Quotation | SentenceRole::Warning => FindingSeverity::Info,
            };
            if is_aside(&text.file) {
                severity = severity.lower();
            }
            // An instruction that had to be decoded was hidden on purpose.
            if text.encoded.is_some()
                && rule.severity >= FindingSeverity::Warning
                && role == SentenceRole::Instruction
            {
                severity = FindingSeverity::Critical;
            }
            let evidence = text.content.get(evidence_at.clone()).unwrap_or_default();
            // The original text contains the same sentence, which was already reported.
            if text
                .plain_form_of
                .as_ref()
                .is_some_and(|form| scanner.texts.0[form.of].content.contains(evidence.trim()))
            {
                continue;
            }
            let evidence = match &text.encoded {
                Some(how) => format!("{how}: {evidence}"),
                None => evidence.replace('\n', " "),
            };
            let place: FindingLocation = scanner.texts.place(*index, at);
            scanner.push(Finding {
                rule: FoundBy::Builtin(rule),
                severity,
                place,
                message: rule.message.to_owned(),
                evidence: shown(&evidence),
                steps: Vec::new(),
            });
        }
        html(scanner, *index, document);
        turns(scanner, *index, document);
    }
    scanner.documents = documents;
}

type StatedFacts = (
    usize,
    &'static ScanRule,
    SentenceRole,
    std::ops::Range<usize>,
);

/// The rules that match, with their sentences.
fn told(document: &MarkdownDocument) -> Vec<StatedFacts> {
    let mut found = Vec::new();
    let sentences = &document.sentences;
    for (position, sentence) in sentences.iter().enumerate() {
        if sentence.classes.is_empty() {
            continue;
        }
        let passage = passage(sentences, position);
        let together = ClassSet::of(
            passage
                .iter()
                .filter(|near| near.role != SentenceRole::Warning),
        );
        // Words about attacks make a sentence milder, but an instruction in it is still an instruction.
        let cautious = |classes: ClassSet, role: SentenceRole| match role {
            SentenceRole::Instruction if classes.contains(C::Threat) => SentenceRole::Caution,
            role => role,
        };
        for rule in rules::all() {
            match &rule.when {
                RuleCondition::Sentence { all, none } if holds(sentence.classes, all, none) => {
                    let role = cautious(sentence.classes, sentence.role);
                    found.push((sentence.at.start, rule, role, sentence.at.clone()));
                }
                RuleCondition::Sentence { all, none } if holds(sentence.denied, all, none) => {
                    found.push((
                        sentence.at.start,
                        rule,
                        SentenceRole::Warning,
                        sentence.at.clone(),
                    ));
                }
                // A passage is reported at its first sentence, so that it is reported once.
                RuleCondition::Passage { all, none }
                    if holds(together, all, none) && contributes(sentence, all) =>
                {
                    let before = ClassSet::of(
                        passage
                            .iter()
                            .skip(1)
                            .filter(|near| near.role != SentenceRole::Warning),
                    );
                    if !holds(before, all, none) {
                        let end = passage.last().map_or(sentence.at.end, |last| last.at.end);
                        // A rule that checks words of defence is milder with them.
                        let role = match none.contains(&C::Threat) {
                            true => cautious(together, sentence.role),
                            false => sentence.role,
                        };
                        found.push((sentence.at.start, rule, role, sentence.at.start..end));
                    }
                }
                _ => {}
            }
        }
    }
    found
}

/// Whether a rule is met, ignoring words of defence.
fn holds(classes: ClassSet, all: &[&[C]], none: &[C]) -> bool {
    let mut rest = classes;
    rest.remove(C::Threat);
    rest.matches(all, none)
}

fn contributes(sentence: &Sentence, all: &[&[C]]) -> bool {
    all.iter()
        .any(|group| group.iter().any(|class| sentence.classes.contains(*class)))
}

/// A sentence and the following ones that belong to it.
pub(crate) fn passage(sentences: &[Sentence], from: usize) -> &[Sentence] {
    let first = sentences[from].block;
    let length = sentences[from..]
        .iter()
        .take(PASSAGE)
        .take_while(|sentence| sentence.block - first < BLOCKS)
        .count();
    &sentences[from..from + length]
}

/// Reports instructions in comments and hidden elements, which agents read and people do not.
fn html(scanner: &mut SkillScanner<'_>, index: usize, document: &MarkdownDocument) {
    for (at, html) in &document.html {
        let lower = html.to_ascii_lowercase();
        let comment = lower.contains("<!--");
        let unseen = comment
            || [
                "display:none",
                "display: none",
                "visibility:hidden",
                "visibility: hidden",
                "font-size:0",
                "font-size: 0",
                "opacity:0",
                "color:white",
                "color: white",
                "hidden>",
            ]
            .iter()
            .any(|sign| lower.contains(sign));
        if !unseen {
            continue;
        }
        let text = html.replace("<!--", " ").replace("-->", " ");
        let inner = crate::prose::plain(&text);
        let worst = told(&inner)
            .into_iter()
            .filter(|(_, _, role, _)| *role == SentenceRole::Instruction)
            .map(|(_, rule, _, _)| rule.severity)
            .max();
        let orders = inner.sentences.iter().any(orders);
        let serious = worst >= Some(FindingSeverity::Warning) || addresses_agent(&inner);
        if serious || orders {
            scanner.odd_at(
                FileOddity::HiddenInstruction,
                index,
                at.start,
                &text,
                serious,
            );
        }
    }
}

/// Whether text that people do not see addresses the agent, or asks it to be silent, and requests something.
fn addresses_agent(document: &MarkdownDocument) -> bool {
    let told = ClassSet::of(
        document
            .sentences
            .iter()
            .filter(|sentence| sentence.role == SentenceRole::Instruction),
    );
    told.matches(
        &[
            &[C::ToAgent, C::KeepFromUser, C::Hush, C::DenyWhenAsked],
            &[
                C::Send,
                C::SendTo,
                C::Carry,
                C::IntoAddress,
                C::SecretPath,
                C::ForeignUrl,
                C::Download,
            ],
        ],
        &[C::Threat],
    )
}

/// Roles that follow the token at the start of a turn.
const ROLES: &[&str] = &["system", "user", "assistant", "developer", "tool"];

/// Reports chat template tokens and host tags where they would begin a turn: at the start of a line, or followed by a role.
/// Texts about templates contain them in code, or in the middle of a sentence.
fn turns(scanner: &mut SkillScanner<'_>, index: usize, document: &MarkdownDocument) {
    let content = Rc::clone(&scanner.texts.0[index].content);
    let is_code = |at: usize| {
        let before = document.code.partition_point(|code| code.at.start <= at);
        let last = before
            .checked_sub(1)
            .and_then(|last| document.code.get(last));
        last.is_some_and(|code| code.at.contains(&at))
    };
    let mut starts = memchr::memchr2_iter(b'<', b'[', content.as_bytes());
    let found = starts.find_map(|at| {
        let token = chat_token_at(&content[at..])?;
        let mut before = content[..at].chars().rev();
        let begins = before
            .find(|c| !" \t>-*".contains(*c))
            .is_none_or(|c| c == '\n');
        let behind = content[at + token.len()..].trim_start_matches(['>', ']', ' ']);
        let speaks = ROLES.iter().any(|role| behind.starts_with(role));
        ((begins || speaks) && !is_code(at)).then_some(at)
    });
    if let Some(at) = found {
        let line = scanner.texts.0[index].line_at(at).to_owned();
        scanner.odd_at(FileOddity::ChatTurn, index, at, &line, true);
    }
}

/// Whether a hidden sentence instructs the agent.
fn orders(sentence: &Sentence) -> bool {
    sentence.role == SentenceRole::Instruction
        && sentence.classes.matches(
            &[
                &[
                    C::Run,
                    C::Send,
                    C::Collect,
                    C::Download,
                    C::Ignore,
                    C::Install,
                ],
                &[
                    C::Always,
                    C::Conceal,
                    C::Silently,
                    C::Secret,
                    C::SecretPath,
                    C::Environment,
                    C::AnyUrl,
                    C::NoConsent,
                ],
            ],
            &[],
        )
}

/// Matches the patterns of the user and of skills.
pub(crate) fn patterns(scanner: &mut SkillScanner<'_>) {
    let rules = scanner.rules;
    for pattern in &rules.patterns {
        for index in 0..scanner.texts.0.len() {
            let text = &scanner.texts.0[index];
            let hits: Vec<(usize, String)> = pattern
                .find(&text.file, &text.content)
                .map(|at| (at, text.line_at(at).to_owned()))
                .collect();
            for (at, line) in hits {
                let place = scanner.texts.place(index, at);
                scanner.push(Finding {
                    rule: FoundBy::Pattern {
                        id: pattern.id.clone(),
                        fix: pattern.fix.clone(),
                    },
                    severity: pattern.severity,
                    place,
                    message: pattern.message.clone(),
                    evidence: shown(&line),
                    steps: Vec::new(),
                });
            }
        }
    }
}
