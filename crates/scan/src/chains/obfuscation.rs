//! Disguise: encoded data, hidden programs, tags that imitate system tags.

use super::found;
use crate::{
    flow::{ActKind, EvaluatedLanguage, ProgramAct, SourceKind},
    prose::{ClassSet, MarkdownDocument, PhraseClass as C, Sentence, SentenceRole},
    report::FoundBy,
    rule::{Chain, FileOddity, RuleCondition},
    scan::SkillScanner,
    texts::ScannedText,
};

/// The maximum distance between encoded data and the instructions to decode it.
const BESIDE: usize = 1500;

/// Programs in hidden files.
pub(super) fn hidden_programs(scanner: &mut SkillScanner<'_>, acts: &[ProgramAct]) {
    const USUAL: &[&str] = &[
        ".envrc",
        ".husky",
        ".githooks",
        ".github",
        ".claude",
        ".cursor",
        ".vscode",
        ".devcontainer",
        ".eslintrc",
        ".prettierrc",
        ".babelrc",
        ".pnp",
        ".yarn",
        ".mcp.json",
    ];
    // Git's settings are not programs, and a program is not one of its settings.
    const FOLDERS: &[&str] = &[".git", ".gitlab"];
    for index in 0..scanner.units.len() {
        let origin = scanner.origins[index];
        let text = &scanner.texts.0[origin.text];
        let hidden = text.file.split(['/', '!']).any(|part| {
            part.starts_with('.')
                && part.len() > 1
                && part != ".."
                && !USUAL.iter().any(|usual| part.starts_with(usual))
                && !FOLDERS.contains(&part)
        });
        if !origin.is_file || !hidden || text.within.is_some() {
            continue;
        }
        let does = acts.iter().find(|act| {
            act.site.unit as usize == index
                && matches!(
                    act.kind,
                    ActKind::Send | ActKind::Fetch | ActKind::Eval | ActKind::RemoteShell
                )
        });
        if let Some(act) = does {
            let place = scanner.place(act.site);
            let evidence = scanner.evidence(act, &origin);
            found(scanner, Chain::HiddenProgram, place, &evidence, "", false);
        }
    }
}

/// A hidden document whose content does not match its name.
pub(super) fn hidden_documents(scanner: &mut SkillScanner<'_>) {
    let lies = scanner.report.findings.iter().find(|finding| {
        let FoundBy::Builtin(rule) = &finding.rule else {
            return false;
        };
        let name = finding.place.file.rsplit('/').next().unwrap_or_default();
        matches!(rule.when, RuleCondition::Oddity(FileOddity::WrongName)) && name.starts_with('.')
    });
    if let Some((place, evidence)) =
        lies.map(|finding| (finding.place.clone(), finding.evidence.clone()))
    {
        let file = place.file.clone();
        found(
            scanner,
            Chain::HiddenDocument,
            place,
            &evidence,
            &file,
            false,
        );
    }
}

/// Modules that access the network, processes or files.
const REACHING: &[&str] = &[
    "os as _",
    "subprocess as _",
    "urllib.request as _",
    "requests as _",
    "socket as _",
    "http.client as _",
    "shutil as _",
];

/// `import urllib.request as _ur` in the middle of a program, which hides the name from reviewers.
pub(super) fn private_imports(scanner: &mut SkillScanner<'_>) {
    for index in 0..scanner.units.len() {
        let origin = scanner.origins[index];
        let text = &scanner.texts.0[origin.text];
        if !origin.is_file || scanner.units[index].language != EvaluatedLanguage::Python {
            continue;
        }
        let hit = memchr::memmem::find_iter(text.content.as_bytes(), b"import ").find(|at| {
            let line = text.content.get(at + 7..).unwrap_or_default();
            let modules = line.lines().next().unwrap_or_default().split(", ");
            modules
                .into_iter()
                .any(|named| REACHING.iter().any(|module| named.starts_with(module)))
        });
        if let Some(at) = hit {
            let evidence = text.line_at(at).to_owned();
            let place = scanner.texts.place(origin.text, at);
            found(scanner, Chain::PrivateImport, place, &evidence, "", false);
        }
    }
}

