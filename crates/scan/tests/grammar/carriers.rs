//! The places for an idiom, by language.

use crate::{
    idioms::{IdiomLanguage, IdiomText},
    made,
    slots::base64,
};

/// The files of a skill.
pub(crate) struct MadeSkill {
    pub(crate) description: String,
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// A place, and whether the harmless twin is put there too: some places are suspicious by themselves.
pub(crate) struct Carrier {
    pub(crate) name: &'static str,
    pub(crate) for_twins: bool,
    pub(crate) place: fn(&IdiomText) -> MadeSkill,
}

const fn carrier(name: &'static str, place: fn(&IdiomText) -> MadeSkill) -> Carrier {
    Carrier {
        name,
        for_twins: true,
        place,
    }
}

const fn shady(name: &'static str, place: fn(&IdiomText) -> MadeSkill) -> Carrier {
    Carrier {
        name,
        for_twins: false,
        place,
    }
}

/// The carriers of a language.
pub(crate) const fn carriers(language: IdiomLanguage) -> &'static [Carrier] {
    match language {
        IdiomLanguage::Shell => SHELL,
        IdiomLanguage::Python => PYTHON,
        IdiomLanguage::JavaScript => JAVASCRIPT,
        IdiomLanguage::PowerShell => POWERSHELL,
        IdiomLanguage::Batch => BATCH,
        IdiomLanguage::Prose => PROSE,
        IdiomLanguage::Files => FILES,
    }
}

const SHELL: &[Carrier] = &[
    carrier("script", |it| {
        script(it, "scripts/prepare.sh", "bash", |body| {
            format!("#!/usr/bin/env bash\nset -e\n{body}\n")
        })
    }),
    carrier("fence", |it| fenced(it, "bash", &it.body)),
    carrier("reference", |it| referenced(it, "bash", &it.body)),
    carrier("function", |it| {
        script(it, "scripts/prepare.sh", "bash", |body| {
            format!(
                "#!/bin/bash\nprepare() {{\n{}\n}}\nprepare \"$@\"\n",
                indented(body)
            )
        })
    }),
    carrier("heredoc", |it| {
        script(it, "scripts/prepare.sh", "bash", |body| {
            format!("#!/bin/sh\nbash <<'SETUP'\n{body}\nSETUP\n")
        })
    }),
    carrier("python", |it| {
        script(it, "scripts/prepare.py", "python3", |body| {
            format!(
                "import subprocess\n\nCOMMANDS = {}\nsubprocess.run([\"bash\", \"-c\", COMMANDS], check=False)\n",
                quoted(body)
            )
        })
    }),
    carrier("javascript", |it| {
        script(it, "scripts/prepare.js", "node", |body| {
            format!(
                "const {{ execSync }} = require('child_process');\nexecSync({}, {{ shell: '/bin/bash' }});\n",
                quoted(body)
            )
        })
    }),
    carrier("postinstall", |it| {
        with_file(
            it,
            "Install the helper with `npm install`.",
            "package.json",
            format!(
                "{{\n  \"name\": \"release-notes\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {{ \"postinstall\": {} }}\n}}\n",
                quoted(&it.body)
            ),
        )
    }),
    shady("hidden", |it| {
        with_file(
            it,
            "Run `.cache/prepare` once.",
            ".cache/prepare",
            format!("#!/bin/bash\n{}\n", it.body),
        )
    }),
    carrier("zip", |it| {
        zipped(it, "prepare.sh", &format!("#!/bin/bash\n{}\n", it.body))
    }),
    shady("base64", |it| {
        fenced(
            it,
            "bash",
            &format!("echo {} | base64 -d | bash", base64(it.body.as_bytes())),
        )
    }),
];

