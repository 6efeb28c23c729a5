//! The content of files, paths in strings, and calls of functions that are known as values.

use super::{Evaluator, FlowValue, SourceKind, is_dot_env, is_temporary, path_kind, vocabulary};
use crate::{
    flow::{ActKind, EvaluatedLanguage, ObservedKind, PathKind, UNKNOWN},
    form::{At, CallExpr},
};

impl Evaluator<'_> {
    /// Records the download and run in a string, if it were a command line.
    pub(super) fn mention(&mut self, text: &str, at: At) {
        let (acts, used, unparsed) = (self.acts.len(), self.used.len(), self.unparsed.clone());
        let names = self.names.clone();
        let files = self.files.clone();
        let language = match text.to_ascii_lowercase().contains("iex") {
            true => EvaluatedLanguage::PowerShell,
            false => EvaluatedLanguage::Shell,
        };
        self.program(language, text, at);
        self.used.truncate(used);
        (self.names, self.files, self.unparsed) = (names, files, unparsed);
        let (mut ran, mut sent) = (None, None);
        for act in self.acts.drain(acts..) {
            match act.kind {
                ActKind::Run | ActKind::Eval if act.came_from(SourceKind::Download) => {
                    ran.get_or_insert(act);
                }
                ActKind::Send if act.host.is_some() => {
                    sent.get_or_insert(act);
                }
                _ => {}
            }
        }
        if let Some(ran) = ran {
            self.act(ActKind::Mention, at, text, "", None, ran.taints);
        } else if let Some(sent) = sent {
            self.act(ActKind::Mention, at, text, "", sent.host, Vec::new());
        }
    }

    /// Calls a function by its name, with these values.
    pub(in crate::flow) fn call_named(
        &mut self,
        callee: &str,
        call: &CallExpr,
        args: &[(Option<&str>, FlowValue)],
    ) -> Option<FlowValue> {
        if let Some(value) = self.call_own(callee, args) {
            return Some(value);
        }
        let role = vocabulary::role(self.language, callee)?;
        let mut given = FlowValue::default();
        args.iter().for_each(|(_, value)| given.absorb(value));
        given.made_by = Some(callee.into());
        let called = vocabulary::KnownCall {
            callee,
            call,
            on: None,
            args,
        };
        Some(vocabulary::apply(self, role, &called, given))
    }

    /// A path that the machine chooses: its folder and its name are not known, but it is the same wherever it is used.
    pub(in crate::flow) fn made_path(&self, maker: &str, at: At) -> String {
        let maker = maker.rsplit('.').next().unwrap_or_default();
        format!("{UNKNOWN}/{maker}_{}_{at}", self.unit)
    }

    /// The source kind of data that is read from a path.
    pub(in crate::flow) fn read(&mut self, path: &FlowValue, at: At) -> FlowValue {
        let site = self.site(at);
        let mut value = FlowValue::default();
        value.absorb(path);
        let unknown = path.place().filter(|_| path.texts.is_empty());
        if let Some(stored) = unknown.and_then(|place| self.file(&place)).cloned() {
            value.absorb(&stored);
            value.texts = stored.texts;
        }
        for text in &path.texts {
            if let Some(stored) = self.file(text).cloned() {
                value.absorb(&stored);
                value.texts = stored.texts;
            }
            let kind = match path_kind(text) {
                PathKind::Credential => Some(SourceKind::CredentialFile),
                PathKind::Browser => Some(SourceKind::Browser),
                PathKind::Wallet => Some(SourceKind::Wallet),
                PathKind::Keychain => Some(SourceKind::Keychain),
                PathKind::History => Some(SourceKind::History),
                PathKind::Agent => Some(SourceKind::AgentMemory),
                PathKind::Home | PathKind::Root => Some(SourceKind::UserFiles),
                PathKind::System => Some(SourceKind::HostFacts),
                PathKind::Autostart | PathKind::Device | PathKind::Other => None,
            };
            match kind {
                Some(kind) => value.taint(kind, text, site),
                None if is_dot_env(text) => value.taint(SourceKind::SecretVariable, text, site),
                None if is_temporary(text) && self.file(text).is_none() => {
                    value.taint(SourceKind::TempFile, text, site);
                }
                None => {}
            }
        }
        for text in &path.texts {
            self.act(ActKind::Read, at, text, "", None, Vec::new());
        }
        if path.texts.is_empty() {
            self.each(path, at, ObservedKind::Read);
        }
        value
    }

    /// The path of a secret counts as a source: it can be opened where its string is no longer known.
    pub(in crate::flow) fn name_path(&mut self, value: &mut FlowValue, at: At) {
        if !matches!(
            self.language,
            EvaluatedLanguage::Python | EvaluatedLanguage::JavaScript
        ) {
            return;
        }
        let site = self.site(at);
        let found = value
            .known()
            .filter(|text| text.len() < 200 && text.contains(['/', '.', '\\']))
            // A sentence that contains a path is not a path; `Login Data` has its space at the end.
            .filter(|text| {
                let sign = text.find(['/', '\\']).unwrap_or(text.len());
                !text[..sign].contains(' ')
            })
            .and_then(|text| {
                let kind = match path_kind(text) {
                    PathKind::Credential => SourceKind::CredentialFile,
                    PathKind::Browser => SourceKind::Browser,
                    PathKind::Wallet => SourceKind::Wallet,
                    PathKind::Keychain => SourceKind::Keychain,
                    _ => return None,
                };
                Some((kind, text.to_owned()))
            });
        if let Some((kind, text)) = found {
            value.taint(kind, &text, site);
        }
    }
}

/// Whether a string may be a command line that downloads and runs something; most strings are not, and parsing takes time.
pub(super) fn is_pipeline(text: &str) -> bool {
    const LONGEST: usize = 2000;
    if text.len() > LONGEST || !text.contains("http") {
        return false;
    }
    let has = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    has(&[
        "curl ",
        "wget ",
        "iwr ",
        "irm ",
        "Invoke-WebRequest",
        "Invoke-RestMethod",
        "DownloadString",
        "fetch ",
    ]) && has(&[
        "|",
        "$(",
        "`",
        "<(",
        "&&",
        ";",
        "iex",
        "IEX",
        "Invoke-Expression",
        " -d ",
        " -T ",
        " -F ",
        "--data",
    ])
}
