//! Programs that run their arguments or input, and commands that start programs automatically.

use super::{FETCHERS, RunCommand, SHELLS, fetched, invoke};
use crate::flow::{ActKind, EvaluatedLanguage, SourceKind, eval::Evaluator, value::FlowValue};

impl RunCommand<'_> {
    pub(super) fn shell(&self, this: &mut Evaluator<'_>) -> FlowValue {
        if self.has_flag("-c", 'c') {
            let code = self.operands().next().cloned().unwrap_or_default();
            this.act(
                ActKind::Run,
                self.at,
                &code.shown(),
                self.name,
                None,
                code.taints.clone(),
            );
            return this.with_ambient(&code, |this| {
                this.nested(EvaluatedLanguage::Shell, &code, self.at)
            });
        }
        if let Some(script) = self
            .operands()
            .find(|word| word.known() != Some("-"))
            .filter(|_| !self.has_flag("-s", 's') || self.input == FlowValue::default())
        {
            let mut taints = script.taints.clone();
            let devices = ["/dev/tcp/", "/dev/udp/"];
            let is_device = |path: &str| devices.iter().any(|device| path.starts_with(device));
            if script.known().is_some_and(is_device) {
                self.does(this, ActKind::RemoteShell);
            }
            taints.extend(fetched(this, script));
            this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
            // A script that the skill wrote itself is known.
            let written = script
                .place()
                .and_then(|path| this.file(&path))
                .cloned()
                .unwrap_or_default();
            return this.nested(EvaluatedLanguage::Shell, &written, self.at);
        }
        let waits = |taint: &crate::flow::Taint| {
            taint.source.kind == SourceKind::Download
                && ["nc ", "ncat ", "netcat ", "socat "]
                    .iter()
                    .any(|name| taint.source.what.starts_with(name))
        };
        if self.input.taints.iter().any(waits) {
            self.does(this, ActKind::RemoteShell);
        }
        if self.input != FlowValue::default() {
            return self.runs_input(this, ActKind::Run, EvaluatedLanguage::Shell);
        }
        // `bash -i >& /dev/tcp/…`
        if self.texts().any(|word| word.contains("/dev/tcp/")) {
            self.does(this, ActKind::RemoteShell);
        }
        FlowValue::default()
    }

    /// The inner command was evaluated as an argument, if the parser recognised it; otherwise it is among the words.
    pub(super) fn wrapper(&self, this: &mut Evaluator<'_>) -> FlowValue {
        if self.name == "env" && self.words.is_empty() {
            this.act(ActKind::Environment, self.at, "*", "", None, Vec::new());
            return FlowValue::source(SourceKind::Environment, "env", this.site(self.at));
        }
        let position = self.words.iter().position(|word| {
            word.known().is_some_and(|word| {
                let name = word.rsplit('/').next().unwrap_or_default();
                FETCHERS.contains(&name)
                    || SHELLS.contains(&name)
                    || matches!(
                        name,
                        "python"
                            | "python3"
                            | "node"
                            | "perl"
                            | "ruby"
                            | "rm"
                            | "cat"
                            | "eval"
                            | "nc"
                            | "powershell"
                            | "npx"
                            | "npm"
                            | "pip"
                            | "crontab"
                    )
            })
        });
        if let Some(position) = position {
            let program = self.words[position].clone();
            let words = self.words[position + 1..].to_vec();
            return invoke(this, &program, words, Some(self.input.clone()), self.at);
        }
        if let ("call", [program, rest @ ..]) = (self.name, self.words.as_slice()) {
            return invoke(
                this,
                program,
                rest.to_vec(),
                Some(self.input.clone()),
                self.at,
            );
        }
        if matches!(self.name, "cmd" | "su") {
            return self.started(this);
        }
        // xargs passes its input to the command: a download or a secret may be run or sent.
        let mut given = self.given();
        given.texts.clear();
        given
    }

    /// `python -m pip install …`
    fn module(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let [flag, module, rest @ ..] = self.words.as_slice() else {
            return None;
        };
        let installs = matches!(module.known(), Some("pip" | "pipx" | "uv"));
        if !self.name.starts_with("python") || flag.known() != Some("-m") || !installs {
            return None;
        }
        let input = Some(self.input.clone());
        Some(invoke(this, module, rest.to_vec(), input, self.at))
    }

    /// The arguments are run.
    fn loads(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let given = self.given();
        let taints = given.taints.clone();
        this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        given
    }

    /// Programs that run their arguments.
    pub(super) fn code(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        if let Some(value) = self.module(this) {
            return Some(value);
        }
        let inline = |flags: &[&str]| self.after(flags).cloned();
        let all = || FlowValue::concat(&self.words, " ");
        let (language, code) = match self.name {
            "eval" => (EvaluatedLanguage::Shell, Some(all())),
            "invoke-expression" if self.words.is_empty() => {
                (EvaluatedLanguage::PowerShell, Some(self.input.clone()))
            }
            // `[ScriptBlock]::Create($text)`, `$ExecutionContext.InvokeCommand.InvokeScript($text)`
            name if EXPRESSIONS.iter().any(|end| name.ends_with(end)) => {
                (EvaluatedLanguage::PowerShell, Some(all()))
            }
            // A library that is loaded runs.
            name if LOADERS.iter().any(|end| name.ends_with(end)) => return Some(self.loads(this)),
            "powershell" | "pwsh" => return Some(self.powershell(this)),
            name if name == "py" || name.starts_with("python") => {
                (EvaluatedLanguage::Python, inline(&["-c"]))
            }
            "node" | "bun" | "deno" => (
                EvaluatedLanguage::JavaScript,
                inline(&["-e", "--eval", "-p", "eval"]),
            ),
            "perl" | "ruby" | "php" | "lua" | "osascript" | "tclsh" => {
                let code = inline(&["-e", "-r", "-ne", "-E"]);
                if let Some(code) = &code {
                    this.act(
                        ActKind::Run,
                        self.at,
                        &code.shown(),
                        self.name,
                        None,
                        code.taints.clone(),
                    );
                    self.foreign(this, code);
                    return Some(FlowValue::default());
                }
                (EvaluatedLanguage::Shell, None)
            }
            name if LAUNCHERS.contains(&name) => return Some(self.launches(this)),
            "source" | "." => {
                let path = self.operands().next().cloned().unwrap_or_default();
                let mut taints = path.taints.clone();
                taints.extend(fetched(this, &path));
                this.act(ActKind::Run, self.at, &self.line(), "source", None, taints);
                return Some(FlowValue::default());
            }
            "at" | "batch" => (EvaluatedLanguage::Shell, Some(self.input.clone())),
            "trap" | "watch" => (EvaluatedLanguage::Shell, self.operands().next().cloned()),
            name if STARTERS.contains(&name) => return self.autostart(this),
            _ => return None,
        };
        if let Some(code) = code {
            this.act(
                ActKind::Eval,
                self.at,
                &code.shown(),
                self.name,
                None,
                code.taints.clone(),
            );
            return Some(this.with_ambient(&code, |this| this.nested(language, &code, self.at)));
        }
        if self.input != FlowValue::default()
            && self.operands().all(|word| word.known() == Some("-"))
        {
            return Some(self.runs_input(this, ActKind::Eval, language));
        }
        // `deno run URL`, `python script.py`, `powershell -File script.ps1`.
        let mut taints = Vec::new();
        for word in self.operands().take(3) {
            taints.extend(fetched(this, word));
            if let Some(url) = word
                .known()
                .filter(|word| is_address(word) && self.name != "curl")
            {
                taints.extend(
                    FlowValue::source(SourceKind::Download, url, this.site(self.at)).taints,
                );
            }
            // The words after the script are its own arguments.
            if word.known().is_some_and(|word| word.contains('.')) {
                break;
            }
        }
        this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        Some(self.given())
    }

    /// Programs that start their argument: a file, a URL, or a command line.
    fn launches(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let mut taints = Vec::new();
        for word in &self.words {
            if self.name != "open" {
                taints.extend(word.taints.iter().cloned());
            }
            taints.extend(fetched(this, word));
            let text = word.known().unwrap_or_default();
            let start = text.find("http://").or_else(|| text.find("https://"));
            // Browsers open URLs; these run the downloaded file.
            let runs = matches!(self.name, "mshta" | "regsvr32" | "rundll32" | "wmic" | "hh");
            if let Some(start) = start.filter(|_| runs) {
                let url = text[start..].trim_end_matches(['"', '\'', ')']);
                taints.extend(
                    FlowValue::source(SourceKind::Download, url, this.site(self.at)).taints,
                );
            }
        }
        this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        // `Start-Process powershell -ArgumentList '-c …'`
        let position = self.words.iter().position(|word| {
            word.known().is_some_and(|word| {
                let name = word
                    .rsplit(['/', '\\'])
                    .next()
                    .unwrap_or_default()
                    .to_ascii_lowercase();
                let name = name.trim_end_matches(".exe");
                FETCHERS.contains(&name)
                    || SHELLS.contains(&name)
                    || matches!(
                        name,
                        "powershell" | "pwsh" | "cmd" | "python" | "python3" | "node" | "mshta"
                    )
            })
        });
        if let Some(position) = position {
            let mut words = Vec::new();
            for word in &self.words[position + 1..] {
                match word.known() {
                    Some("-ArgumentList" | "-argumentlist" | "-Args" | "-args" | "/c" | "/C") => {}
                    Some(text) if text.contains(' ') => {
                        words.extend(text.split_whitespace().map(FlowValue::text));
                    }
                    _ => words.push(word.clone()),
                }
            }
            let program = self.words[position].clone();
            return invoke(this, &program, words, Some(self.input.clone()), self.at);
        }
        FlowValue::default()
    }

    /// A language without a parser: the commands that it starts are still evaluated.
    pub(super) fn foreign(&self, this: &mut Evaluator<'_>, code: &FlowValue) {
        let Some(text) = code.known() else { return };
        let lower = text.to_ascii_lowercase();
        if lower.contains("socket")
            && (lower.contains("exec") || lower.contains("/bin/sh") || lower.contains("system"))
            && lower.contains("sh")
        {
            this.act(
                ActKind::RemoteShell,
                self.at,
                text,
                self.name,
                None,
                Vec::new(),
            );
        }
        if let Some((_, url)) = crate::language::fetched_and_run(text) {
            let line = FlowValue::text(format!("curl -s '{url}' | sh"));
            this.nested(EvaluatedLanguage::Shell, &line, self.at);
        }
        for opener in [
            "system(\"",
            "system('",
            "exec(\"",
            "exec('",
            "do shell script \"",
            "`",
        ] {
            if let Some(rest) = text.split(opener).nth(1) {
                let closer = opener.chars().last().unwrap_or('"');
                let inner = FlowValue::text(rest.split(closer).next().unwrap_or_default());
                this.nested(EvaluatedLanguage::Shell, &inner, self.at);
            }
        }
    }

    pub(super) fn powershell(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let encoded = self.words.iter().position(|word| {
            word.known().is_some_and(|word| {
                word.len() > 1
                    && word.starts_with('-')
                    && "-encodedcommand".starts_with(&word.to_ascii_lowercase())
                    && !word.eq_ignore_ascii_case("-ex")
            })
        });
        // `-enc ...` in a report about an attack hides nothing.
        let is_code = |word: &&FlowValue| {
            word.known()
                .is_none_or(|text| text.len() >= 8 && crate::text::codec::base64(text).is_some())
        };
        if let Some(word) = encoded
            .and_then(|index| self.words.get(index + 1))
            .filter(is_code)
        {
            let text = word
                .known()
                .and_then(crate::text::codec::base64)
                .map(|bytes| utf16(&bytes));
            let mut code = text.map(FlowValue::text).unwrap_or_default();
            code.absorb(word);
            code.taint(SourceKind::Decoded, "-EncodedCommand", this.site(self.at));
            this.act(
                ActKind::Eval,
                self.at,
                &code.shown(),
                "powershell",
                None,
                code.taints.clone(),
            );
            return this.nested(EvaluatedLanguage::PowerShell, &code, self.at);
        }
        let code = match self.after(&["-command", "-c"]) {
            Some(_) => {
                let start = self
                    .words
                    .iter()
                    .position(|word| {
                        word.known().is_some_and(|word| {
                            matches!(word.to_ascii_lowercase().as_str(), "-command" | "-c")
                        })
                    })
                    .map_or(0, |index| index + 1);
                FlowValue::concat(&self.words[start..], " ")
            }
            None if self.input != FlowValue::default() => self.input.clone(),
            None => {
                let mut taints = Vec::new();
                for word in self.operands() {
                    taints.extend(word.taints.iter().cloned());
                    taints.extend(fetched(this, word));
                }
                this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
                return FlowValue::default();
            }
        };
        this.act(
            ActKind::Eval,
            self.at,
            &code.shown(),
            "powershell",
            None,
            code.taints.clone(),
        );
        this.with_ambient(&code, |this| {
            this.nested(EvaluatedLanguage::PowerShell, &code, self.at)
        })
    }

    /// Commands that start programs automatically.
    pub(super) fn autostart(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line();
        let lower = line.to_ascii_lowercase();
        let installs = match self.name {
            "crontab" => {
                !self.has_flag("-l", 'l') && !self.has_flag("-e", 'e') && !self.has_flag("-r", 'r')
            }
            "launchctl" => lower.contains(" load") || lower.contains(" bootstrap"),
            "systemctl" => lower.contains(" enable"),
            "schtasks" => lower.contains("/create"),
            "reg" => lower.contains("add") && lower.contains("currentversion\\run"),
            "set-itemproperty" | "new-itemproperty" => lower.contains("currentversion\\run"),
            "new-scheduledtask" | "register-scheduledtask" | "new-scheduledtaskaction" => true,
            "set-wmiinstance" | "new-ciminstance" => lower.contains("eventconsumer"),
            "register-wmievent" => true,
            _ => false,
        };
        if !installs {
            let mut value = self.input.clone();
            value.texts.clear();
            value.made_by = Some(LISTED.into());
            return Some(value);
        }
        // `crontab -l | grep -v tool | crontab -` only removes.
        let kept = self.name == "crontab" && self.input.made_by.as_deref() == Some(LISTED);
        if kept && self.input.texts.is_empty() && self.input.taints.is_empty() {
            return Some(FlowValue::default());
        }
        let given = self.given();
        let what = if self.input.texts.is_empty() {
            line
        } else {
            self.input.shown()
        };
        this.act(
            ActKind::Write,
            self.at,
            &format!("{}:autostart", self.name),
            &what,
            None,
            given.taints,
        );
        Some(FlowValue::default())
    }
}

