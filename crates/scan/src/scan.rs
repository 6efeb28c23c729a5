//! The scan of one skill: from bytes to a report.

use std::{collections::BTreeSet, rc::Rc};

use crate::{
    capability,
    flow::{
        ActKind, EvaluatedLanguage, Evaluator, HostCondition, HostKind, ProgramAct, RemoteHost,
        Site, Unit, remote_shells,
    },
    inner_texts::{json_texts, notes_to_agents},
    input::{DeclaredFacts, FileToScan, Preset, RuleSet, ScanLimits, ScannedContent},
    language::{command_in, guess, is_unparsed, language_of, within_quotes, without_closers},
    links::SkillLinks,
    lower::{Lowering, Parsers, ScriptDialect},
    matching::{self, DeclaredContext},
    prose::{self, MarkdownDocument, SentenceRole},
    report::{ChainStep, Finding, FindingSeverity, FoundBy, ScanReport, Unread},
    rule::{FileOddity, RuleCondition, ScanRule},
    rules,
    text::decode,
    texts::{PlainForm, ScannedText, TextOrigin, Texts},
    unpack::kind::{self, FileKind},
    yaml_text::{MOST_FIELDS, is_skill_yaml, without_yaml_quotes, yaml_fields},
};

/// Scans a skill.
#[must_use]
pub fn scan(
    files: &[FileToScan<'_>],
    about: &DeclaredFacts<'_>,
    rules: &RuleSet,
    limits: &ScanLimits,
) -> ScanReport {
    let mut report = scan_with(files, about, rules, limits, Parsers::BUILT);
    if rules.preset == Preset::Seed {
        crate::seed::add(files, &mut report);
        crate::report_order::settle(&mut report, limits);
    }
    report
}

/// Scans a skill by evidence, with these parsers.
pub(crate) fn scan_with(
    files: &[FileToScan<'_>],
    about: &DeclaredFacts<'_>,
    rules: &RuleSet,
    limits: &ScanLimits,
    parsers: Parsers,
) -> ScanReport {
    let mut scanner = SkillScanner::new(about, rules, parsers);
    let mut links = SkillLinks::new(files);
    for (index, file) in files.iter().enumerate() {
        if index >= limits.files {
            scanner.unread(
                "",
                format!(
                    "{} files exceed the limit of {}",
                    files.len() - limits.files,
                    limits.files
                ),
            );
            break;
        }
        scanner.names.insert(file.path.to_owned());
        let linked = match file.content {
            ScannedContent::Link(target) => links.follow(file.path, target),
            _ => None,
        };
        match linked {
            Some(bytes) => scanner.file(
                &FileToScan {
                    path: file.path,
                    content: ScannedContent::Bytes(bytes),
                },
                limits,
            ),
            None => scanner.file(file, limits),
        }
    }
    scanner.description();
    scanner.finish(limits)
}

/// The state of a scan: everything collected from the files of a skill.
pub(crate) struct SkillScanner<'a> {
    pub(crate) about: &'a DeclaredFacts<'a>,
    pub(crate) rules: &'a RuleSet,
    pub(crate) texts: Texts,
    pub(crate) units: Vec<Unit>,
    pub(crate) origins: Vec<TextOrigin>,
    pub(crate) documents: Vec<(usize, MarkdownDocument)>,
    pub(crate) report: ScanReport,
    /// Python sources by path, to compare with bytecode.
    pub(crate) sources: Vec<(String, usize)>,
    /// Python bytecode, which is compared with the sources at the end.
    pub(crate) bytecodes: Vec<(String, Vec<u8>)>,
    /// The paths of all files of the skill.
    pub(crate) names: BTreeSet<String>,
    /// The nesting depth of archives.
    pub(crate) depth: u32,
    budget: decode::DecodeBudget,
    lowering: Lowering,
}

impl<'a> SkillScanner<'a> {
    pub(crate) fn new(about: &'a DeclaredFacts<'a>, rules: &'a RuleSet, parsers: Parsers) -> Self {
        Self {
            about,
            rules,
            texts: Texts::default(),
            units: Vec::new(),
            origins: Vec::new(),
            documents: Vec::new(),
            report: ScanReport::default(),
            sources: Vec::new(),
            bytecodes: Vec::new(),
            names: BTreeSet::new(),
            depth: 0,
            budget: decode::DecodeBudget::default(),
            lowering: Lowering::new(parsers),
        }
    }

    /// Scans the description as prompts show it, if the file contains it in another form: `"\\x49gnore"`, or folded over lines.
    fn description(&mut self) {
        let words = self.about.description;
        if words.is_empty() || self.texts.0.iter().any(|text| text.content.contains(words)) {
            return;
        }
        let text = ScannedText::new("SKILL.md".to_owned(), words.to_owned());
        let index = self.texts.add(text);
        self.documents.push((index, prose::plain(words)));
    }

    pub(crate) fn unread(&mut self, file: &str, why: String) {
        self.report.unread.push(Unread {
            file: file.to_owned(),
            why,
        });
    }

    /// Reports once per file that this build has no parser for a language in it.
    fn unparsed(&mut self, file: &str, language: EvaluatedLanguage) {
        let why = format!("this build of metier cannot parse {language:?} (feature `scan-code`)");
        let is_same = |unread: &Unread| unread.file == file && unread.why == why;
        if !self.report.unread.iter().any(is_same) {
            self.unread(file, why);
        }
    }

    /// The limit for a file. Compiled modules are larger than any text; the module that a skill runs as has its own limit.
    fn room_for(&self, file: &FileToScan<'_>, limits: &ScanLimits) -> usize {
        match file.content {
            ScannedContent::Bytes(bytes)
                if self.about.module == Some(file.path) && bytes.starts_with(b"\0asm") =>
            {
                limits.module_bytes.max(limits.file_bytes)
            }
            _ => limits.file_bytes,
        }
    }

    fn file(&mut self, file: &FileToScan<'_>, limits: &ScanLimits) {
        let room = self.room_for(file, limits);
        match file.content {
            ScannedContent::Unread(why) => self.unread(file.path, why.to_owned()),
            ScannedContent::Link(target) => {
                if is_outside(file.path, target) {
                    let evidence = format!("{} -> {target}", file.path);
                    self.odd(FileOddity::LinkOutside, file.path, &evidence, true);
                }
                self.unread(
                    file.path,
                    format!("it is a link to `{}`", metier_model::text::visible(target)),
                );
            }
            ScannedContent::Bytes(bytes) if bytes.len() > room => {
                self.report.files += 1;
                self.unread(
                    file.path,
                    format!("its {} bytes exceed the limit of {}", bytes.len(), room),
                );
                // The part within the limit is still scanned: a payload in it blocks the skill.
                self.bytes(file.path, &bytes[..room], true);
            }
            ScannedContent::Bytes(bytes) => {
                self.report.files += 1;
                self.bytes(file.path, bytes, false);
            }
        }
    }

    /// Scans the bytes of a file or of a member of an archive. `cut` if they are only its beginning.
    pub(crate) fn bytes(&mut self, path: &str, bytes: &[u8], cut: bool) {
        if kind::is_leftover(path, bytes) {
            return;
        }
        let kind = kind::kind(path, bytes);
        if let Some(why) = kind::mismatch(path, kind) {
            self.odd(FileOddity::WrongName, path, why, true);
        }
        crate::containers::look(self, path, bytes, kind, cut);
    }

    /// Scans the text of a file, or a part of it.
    pub(crate) fn text(&mut self, path: &str, content: String, kind: FileKind) -> usize {
        let index = self.texts.add(ScannedText::new(path.to_owned(), content));
        self.look(index, kind);
        index
    }

    /// A script inside a page, picture or document.
    pub(crate) fn script(&mut self, path: &str, content: String) {
        let mut text = ScannedText::new(path.to_owned(), content);
        text.embedded = true;
        let index = self.texts.add(text);
        self.look(index, FileKind::JavaScript(kind::FileDialect::Plain));
    }

    /// Scans a text: hidden characters, structure, programs, encoded parts.
    pub(crate) fn look(&mut self, index: usize, kind: FileKind) {
        let hidden = matching::hidden(self, index);
        crate::padding::look(self, index);
        crate::manifests::look(self, index);
        let path = self.texts.0[index].file.clone();
        let content = Rc::clone(&self.texts.0[index].content);
        if !matches!(kind, FileKind::Markdown | FileKind::Text) {
            self.inner_texts(index, notes_to_agents(&content));
        }
        match kind {
            FileKind::Markdown => self.markdown(index, &content),
            FileKind::JavaScript(dialect) => {
                let dialect = crate::containers::dialect(dialect);
                let program =
                    self.lowering
                        .program(&content, EvaluatedLanguage::JavaScript, dialect);
                self.lowered(
                    index,
                    0,
                    EvaluatedLanguage::JavaScript,
                    program,
                    SentenceRole::Instruction,
                    true,
                );
            }
            FileKind::Python | FileKind::Shell | FileKind::PowerShell | FileKind::Batch => {
                let language = match kind {
                    FileKind::Python => EvaluatedLanguage::Python,
                    FileKind::PowerShell => EvaluatedLanguage::PowerShell,
                    FileKind::Batch => EvaluatedLanguage::Batch,
                    _ => EvaluatedLanguage::Shell,
                };
                if kind == FileKind::Python {
                    self.sources.push((path, index));
                }
                let role = SentenceRole::Instruction;
                self.program(index, 0, &content, language, role, true);
            }
            _ => {
                // A file without an extension is a program if its text looks like one.
                let name = path.rsplit(['/', '!']).next().unwrap_or_default();
                let unnamed = kind == FileKind::Text && !name.trim_start_matches('.').contains('.');
                if let Some(language) =
                    guess(&content).filter(|_| unnamed && !matching::is_aside(&path))
                {
                    self.program(
                        index,
                        0,
                        &content,
                        language,
                        SentenceRole::Instruction,
                        true,
                    );
                }
                if is_skill_yaml(name) {
                    self.fields(index, &content);
                    self.command_lines(index, 0, &content, SentenceRole::Instruction);
                    return self.look_within(index, &content, kind, hidden);
                }
                self.other_code(index, &content, kind);
                if path.ends_with(".json")
                    && let Some(texts) = json_texts(&content, MOST_FIELDS)
                {
                    self.inner_texts(index, texts);
                    self.command_lines(index, 0, &content, SentenceRole::Instruction);
                    return self.look_within(index, &content, kind, hidden);
                }
                if path.ends_with(".plist") {
                    self.plist(index, &content);
                }
                let mut document = prose::plain(&content);
                let tabular = [".csv", ".tsv", ".jsonl"]
                    .iter()
                    .any(|end| path.ends_with(end));
                if tabular {
                    document
                        .sentences
                        .iter_mut()
                        .for_each(|sentence| sentence.role = SentenceRole::Table);
                }
                self.documents.push((index, document));
                self.command_lines(index, 0, &content, SentenceRole::Instruction);
            }
        }
        self.look_within(index, &content, kind, hidden);
    }

    /// A program in a language without a parser: its effect, as a shell command.
    fn other_code(&mut self, index: usize, content: &str, kind: FileKind) {
        if kind == FileKind::Code {
            let role = SentenceRole::Instruction;
            for (at, line) in crate::unparsed::chains(content) {
                self.program(index, at, &line, EvaluatedLanguage::Shell, role, true);
            }
        }
    }

    fn look_within(&mut self, index: usize, content: &str, kind: FileKind, hidden: usize) {
        self.encoded(index, content);
        self.plain_form(index, content, kind, hidden);
    }

    /// The fields of a SKILL.yaml or a frontmatter: each value and each comment is a separate text. Joined, a homepage and a list of
    /// permissions would form a sentence about downloading from there.
    fn fields(&mut self, index: usize, content: &str) {
        let fields = yaml_fields(content);
        if fields.len() > MOST_FIELDS {
            let whole = prose::plain(&without_yaml_quotes(content));
            return self.documents.push((index, whole));
        }
        let mut start = 0;
        for field in fields {
            let mut document = prose::plain(&without_yaml_quotes(&field));
            shift(&mut document, start);
            start += field.len();
            self.documents.push((index, document));
        }
    }

    /// Scans a text in the form in which a model understands it, without invisible characters and look-alikes.
    pub(crate) fn plain_form(
        &mut self,
        index: usize,
        content: &str,
        kind: FileKind,
        hidden: usize,
    ) {
        // Typography is not a disguise: only hidden or confusable characters justify a second pass.
        if hidden < 3 || content.is_ascii() || !matches!(kind, FileKind::Markdown | FileKind::Text)
        {
            return;
        }
        let normal = crate::text::normal::normal(content);
        if normal.text == content {
            return;
        }
        let document = prose::plain(&normal.text);
        let starts = document.sentences.iter().map(|sentence| {
            let start = sentence.at.start;
            (start, normal.source_offset(start))
        });
        let form = PlainForm {
            of: index,
            starts: starts.collect(),
        };
        let mut text = ScannedText::new(self.texts.0[index].file.clone(), normal.text.into_owned());
        text.plain_form_of = Some(form);
        text.encoded = Some("past hidden characters".to_owned());
        let inner = self.texts.add(text);
        self.documents.push((inner, document));
    }

    fn markdown(&mut self, index: usize, content: &str) {
        let front = content.len() - metier_model::body(content).len();
        if front > 0 {
            // The frontmatter is text too: prompts contain its description, and its installers contain commands.
            self.fields(index, &content[..front]);
            self.command_lines(index, 0, &content[..front], SentenceRole::Instruction);
        }
        let mut document = prose::document(&content[front..]);
        shift(&mut document, front);
        for code in &document.code {
            if let Some(language) = language_of(code) {
                let before = self.origins.len();
                self.program(index, code.at.start, &code.text, language, code.role, false);
                if let Some(origin) = self.origins.get_mut(before) {
                    origin.inline = code.inline;
                }
            } else if matches!(code.language.as_str(), "yaml" | "yml" | "toml" | "json") {
                // Workflow steps, hooks and servers contain commands as data.
                self.command_lines(index, code.at.start, &code.text, code.role);
            } else if is_unparsed(&code.language) {
                for (at, line) in crate::unparsed::chains(&code.text) {
                    let (at, shell) = (code.at.start + at, EvaluatedLanguage::Shell);
                    self.program(index, at, &line, shell, code.role, false);
                }
            }
        }
        self.documents.push((index, document));
        self.wide_commands(index, content);
        // `!command` runs when the skill is rendered, whatever the rest of the line is.
        let mut start = front;
        for line in content[front..].split_inclusive('\n') {
            if let Some(command) = line.strip_prefix('!').filter(|rest| !rest.starts_with('[')) {
                self.program(
                    index,
                    start + 1,
                    command,
                    EvaluatedLanguage::Shell,
                    SentenceRole::Instruction,
                    false,
                );
            }
            start += line.len();
        }
    }

    pub(crate) fn program(
        &mut self,
        text: usize,
        start: usize,
        content: &str,
        language: EvaluatedLanguage,
        role: SentenceRole,
        is_file: bool,
    ) {
        let program = self
            .lowering
            .program(content, language, ScriptDialect::TypeScript);
        self.lowered(text, start, language, program, role, is_file);
    }

    fn lowered(
        &mut self,
        text: usize,
        start: usize,
        language: EvaluatedLanguage,
        program: crate::form::LoweredProgram,
        role: SentenceRole,
        is_file: bool,
    ) {
        if program.unparsed {
            let path = self.texts.0[text].file.clone();
            self.unparsed(&path, language);
        }
        if program.body.is_empty() && program.broken.is_none() {
            return;
        }
        if program.cut {
            let path = self.texts.0[text].file.clone();
            self.unread(
                &path,
                "parts of it are nested too deeply to parse".to_owned(),
            );
        }
        let path = &self.texts.0[text].file;
        // A file whose type differs from what its name suggests, or without a single parsed statement, counts as unread.
        let whole = self.texts.0[text].within.is_none() && !self.texts.0[text].embedded;
        if is_file && program.body.is_empty() && whole && !program.unparsed {
            let path = path.clone();
            self.unread(&path, "it could not be parsed".to_owned());
        }
        let path = &self.texts.0[text].file;
        let module = path.rsplit(['/', '!']).next().unwrap_or_default();
        let module = module.split('.').next().unwrap_or_default();
        let index = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        let space: Rc<str> = format!(
            "{path}#{language:?}{}",
            u8::from(role == SentenceRole::Warning)
        )
        .into();
        self.units.push(Unit {
            language,
            program,
            space,
            module: module.into(),
            index,
        });
        self.origins.push(TextOrigin {
            text,
            start,
            role,
            is_file,
            inline: false,
        });
    }

    /// Scans lines of data and prose that contain a command.
    pub(crate) fn command_lines(
        &mut self,
        text: usize,
        offset: usize,
        content: &str,
        role: SentenceRole,
    ) {
        let mut start = offset;
        for line in content.split_inclusive('\n') {
            if let Some(at) = command_in(line) {
                // "Never run `…`"
                let role = match prose::denies(&line[..at]) {
                    true => SentenceRole::Warning,
                    false => role,
                };
                // Prefixes of commands in makefiles and container files.
                let command = line[at..].trim_start_matches(['@', '-']);
                let command = command.strip_prefix("RUN ").unwrap_or(command);
                let command = within_quotes(&line[..at], command);
                let command = without_closers(command).replace("\\\"", "\"");
                let head = command.get(..10).unwrap_or(&command).to_ascii_lowercase();
                let language = match head.starts_with("powershell") || head.starts_with("pwsh") {
                    true => EvaluatedLanguage::PowerShell,
                    false => EvaluatedLanguage::Shell,
                };
                self.program(text, start + at, &command, language, role, false);
            }
            start += line.len();
        }
    }

    /// Scans the decoded parts of a text.
    fn encoded(&mut self, index: usize, content: &str) {
        let pieces = decode::decoded(content, &mut self.budget);
        for piece in pieces {
            let mut text = ScannedText::new(self.texts.0[index].file.clone(), piece.text);
            text.within = Some((index, piece.at.start));
            text.encoded = Some(
                piece
                    .how
                    .iter()
                    .map(|how| format!("{how:?}").to_lowercase())
                    .collect::<Vec<_>>()
                    .join(", then "),
            );
            let inner = self.texts.add(text);
            let content = Rc::clone(&self.texts.0[inner].content);
            let language = guess(&content);
            match language {
                Some(language) => {
                    self.program(
                        inner,
                        0,
                        &content,
                        language,
                        SentenceRole::Instruction,
                        false,
                    );
                }
                None => self.command_lines(inner, 0, &content, SentenceRole::Instruction),
            }
            let document = prose::plain(&content);
            self.documents.push((inner, document));
        }
    }

    /// Scans text that was encoded in invisible characters.
    pub(crate) fn smuggled(&mut self, index: usize, at: usize, content: String) {
        let mut text = ScannedText::new(self.texts.0[index].file.clone(), content);
        text.within = Some((index, at));
        text.encoded = Some("hidden characters".to_owned());
        let inner = self.texts.add(text);
        let content = Rc::clone(&self.texts.0[inner].content);
        self.command_lines(inner, 0, &content, SentenceRole::Instruction);
        self.documents.push((inner, prose::plain(&content)));
    }

    /// Reports an oddity of a whole file.
    pub(crate) fn odd(&mut self, oddity: FileOddity, file: &str, evidence: &str, serious: bool) {
        self.odd_in(
            oddity,
            crate::report::FindingLocation {
                file: file.to_owned(),
                line: 1,
                column: 1,
            },
            evidence,
            serious,
        );
    }

    /// Reports an oddity at an offset of a text.
    pub(crate) fn odd_at(
        &mut self,
        oddity: FileOddity,
        text: usize,
        at: usize,
        evidence: &str,
        serious: bool,
    ) {
        let place = self.texts.place(text, at);
        self.odd_in(oddity, place, evidence, serious);
    }

    fn odd_in(
        &mut self,
        oddity: FileOddity,
        place: crate::report::FindingLocation,
        evidence: &str,
        serious: bool,
    ) {
        let Some(rule) = rules::all()
            .find(|rule| matches!(rule.when, RuleCondition::Oddity(own) if own == oddity))
        else {
            return;
        };
        self.push(Finding {
            severity: if serious {
                rule.severity
            } else {
                rule.severity.lower()
            },
            message: rule.message.to_owned(),
            evidence: matching::shown(evidence),
            rule: FoundBy::Builtin(rule),
            place,
            steps: Vec::new(),
        });
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        self.report.findings.push(finding);
    }

    fn finish(mut self, limits: &ScanLimits) -> ScanReport {
        crate::containers::bytecode(&mut self);
        let seen = Evaluator::run(&self.units, &self.names, self.lowering.again());
        let acts = &seen.acts;
        if !seen.complete {
            self.unread("", "its programs are too large to analyze".to_owned());
        }
        for language in &seen.unparsed {
            self.unparsed("", *language);
        }
        let context = DeclaredContext::new(self.about);
        for act in acts.iter().chain(&remote_shells(acts)) {
            self.act(act, &context);
        }
        crate::chains::look(&mut self, acts, &context);
        matching::sentences(&mut self);
        matching::patterns(&mut self);
        self.report.capabilities = capability::of(&self, &seen);
        capability::undeclared(&mut self);
        crate::report_order::settle(&mut self.report, limits);
        self.report
    }

    fn act(&mut self, act: &ProgramAct, context: &DeclaredContext) {
        let Some(origin) = self.origins.get(act.site.unit as usize).copied() else {
            return;
        };
        for rule in rules::all() {
            let (matched, source) = match &rule.when {
                RuleCondition::Flow { from, to, hosts } => {
                    if !to.contains(&act.kind) {
                        continue;
                    }
                    let source = act.taints.iter().find(|taint| {
                        from.contains(&taint.source.kind)
                            && host_matches(*hosts, act, taint, context)
                    });
                    (source.is_some(), source)
                }
                RuleCondition::Act(kind, test) => (*kind == act.kind && test(act), None),
                _ => continue,
            };
            if !matched {
                continue;
            }
            let place = self.place(act.site);
            let steps = source.map(|taint| ChainStep {
                place: self.place(taint.site),
                what: taint.source.what.replace('\0', "…"),
            });
            let mut severity = matching::in_context(rule.severity, rule, &origin, &self.texts);
            if matching::is_half_known(rule, act, source, &origin) {
                severity = severity.lower();
            }
            let message = matching::message(rule, act, source);
            let evidence = self.evidence(act, &origin);
            if severity == FindingSeverity::Critical && self.texts.0[origin.text].encoded.is_some()
            {
                self.odd_at(FileOddity::EncodedText, origin.text, 0, &evidence, true);
            }
            self.push(Finding {
                rule: FoundBy::Builtin(rule),
                severity,
                place,
                message,
                evidence,
                steps: steps.into_iter().collect(),
            });
        }
    }

    pub(crate) fn place(&self, site: Site) -> crate::report::FindingLocation {
        match self.origins.get(site.unit as usize) {
            Some(origin) => self
                .texts
                .place(origin.text, origin.start + site.at as usize),
            None => self.texts.place(usize::MAX, 0),
        }
    }

    pub(crate) fn evidence(&self, act: &ProgramAct, origin: &TextOrigin) -> String {
        let text = &self.texts.0[origin.text];
        let line = text.line_at(origin.start + act.site.at as usize).trim();
        match &text.encoded {
            Some(how) => matching::shown(&format!("{how}: {line}")),
            None => matching::shown(line),
        }
    }
}

/// Whether a rule applies to the host of an act, or to the host from which its source was downloaded.
fn host_matches(
    hosts: HostCondition,
    act: &ProgramAct,
    taint: &crate::flow::Taint,
    context: &DeclaredContext,
) -> bool {
    let fetched = (taint.source.kind == crate::flow::SourceKind::Download)
        .then(|| RemoteHost::of(&taint.source.what))
        .flatten();
    let host = match act.kind {
        ActKind::Send | ActKind::Fetch => act.host.as_ref(),
        _ => fetched.as_ref(),
    };
    // A service gets the key that it issued.
    let own = taint.source.kind == crate::flow::SourceKind::SecretVariable
        && host.is_some_and(|host| host.owns(&taint.source.what));
    let related = || host.is_some_and(|host| context.is_related(host));
    match hosts {
        HostCondition::Strangers => hosts.covers(host) && !related(),
        HostCondition::Receivers => {
            let anyone = host.is_some_and(|host| host.kind == HostKind::Anonymous);
            hosts.covers(host) && !own && !(anyone && related())
        }
        HostCondition::Unrelated => match host {
            Some(host) => {
                matches!(host.kind, HostKind::Other | HostKind::Example)
                    && !context.is_related(host)
            }
            None => false,
        },
        other => other.covers(host),
    }
}

pub(crate) fn shift(document: &mut MarkdownDocument, by: usize) {
    for sentence in &mut document.sentences {
        sentence.at = sentence.at.start + by..sentence.at.end + by;
    }
    for code in &mut document.code {
        code.at = code.at.start + by..code.at.end + by;
    }
    for (at, _) in &mut document.html {
        *at = at.start + by..at.end + by;
    }
}

/// Whether a link points outside the skill.
fn is_outside(path: &str, target: &str) -> bool {
    if target.starts_with(['/', '~']) || target.contains(':') {
        return true;
    }
    let mut depth = path.split('/').count() as i64 - 1;
    for part in target.split('/') {
        match part {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

/// All built-in rules.
pub fn builtin_rules() -> impl Iterator<Item = &'static ScanRule> {
    rules::all()
}
