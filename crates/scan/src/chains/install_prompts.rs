//! Lures: text that makes the user install something.

use super::found;
use crate::{
    flow::{ActKind, HostKind, ProgramAct, RemoteHost, SourceKind, urls_in},
    matching::{self, DeclaredContext},
    prose::{ClassSet, MarkdownDocument, PhraseClass as C, Sentence, SentenceRole},
    rule::{Chain, FileOddity},
    scan::SkillScanner,
};

/// The distance around a command in which its sentences are searched, in bytes.
const AROUND: usize = 700;

/// The classes of the first sentences of a passage, without warnings.
fn told_in(passage: &[Sentence], sentences: usize) -> ClassSet {
    let told = passage.iter().take(sentences);
    ClassSet::of(told.filter(|sentence| sentence.role != SentenceRole::Warning))
}

/// "X must be installed first. Download it from …"
pub(super) fn lures(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
    context: &DeclaredContext,
) {
    for position in 0..document.sentences.len() {
        let passage = matching::passage(&document.sentences, position);
        let told = told_in(passage, 4);
        let lure = told.matches(
            &[
                &[C::Required],
                &[C::Download, C::Install],
                &[C::Install, C::Run],
                &[C::ForeignUrl],
            ],
            &[C::Threat],
        );
        if !lure
            || !passage[0]
                .classes
                .matches(&[&[C::Required, C::ForeignUrl]], &[])
        {
            continue;
        }
        let end = passage
            .iter()
            .take(4)
            .next_back()
            .map_or(passage[0].at.end, |last| last.at.end);
        let text = scanner.texts.0[index]
            .content
            .get(passage[0].at.start..end)
            .unwrap_or_default()
            .to_owned();
        let must = [
            "must be installed",
            "be installed before",
            "must install",
            "requires the",
            "required",
            "will not work",
            "won't work",
        ]
        .iter()
        .any(|sign| text.to_ascii_lowercase().contains(sign));
        let fetched = text.to_ascii_lowercase().contains("download");
        for (_, url) in urls_in(&text) {
            let Some(host) = RemoteHost::of(url) else {
                continue;
            };
            let place = scanner.texts.place(index, passage[0].at.start);
            if host.impersonates().is_some() && fetched {
                found(
                    scanner,
                    Chain::LureToImpostor,
                    place,
                    &text.replace('\n', " "),
                    &host.name,
                    false,
                );
                return;
            }
            if host.kind == HostKind::Other && !context.is_related(&host) && must && fetched {
                found(
                    scanner,
                    Chain::LureToStranger,
                    place,
                    &text.replace('\n', " "),
                    &host.name,
                    false,
                );
                return;
            }
        }
    }
}

/// File extensions of programs that start with a click.
const PROGRAMS: &[&str] = &[
    ".exe",
    ".msi",
    ".dmg",
    ".pkg",
    ".scr",
    ".bat",
    ".ps1",
    ".vbs",
    ".appimage",
    ".apk",
];

/// A link to a host that has the name of a known publisher, below an ending where any name is free.
pub(super) fn impostors(scanner: &mut SkillScanner<'_>, index: usize, document: &MarkdownDocument) {
    let content = std::rc::Rc::clone(&scanner.texts.0[index].content);
    let is_page = scanner.texts.0[index].file.ends_with(".md");
    for sentence in document.sentences.iter().filter(|_| is_page) {
        if sentence.role != SentenceRole::Instruction || !sentence.classes.contains(C::ForeignUrl) {
            continue;
        }
        let text = content.get(sentence.at.clone()).unwrap_or_default();
        let poses = urls_in(text)
            .filter_map(|(_, url)| RemoteHost::of(url))
            .find(|host| {
                !host.has_established_ending()
                    && host.kind == HostKind::Other
                    && host.impersonates().is_some()
            });
        if let Some(host) = poses {
            let place = scanner.texts.place(index, sentence.at.start);
            let milder = sentence.classes.contains(C::Threat);
            return found(
                scanner,
                Chain::ImpostorHost,
                place,
                text,
                &host.name,
                milder,
            );
        }
    }
}