/// PowerShell's ways to run a string.
const EXPRESSIONS: &[&str] = &["invoke-expression", "scriptblock.create", ".invokescript"];

/// PowerShell's ways to load a library.
const LOADERS: &[&str] = &[
    "assembly.load",
    "assembly.loadfrom",
    "assembly.loadfile",
    "add-type",
];

/// Programs that start their arguments.
const LAUNCHERS: &[&str] = &[
    "start-process",
    "saps",
    "invoke-item",
    "ii",
    "explorer",
    "cscript",
    "wscript",
    "rundll32",
    "regsvr32",
    "mshta",
    "wmic",
    "start",
    "open",
    "xdg-open",
    "forfiles",
    "invoke-command",
    "start-job",
    "hh",
    "dotnet",
    "java",
    "javaw",
];

/// Programs that register others to start automatically.
#[rustfmt::skip]
const STARTERS: &[&str] = &[
    "crontab", "schtasks", "launchctl", "systemctl", "reg", "new-scheduledtask", "register-scheduledtask", "set-itemproperty",
    "new-itemproperty", "set-wmiinstance", "new-ciminstance", "register-wmievent", "defaults",
];

/// The command that lists automatic starts.
const LISTED: &str = "crontab -l";

/// Whether a word is a URL.
fn is_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// PowerShell's encoded commands are UTF-16.
fn utf16(bytes: &[u8]) -> String {
    let wide: Vec<u16> = bytes
        .as_chunks::<2>()
        .0
        .iter()
        .map(|pair| u16::from_le_bytes(*pair))
        .collect();
    let looks_wide = bytes
        .iter()
        .skip(1)
        .step_by(2)
        .filter(|byte| **byte == 0)
        .count()
        * 2
        > wide.len();
    if looks_wide {
        String::from_utf16_lossy(&wide)
    } else {
        String::from_utf8_lossy(bytes).into_owned()
    }
}