const PYTHON: &[Carrier] = &[
    carrier("script", |it| {
        script(it, "scripts/prepare.py", "python3", |body| {
            format!("{body}\n")
        })
    }),
    carrier("fence", |it| fenced(it, "python", &it.body)),
    carrier("reference", |it| referenced(it, "python", &it.body)),
    carrier("function", |it| {
        script(it, "scripts/prepare.py", "python3", |body| {
            format!(
                "def main():\n{}\n\n\nif __name__ == \"__main__\":\n    main()\n",
                indented(body)
            )
        })
    }),
    carrier("module", |it| {
        let mut made = script(it, "scripts/prepare.py", "python3", |_| {
            "from notes.core import prepare\n\nprepare()\n".to_owned()
        });
        made.files.push((
            "scripts/notes/core.py".to_owned(),
            format!("def prepare():\n{}\n", indented(&it.body)).into_bytes(),
        ));
        made
    }),
    carrier("heredoc", |it| {
        fenced(it, "bash", &format!("python3 - <<'PY'\n{}\nPY", it.body))
    }),
    carrier("notebook", |it| {
        with_file(
            it,
            "Run all cells of `notebooks/prepare.ipynb`.",
            "notebooks/prepare.ipynb",
            notebook(&it.body),
        )
    }),
    carrier("zip", |it| {
        zipped(it, "prepare.py", &format!("{}\n", it.body))
    }),
    shady("base64", |it| {
        script(it, "scripts/prepare.py", "python3", |body| {
            format!(
                "import base64\n\nexec(base64.b64decode(\"{}\"))\n",
                base64(body.as_bytes())
            )
        })
    }),
];

const JAVASCRIPT: &[Carrier] = &[
    carrier("script", |it| {
        script(it, script_name(&it.body), "node", |body| {
            format!("{body}\n")
        })
    }),
    carrier("fence", |it| fenced(it, "javascript", &it.body)),
    carrier("reference", |it| referenced(it, "js", &it.body)),
    carrier("typescript", |it| {
        script(it, "scripts/prepare.ts", "npx tsx", |body| {
            format!("{body}\nexport {{}};\n")
        })
    }),
    carrier("function", |it| {
        script(it, "scripts/prepare.js", "node", |body| {
            format!(
                "async function main() {{\n{}\n}}\nmain().catch(() => {{}});\n",
                indented(body)
            )
        })
    }),
    carrier("module", |it| {
        let mut made = script(it, "scripts/prepare.js", "node", |_| {
            "const { prepare } = require('./lib/core');\nprepare();\n".to_owned()
        });
        made.files.push((
            "scripts/lib/core.js".to_owned(),
            format!(
                "exports.prepare = async () => {{\n{}\n}};\n",
                indented(&it.body)
            )
            .into_bytes(),
        ));
        made
    }),
    carrier("heredoc", |it| {
        fenced(it, "bash", &format!("node - <<'JS'\n{}\nJS", it.body))
    }),
    carrier("zip", |it| {
        zipped(it, "prepare.js", &format!("{}\n", it.body))
    }),
    shady("base64", |it| {
        script(it, "scripts/prepare.js", "node", |body| {
            format!(
                "eval(Buffer.from('{}', 'base64').toString());\n",
                base64(body.as_bytes())
            )
        })
    }),
];

const POWERSHELL: &[Carrier] = &[
    carrier("script", |it| {
        script(it, "scripts/prepare.ps1", "powershell -File", |body| {
            format!("{body}\n")
        })
    }),
    carrier("fence", |it| fenced(it, "powershell", &it.body)),
    carrier("reference", |it| referenced(it, "ps1", &it.body)),
    carrier("function", |it| {
        script(it, "scripts/prepare.ps1", "pwsh", |body| {
            format!(
                "function Invoke-Prepare {{\n{}\n}}\nInvoke-Prepare\n",
                indented(body)
            )
        })
    }),
    carrier("zip", |it| {
        zipped(it, "prepare.ps1", &format!("{}\n", it.body))
    }),
    shady("encoded", |it| {
        let wide: Vec<u8> = it.body.encode_utf16().flat_map(u16::to_le_bytes).collect();
        fenced(
            it,
            "powershell",
            &format!("powershell -NoProfile -EncodedCommand {}", base64(&wide)),
        )
    }),
];

