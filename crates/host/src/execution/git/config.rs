//! The configuration that git runs with: settings of the repository that are known to be only data, and our own.
//!
//! Git obeys hundreds of keys, dozens of which name programs (`core.fsmonitor`, `filter.*.clean`, `diff.*.textconv`, …), and each
//! version adds some. So a repository's configuration is never given to git. It is parsed here, and the keys in [`HARMLESS`] are
//! written to a new file; at worst a misread value is missing.

use std::fmt::Write as _;

pub(super) use crate::git_settings::{Setting, read};

/// Settings that are only data: how files are stored, who commits, how files are compared. `*` is any subsection.
const HARMLESS: &[&str] = &[
    "author.email",
    "author.name",
    "branch.*.merge",
    "branch.*.remote",
    "committer.email",
    "committer.name",
    "core.autocrlf",
    "core.bare",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.precomposeunicode",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "diff.algorithm",
    "diff.renames",
    "extensions.compatobjectformat",
    "extensions.noop",
    "extensions.objectformat",
    "extensions.preciousobjects",
    "extensions.refstorage",
    "i18n.commitencoding",
    "i18n.logoutputencoding",
    "merge.conflictstyle",
    "merge.directoryrenames",
    "merge.renames",
    "remote.*.fetch",
    "user.email",
    "user.name",
    "user.useconfigonly",
];

/// Our own settings. They are last in the file, so that they win, and are also passed as `-c`, which reaches a git that git starts
/// in a submodule.
pub(super) const OURS: &[(&str, &str)] = &[
    ("branch.autoSetupMerge", "false"),
    ("commit.gpgSign", "false"),
    ("core.alternateRefsCommand", "false"),
    ("core.askPass", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.editor", ":"),
    ("core.fsmonitor", "false"),
    ("core.gitProxy", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.sshCommand", "false"),
    ("credential.helper", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("fetch.recurseSubmodules", "false"),
    ("gc.auto", "0"),
    ("gpg.openpgp.program", "false"),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    ("maintenance.auto", "false"),
    ("protocol.allow", "never"),
    ("sequence.editor", ":"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    ("tag.gpgSign", "false"),
];

impl Setting {
    fn is_harmless(&self) -> bool {
        let name = match self.subsection {
            Some(_) => format!("{}.*.{}", self.section, self.key),
            None => format!("{}.{}", self.section, self.key),
        };
        HARMLESS.contains(&name.as_str())
    }

    /// Whether it is this key, with the value true.
    pub(super) fn is_true(&self, section: &str, key: &str) -> bool {
        let value = self.value.as_deref().unwrap_or("true");
        let value = value.to_ascii_lowercase();
        self.section == section
            && self.subsection.is_none()
            && self.key == key
            && ["true", "yes", "on", "1"].contains(&value.as_str())
    }
}

/// The file that git reads in place of the repository's: its harmless settings, `more`, and ours.
pub(super) fn write(settings: &[Setting], more: &[Setting]) -> String {
    let mut text = String::new();
    let harmless = settings.iter().filter(|setting| setting.is_harmless());
    for setting in harmless.chain(more) {
        add(&mut text, setting);
    }
    for (name, value) in OURS {
        let (section, rest) = name.split_once('.').unwrap_or((name, ""));
        let (subsection, key) = match rest.split_once('.') {
            Some((subsection, key)) => (Some(subsection.to_owned()), key),
            None => (None, rest),
        };
        let setting = Setting {
            section: section.to_owned(),
            subsection,
            key: key.to_owned(),
            value: Some((*value).to_owned()),
        };
        add(&mut text, &setting);
    }
    text
}

/// Appends one setting, unless it contains characters that can't be written.
fn add(text: &mut String, setting: &Setting) {
    let control = |part: &str| {
        part.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t')
    };
    let subsection = setting.subsection.as_deref().unwrap_or_default();
    let value = setting.value.as_deref().unwrap_or("true");
    if subsection.contains(char::is_control) || control(value) {
        return;
    }
    let escape = |part: &str| part.replace('\\', "\\\\").replace('"', "\\\"");
    let header = match &setting.subsection {
        Some(name) => format!("[{} \"{}\"]", setting.section, escape(name)),
        None => format!("[{}]", setting.section),
    };
    let value = escape(value).replace('\n', "\\n").replace('\t', "\\t");
    let _never_fails = writeln!(text, "{header}\n\t{} = \"{value}\"", setting.key);
}

/// Our setting for one submodule: git must not enter it, whatever the repository's settings are.
pub(super) fn ignored_submodule(name: &str) -> Setting {
    Setting {
        section: "submodule".to_owned(),
        subsection: Some(name.to_owned()),
        key: "ignore".to_owned(),
        value: Some("dirty".to_owned()),
    }
}