/// Encoded data next to sentences that explain how to decode it and how to use the result.
pub(super) fn decode_by_hand(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
) {
    if !ClassSet::of(&document.sentences).contains(C::Decode) {
        return;
    }
    let content = std::rc::Rc::clone(&scanner.texts.0[index].content);
    let mut start = 0;
    for line in content.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let Some(word) = line
            .split_whitespace()
            .map(|word| word.trim_matches(['`', '"', '\'']))
            .find(|word| is_blob(word))
        else {
            continue;
        };
        let near = |sentence: &&Sentence| {
            sentence.at.start + BESIDE >= at
                && sentence.at.start <= at + BESIDE
                && sentence.role != SentenceRole::Warning
        };
        let told = ClassSet::of(document.sentences.iter().filter(near));
        if told.matches(
            &[
                &[C::Decode],
                &[C::Run, C::Install, C::Obey],
                &[
                    C::Instructions,
                    C::Paste,
                    C::Terminal,
                    C::Install,
                    C::Required,
                ],
            ],
            &[C::Threat],
        ) {
            let place = scanner.texts.place(index, at);
            found(scanner, Chain::DecodeByHand, place, word, "", false);
            return;
        }
    }
}

/// A long word or list of numbers without meaning.
fn is_blob(word: &str) -> bool {
    let numbers = word.split(',').count();
    let listed = numbers >= 32
        && word
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b',');
    let signs = word
        .bytes()
        .filter(|byte| byte.is_ascii_punctuation())
        .count();
    listed
        || (word.is_ascii()
            && word.len() >= 64
            && !word.contains("://")
            && !word.contains('/')
            && signs * 4 < word.len() * 3
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_uppercase())
            && !crate::text::plausible::is_plausible(word))
}

pub(super) fn prints_blob(scanner: &mut SkillScanner<'_>, act: &ProgramAct) {
    let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
        return;
    };
    let document = !origin.is_file && origin.role == SentenceRole::Instruction;
    let others = [
        SourceKind::Download,
        SourceKind::Input,
        SourceKind::Variable,
        SourceKind::SecretVariable,
    ];
    let prints = act.kind == ActKind::Show
        && act.came_from(SourceKind::Blob)
        && !others.iter().any(|kind| act.came_from(*kind));
    if document && prints {
        let place = scanner.place(act.site);
        let evidence = scanner.evidence(act, &origin);
        // Decodable data was scanned as well: an instruction in it is critical by itself.
        let known = !act.subject.is_empty() && !act.subject.contains('\0');
        let code = origin.start..=origin.start + act.site.at as usize + BESIDE;
        let was_read = |text: &ScannedText| {
            text.encoded.is_some()
                && text
                    .within
                    .is_some_and(|(of, at)| of == origin.text && code.contains(&at))
        };
        let known = known || scanner.texts.0.iter().any(was_read);
        found(scanner, Chain::PrintsBlob, place, &evidence, "", known);
    }
}

/// `<IMPORTANT>` and similar tags, which only a model treats as more than text.
pub(super) fn pseudo_tags(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
) {
    const TAGS: &[&str] = &[
        "<important",
        "<system",
        "<admin",
        "<secret",
        "<hidden",
        "<instruction",
        "<critical",
        "<override",
        "<mandatory",
    ];
    for (at, html) in &document.html {
        let lower = html.to_ascii_lowercase();
        let Some(tag) = TAGS.iter().find(|tag| lower.contains(**tag)) else {
            continue;
        };
        let content = &scanner.texts.0[index].content;
        let after = content.get(at.start..).unwrap_or_default();
        let end = after.find("</").unwrap_or(after.len()).min(2000);
        let end = (0..=end)
            .rev()
            .find(|end| after.is_char_boundary(*end))
            .unwrap_or(0);
        let inner = after[..end].to_owned();
        let told = ClassSet::of(&crate::prose::plain(&inner).sentences);
        if told.matches(
            &[
                &[C::Send],
                &[
                    C::Secret,
                    C::SecretPath,
                    C::Environment,
                    C::Conversation,
                    C::UserData,
                ],
                &[C::ForeignUrl, C::ShadyUrl, C::External, C::EmailAddress],
            ],
            &[],
        ) {
            let place = scanner.texts.place(index, at.start);
            found(
                scanner,
                Chain::PseudoTag,
                place,
                &inner.replace('\n', " "),
                tag.trim_start_matches('<'),
                false,
            );
        }
    }
}