const BATCH: &[Carrier] = &[
    carrier("script", |it| {
        script(it, "scripts/prepare.bat", "cmd /c", |body| {
            format!("@echo off\r\n{}\r\n", body.replace('\n', "\r\n"))
        })
    }),
    carrier("cmd-file", |it| {
        script(it, "scripts/prepare.cmd", "cmd /c", |body| {
            format!("{body}\n")
        })
    }),
    carrier("fence", |it| fenced(it, "bat", &it.body)),
    carrier("reference", |it| referenced(it, "cmd", &it.body)),
    carrier("zip", |it| {
        zipped(it, "prepare.bat", &format!("{}\n", it.body))
    }),
];

const PROSE: &[Carrier] = &[
    carrier("body", |it| skill(it, &it.body)),
    carrier("list", |it| {
        skill(
            it,
            &format!(
                "1. Read the list of commits.\n2. {}\n3. Write the notes.",
                it.body
            ),
        )
    }),
    carrier("reference", |it| {
        with_file(
            it,
            "Follow `references/guide.md` first.",
            "references/guide.md",
            format!("# Guide\n\n{}\n", it.body),
        )
    }),
    carrier("description", |it| {
        let mut made = skill(
            &IdiomText {
                about: it.about.clone(),
                body: String::new(),
            },
            "Reads commits.",
        );
        made.description = format!("Formats release notes. {}", it.body);
        let head = format!(
            "---\nname: release-notes\ndescription: {}\n---\n",
            quoted(&made.description)
        );
        made.files[0].1 = [
            head.as_bytes(),
            b"# Release notes\n\nReads commits, writes notes.\n",
            it.about.as_bytes(),
        ]
        .concat();
        made
    }),
    carrier("spaced", |it| skill(it, &it.body.replace(' ', "  "))),
    carrier("emphasis", |it| skill(it, &emphasised(&it.body))),
    carrier("text-file", |it| {
        with_file(
            it,
            "Follow `assets/setup.txt`.",
            "assets/setup.txt",
            format!("{}\n", it.body),
        )
    }),
    carrier("json-field", |it| {
        with_file(
            it,
            "Settings are in `plugin.json`.",
            "plugin.json",
            format!(
                "{{\n  \"name\": \"release-notes\",\n  \"instructions\": {}\n}}\n",
                quoted(&it.body)
            ),
        )
    }),
    shady("comment", |it| {
        skill(it, &format!("Writes notes.\n\n<!-- {} -->", it.body))
    }),
    shady("full-width", |it| skill(it, &wide(&it.body))),
    shady("look-alikes", |it| skill(it, &look_alike(&it.body))),
    shady("docstring", |it| {
        script(it, "scripts/notes.py", "python3", |body| {
            format!(
                "\"\"\"Formats notes.\n\nNote to the assistant: {body}\n\"\"\"\nprint(\"notes\")\n"
            )
        })
    }),
];

const FILES: &[Carrier] = &[
    carrier("as-is", |it| files(it, "")),
    carrier("deep", |it| files(it, "assets/vendor/tools/x/y/z/")),
    carrier("zip", |it| {
        let parts = parts(&it.body);
        let members: Vec<(&str, &[u8])> = parts
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_bytes()))
            .collect();
        let mut made = skill(it, "Unpack `assets/kit.zip` and use it.");
        made.files
            .push(("assets/kit.zip".to_owned(), made::zipped(&members)));
        made
    }),
];

/// A skill with this text.
fn skill(it: &IdiomText, text: &str) -> MadeSkill {
    let description = "Formats release notes from a list of commits.".to_owned();
    let manifest = format!(
        "---\nname: release-notes\ndescription: {description}\n---\n# Release notes\n\nReads a list of commits and writes notes for a release.\n\n{}\n{text}\n",
        it.about
    );
    MadeSkill {
        description,
        files: vec![("SKILL.md".to_owned(), manifest.into_bytes())],
    }
}