/// "Download https://…/tool.exe and run it."
pub(super) fn stranger_programs(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
    context: &DeclaredContext,
) {
    for position in 0..document.sentences.len() {
        let passage = matching::passage(&document.sentences, position);
        let told = told_in(passage, 3);
        if !told.matches(
            &[&[C::Download], &[C::Run, C::Install], &[C::ForeignUrl]],
            &[C::Threat],
        ) {
            continue;
        }
        let text = scanner.texts.0[index]
            .content
            .get(passage[0].at.clone())
            .unwrap_or_default()
            .to_owned();
        let stranger = urls_in(&text).find_map(|(_, url)| {
            let path = url
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .to_ascii_lowercase();
            let host = RemoteHost::of(url)?;
            let program = PROGRAMS.iter().any(|end| path.ends_with(end));
            (program
                && matches!(
                    host.kind,
                    HostKind::Other | HostKind::Anonymous | HostKind::Address | HostKind::Drop
                )
                && !context.is_related(&host))
            .then_some(host)
        });
        if let Some(host) = stranger {
            let place = scanner.texts.place(index, passage[0].at.start);
            found(
                scanner,
                Chain::StrangerProgram,
                place,
                &text.replace('\n', " "),
                &host.name,
                false,
            );
            return;
        }
    }
}

/// The classes of the sentences that lead to a command; a sentence after it counts if it is about pasting.
fn around(document: &MarkdownDocument, at: usize) -> ClassSet {
    let near = |sentence: &&Sentence| {
        let leads = sentence.at.start <= at
            || sentence.at.start <= at + 80 && sentence.classes.contains(C::Paste);
        sentence.at.start + AROUND >= at && leads && sentence.role != SentenceRole::Warning
    };
    ClassSet::of(document.sentences.iter().filter(near))
}

pub(super) fn lure_commands(
    scanner: &mut SkillScanner<'_>,
    documents: &[(usize, MarkdownDocument)],
    acts: &[ProgramAct],
    context: &DeclaredContext,
) {
    for act in acts {
        let Some(origin) = scanner.origins.get(act.site.unit as usize).copied() else {
            continue;
        };
        if !matches!(act.kind, ActKind::Run | ActKind::Eval)
            || origin.is_file
            || origin.role != SentenceRole::Instruction
        {
            continue;
        }
        let stranger = act
            .taints
            .iter()
            .filter(|taint| taint.source.kind == SourceKind::Download)
            .find_map(|taint| {
                let host = RemoteHost::of(&taint.source.what)?;
                let foreign = matches!(
                    host.kind,
                    HostKind::Code | HostKind::Other | HostKind::Anonymous
                ) && !context.is_related(&host);
                foreign.then_some(host)
            });
        let Some(host) = stranger else { continue };
        let at = origin.start + act.site.at as usize;
        let told = documents
            .iter()
            .filter(|(index, _)| *index == origin.text)
            .fold(ClassSet::default(), |told, (_, document)| {
                told.union(around(document, at))
            });
        if told.matches(
            &[
                &[C::Required, C::Install],
                &[C::Terminal, C::Paste],
                &[C::Run],
            ],
            &[C::Threat],
        ) {
            let place = scanner.place(act.site);
            let evidence = scanner.evidence(act, &origin);
            found(
                scanner,
                Chain::LureCommand,
                place,
                &evidence,
                &host.name,
                false,
            );
        }
    }
}

/// Lock files with a URL for each package: a URL outside the registries belongs to another publisher.
pub(super) fn lockfiles(scanner: &mut SkillScanner<'_>) {
    for index in 0..scanner.texts.0.len() {
        let text = &scanner.texts.0[index];
        let name = text.file.rsplit('/').next().unwrap_or_default();
        if !matches!(
            name,
            "package-lock.json" | "npm-shrinkwrap.json" | "yarn.lock" | "pnpm-lock.yaml"
        ) {
            continue;
        }
        let fetched = memchr::memmem::find_iter(text.content.as_bytes(), b"resolved");
        let odd = fetched.take(20_000).find_map(|at| {
            let line = text.line_at(at);
            let (_, url) = urls_in(line).next()?;
            let host = RemoteHost::of(url)?;
            matches!(
                host.kind,
                HostKind::Address | HostKind::Drop | HostKind::Anonymous
            )
            .then(|| (at, line.to_owned()))
        });
        if let Some((at, line)) = odd {
            scanner.odd_at(FileOddity::RegistryRedirect, index, at, &line, true);
        }
    }
}
