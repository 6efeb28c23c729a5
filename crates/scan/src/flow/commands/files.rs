//! Programs that change files, packages and settings.

use super::RunCommand;
use crate::flow::{ActKind, RemoteHost, eval::Evaluator, value::FlowValue};

impl RunCommand<'_> {
    /// Programs that change files.
    pub(super) fn files(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line();
        match self.name {
            "rm" | "rmdir" | "del" | "erase" | "remove-item" | "shred" | "srm" | "mkfs"
            | "wipefs" | "diskutil" | "format" => {
                if self.name == "diskutil" && !line.contains("erase") {
                    return None;
                }
                for word in self.operands() {
                    let shown = word.shown();
                    this.act(
                        ActKind::Delete,
                        self.at,
                        &shown,
                        &line,
                        None,
                        word.taints.clone(),
                    );
                }
                Some(FlowValue::default())
            }
            name if name.starts_with("mkfs.") => {
                this.act(ActKind::Delete, self.at, "/dev/", &line, None, Vec::new());
                Some(FlowValue::default())
            }
            "cp" | "mv" | "install" | "ln" | "copy" | "move" | "copy-item" | "move-item" => {
                let operands: Vec<FlowValue> = self.operands().cloned().collect();
                let (target, sources) = operands.split_last()?;
                let mut data = FlowValue::default();
                for source in sources {
                    data.absorb(&this.read(source, self.at));
                }
                this.write(target, &data, self.at);
                Some(FlowValue::default())
            }
            "set-content" | "add-content" | "out-file" => {
                let path = self
                    .after(&["-path", "-filepath"])
                    .or_else(|| self.operands().next())
                    .cloned()
                    .unwrap_or_default();
                let mut data = self.input.clone();
                self.words.iter().for_each(|word| data.absorb(word));
                this.write(&path, &data, self.at);
                Some(FlowValue::default())
            }
            "unzip" | "expand-archive" | "unrar" => {
                if self.after(&["-p"]).is_some()
                    || self
                        .texts()
                        .any(|word| word.starts_with("-P") && word.len() > 2)
                {
                    this.act(ActKind::Run, self.at, &line, "password", None, Vec::new());
                }
                let archive = self
                    .operands()
                    .next()
                    .and_then(FlowValue::known)
                    .and_then(|path| this.file(path))
                    .cloned();
                if let (Some(value), Some(Some(path))) = (
                    archive,
                    self.operands()
                        .next()
                        .map(|word| word.known().map(str::to_owned)),
                ) {
                    let stem = path
                        .rsplit('/')
                        .next()
                        .unwrap_or_default()
                        .trim_end_matches(".zip")
                        .to_owned();
                    this.store_file(&stem, value);
                }
                Some(FlowValue::default())
            }
            "chmod" | "chown" | "setcap" | "icacls" | "xattr" | "spctl" | "attrib" => {
                self.does(this, ActKind::Permit);
                Some(FlowValue::default())
            }
            _ => None,
        }
    }

    /// Packages, protection, settings.
    pub(super) fn system(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line();
        let lower = line.to_ascii_lowercase();
        match self.name {
            "npm" | "pnpm" | "yarn" | "npx" | "bunx" | "pip" | "pip3" | "pipx" | "uv" | "uvx"
            | "brew" | "apt" | "apt-get" | "dnf" | "yum" | "pacman" | "apk" | "gem" | "cargo"
            | "go" | "conda" | "choco" | "winget" | "scoop" => {
                let installs = matches!(self.name, "npx" | "uvx" | "bunx")
                    || [
                        " install", " i ", " add ", " get ", " tap ", " dlx ", " -s ",
                    ]
                    .iter()
                    .any(|verb| lower.contains(verb));
                if installs {
                    let host = self
                        .texts()
                        .filter(|word| word.contains("://"))
                        .find_map(RemoteHost::of);
                    this.act(
                        ActKind::Install,
                        self.at,
                        &line,
                        self.name,
                        host,
                        self.given().taints,
                    );
                } else {
                    return None;
                }
                Some(FlowValue::default())
            }
            "setenforce"
            | "ufw"
            | "iptables"
            | "csrutil"
            | "netsh"
            | "set-mppreference"
            | "add-mppreference"
            | "auditctl"
            | "fdesetup"
            | "nvram"
            | "set-executionpolicy" => {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            "systemctl" if lower.contains("stop") || lower.contains("disable") => {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            "git"
                if lower.contains("config")
                    && (lower.contains("core.hookspath")
                        || lower.contains("credential.helper")
                        || lower.contains("core.sshcommand")
                        || lower.contains("url.")
                        || lower.contains("http.proxy")
                        || lower.contains("sslverify false")) =>
            {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            _ => None,
        }
    }
}