fn with_file(it: &IdiomText, sentence: &str, path: &str, content: String) -> MadeSkill {
    let mut made = skill(it, sentence);
    made.files.push((path.to_owned(), content.into_bytes()));
    made
}

fn script(
    it: &IdiomText,
    path: &str,
    program: &str,
    content: impl Fn(&str) -> String,
) -> MadeSkill {
    let sentence = format!("Run `{program} {path}` before the first use.");
    with_file(it, &sentence, path, content(&it.body))
}

fn fenced(it: &IdiomText, language: &str, code: &str) -> MadeSkill {
    skill(
        it,
        &format!(
            "## Setup\n\nBefore the first use, run:\n\n```{language}\n{code}\n```\n\nThen write the notes."
        ),
    )
}

fn referenced(it: &IdiomText, language: &str, code: &str) -> MadeSkill {
    let text = format!("# Setup\n\nRun this once:\n\n```{language}\n{code}\n```\n");
    with_file(
        it,
        "The setup is in `references/setup.md`.",
        "references/setup.md",
        text,
    )
}

fn zipped(it: &IdiomText, name: &str, content: &str) -> MadeSkill {
    let mut made = skill(it, &format!("Unpack `assets/kit.zip` and run `{name}`."));
    made.files.push((
        "assets/kit.zip".to_owned(),
        made::zipped(&[(name, content.as_bytes())]),
    ));
    made
}

fn files(it: &IdiomText, below: &str) -> MadeSkill {
    let mut made = skill(it, "Everything that is needed comes with the skill.");
    for (path, text) in parts(&it.body) {
        made.files
            .push((format!("{below}{path}"), text.into_bytes()));
    }
    made
}

/// The files of a body: each begins with `>> PATH`.
fn parts(body: &str) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for line in body.lines() {
        match line.strip_prefix(">> ") {
            Some(path) => parts.push((path.to_owned(), String::new())),
            None => {
                if let Some((_, text)) = parts.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    parts
}

fn script_name(body: &str) -> &'static str {
    if body.contains("await ") || body.contains("import ") {
        "scripts/prepare.mjs"
    } else {
        "scripts/prepare.js"
    }
}

fn indented(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

/// A literal that JSON, Python and JavaScript parse alike.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text")
}

fn notebook(body: &str) -> String {
    let lines: Vec<String> = body.lines().map(|line| format!("{line}\n")).collect();
    serde_json::json!({
        "cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": null, "source": lines}],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5
    })
    .to_string()
}

/// Every third word in bold, every fifth in italics; URLs and code are unchanged.
fn emphasised(text: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .enumerate()
        .map(|(at, word)| match at {
            _ if word.is_empty() || word.contains(['/', '`', '*', '|', '~']) => word.to_owned(),
            _ if at % 3 == 0 => format!("**{word}**"),
            _ if at % 5 == 0 => format!("*{word}*"),
            _ => word.to_owned(),
        })
        .collect();
    words.join(" ")
}

/// Full-width letters, outside URLs and code.
fn wide(text: &str) -> String {
    by_word(text, |letter| match letter {
        '!'..='~' => char::from_u32(letter as u32 + 0xfee0).unwrap_or(letter),
        other => other,
    })
}

/// Cyrillic letters that look Latin.
fn look_alike(text: &str) -> String {
    by_word(text, |letter| match letter {
        'a' => 'а',
        'e' => 'е',
        'o' => 'о',
        'p' => 'р',
        'c' => 'с',
        other => other,
    })
}

fn by_word(text: &str, one: impl Fn(char) -> char) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            if word.contains(['/', '`', '~']) {
                word.to_owned()
            } else {
                word.chars().map(&one).collect()
            }
        })
        .collect();
    words.join(" ")
}
