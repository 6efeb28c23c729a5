//! Programs that print secrets, and programs that contact other hosts with their own protocols.

use super::{CLONED, RunCommand};
use crate::flow::{ActKind, RemoteHost, SourceKind, eval::Evaluator, value::FlowValue};

impl RunCommand<'_> {
    /// Programs that print secrets.
    pub(super) fn source(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line().to_ascii_lowercase();
        let site = this.site(self.at);
        let says = |words: &[&str]| words.iter().all(|word| line.contains(word));
        let kind = match self.name {
            "printenv" | "set" | "export" | "declare" | "compgen"
                if self.operands().next().is_none()
                    && (self.name != "set" || self.words.is_empty()) =>
            {
                SourceKind::Environment
            }
            "get-childitem" | "gci" | "dir" if says(&["env:"]) => SourceKind::Environment,
            "printenv" => {
                let name = self
                    .operands()
                    .next()
                    .map(FlowValue::shown)
                    .unwrap_or_default();
                return Some(this.variable(&name, self.at));
            }
            "security"
                if line.contains("find-generic-password")
                    || line.contains("find-internet-password")
                    || line.contains("dump-keychain")
                    || line.contains("export") =>
            {
                SourceKind::Keychain
            }
            "secret-tool" if says(&["lookup"]) => SourceKind::Keychain,
            "op" if says(&["read"]) || says(&["item", "get"]) => SourceKind::Keychain,
            "pass" if says(&["show"]) => SourceKind::Keychain,
            "bw" if says(&["get"]) || says(&["export"]) => SourceKind::Keychain,
            "cmdkey" | "vaultcmd" if says(&["/list"]) => SourceKind::Keychain,
            "gh" if says(&["auth", "token"]) => SourceKind::CredentialFile,
            "gcloud" if says(&["auth", "print-"]) => SourceKind::CredentialFile,
            "aws"
                if says(&["configure", "get"])
                    || says(&["sts", "get-session-token"])
                    || says(&["configure", "export-credentials"]) =>
            {
                SourceKind::CredentialFile
            }
            "kubectl" if says(&["get", "secret"]) || says(&["config", "view", "--raw"]) => {
                SourceKind::CredentialFile
            }
            "npm" if says(&["config", "get", "authtoken"]) || says(&["token", "list"]) => {
                SourceKind::CredentialFile
            }
            "git" if says(&["credential", "fill"]) => SourceKind::CredentialFile,
            "pbpaste" | "get-clipboard" | "wl-paste" => SourceKind::Clipboard,
            "xclip" | "xsel" if self.has_flag("-o", 'o') => SourceKind::Clipboard,
            "screencapture" | "scrot" | "import" | "grim" | "imagesnap" => SourceKind::Spying,
            "history" => SourceKind::History,
            "hostname" | "whoami" | "id" | "ifconfig" | "ipconfig" | "systeminfo" | "ps"
            | "lsof" | "netstat" | "arp" | "last" | "w" => SourceKind::HostFacts,
            "ip" if line.contains("addr") => SourceKind::HostFacts,
            "uname" if self.has_flag("--all", 'a') => SourceKind::HostFacts,
            _ => return None,
        };
        if kind == SourceKind::Environment {
            this.act(ActKind::Environment, self.at, "*", "", None, Vec::new());
        } else {
            self.does(this, ActKind::Run);
        }
        let mut value = self.given();
        value.texts.clear();
        value.taint(kind, &self.line(), site);
        // `screencapture -x file`
        if kind == SourceKind::Spying
            && let Some(path) = self.operands().last().and_then(FlowValue::place)
        {
            this.store_file(&path, value.clone());
        }
        Some(value)
    }

    /// Programs that contact other hosts with their own protocols.
    pub(super) fn network(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line();
        match self.name {
            "nc" | "ncat" | "netcat" | "socat" | "telnet" => Some(self.connection(this)),
            "openssl" if line.contains(" s_client") => Some(self.connection(this)),
            // The other end gets access to the shell of this machine.
            "ssh"
                if self
                    .after(&["-R"])
                    .is_some_and(|to| to.shown().ends_with(":22")) =>
            {
                self.does(this, ActKind::RemoteShell);
                Some(FlowValue::default())
            }
            "ngrok" | "bore" | "cloudflared" if line.contains(" 22") && line.contains("tcp") => {
                self.does(this, ActKind::RemoteShell);
                Some(FlowValue::default())
            }
            "scp" | "rsync" | "sftp" | "ftp" | "rclone" | "s3cmd" | "gsutil" | "azcopy" | "ssh"
            | "croc" | "mail" | "sendmail" | "mutt" | "mailx" | "msmtp" => {
                self.copies_here(this).or_else(|| self.copy_elsewhere(this))
            }
            "aws" if line.contains(" s3 ") => Some(self.upload(this)),
            "gh" if line.contains("gist create") => Some(self.upload(this)),
            "gist" => Some(self.upload(this)),
            "dig" | "nslookup" | "host" | "ping" => {
                let mut sent = self.given();
                let own = [
                    SourceKind::Variable,
                    SourceKind::Input,
                    SourceKind::Download,
                ];
                sent.taints
                    .retain(|taint| !own.contains(&taint.source.kind));
                if !sent.taints.is_empty() {
                    this.act(ActKind::Send, self.at, &line, self.name, None, sent.taints);
                }
                Some(FlowValue::default())
            }
            "git" if self.texts().any(|word| word == "clone") => {
                let url = self
                    .texts()
                    .find(|word| word.contains("://") || word.contains('@'));
                Some(self.clones(this, url.unwrap_or_default(), &line))
            }
            "git" if self.texts().any(|word| word == "push") => {
                let url = self.texts().find(|word| word.contains("://"));
                let host = url.and_then(RemoteHost::of)?;
                let mut sent = this.staged.clone();
                sent.absorb(&self.input);
                this.act(
                    ActKind::Send,
                    self.at,
                    &line,
                    "git push",
                    Some(host),
                    sent.taints,
                );
                Some(FlowValue::default())
            }
            // `gh repo clone owner/name`, `svn checkout URL`, `hg clone URL`, `degit owner/name`.
            "gh" if line.contains(" clone ") => {
                let name = self
                    .operands()
                    .find(|word| word.known().is_some_and(|word| word.contains('/')));
                let url = format!(
                    "https://github.com/{}",
                    name.map(FlowValue::shown).unwrap_or_default()
                );
                Some(self.clones(this, &url, &line))
            }
            "svn" | "hg"
                if self
                    .texts()
                    .any(|word| matches!(word, "clone" | "checkout" | "co" | "export")) =>
            {
                let url = self
                    .texts()
                    .find(|word| word.contains("://"))
                    .unwrap_or_default();
                Some(self.clones(this, url, &line))
            }
            name => self.web_client(this, name),
        }
    }

    /// A downloaded folder: files that are run from it later are downloaded code.
    fn clones(&self, this: &mut Evaluator<'_>, url: &str, line: &str) -> FlowValue {
        this.act(
            ActKind::Fetch,
            self.at,
            url,
            line,
            RemoteHost::of(url),
            Vec::new(),
        );
        let mut value = FlowValue::source(SourceKind::Download, url, this.site(self.at));
        value.made_by = Some(CLONED.into());
        let folder = self.operands().last().and_then(FlowValue::place);
        let folder = folder.unwrap_or_else(|| url.to_owned());
        let folder = folder.trim_end_matches('/').trim_end_matches(".git");
        this.store_file(folder, value.clone());
        value
    }

    /// `scp them:file here`, `rsync them:file here`: files that are run from there later are downloaded code.
    fn copies_here(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let words: Vec<&str> = self.operands().filter_map(FlowValue::known).collect();
        let [from, to] = words.as_slice() else {
            return None;
        };
        let (host, _) = from.split_once(':')?;
        if !matches!(self.name, "scp" | "rsync") || to.contains(':') || host.contains('/') {
            return None;
        }
        let url = format!("ssh://{}", host.rsplit('@').next().unwrap_or(host));
        let value = FlowValue::source(SourceKind::Download, &url, this.site(self.at));
        this.store_file(to, value.clone());
        this.act(
            ActKind::Fetch,
            self.at,
            &url,
            &self.line(),
            RemoteHost::of(&url),
            Vec::new(),
        );
        Some(value)
    }

    /// `nc` and similar programs: a connection to a host, possibly with a shell at this end.
    fn connection(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let line = self.line();
        let gives_shell = self.after(&["-e", "-c", "--exec", "--sh-exec"]).is_some()
            || line.contains("exec:") && line.contains("sh")
            || line.contains("EXEC:");
        if gives_shell {
            self.does(this, ActKind::RemoteShell);
        }
        if self.has_flag("-l", 'l') {
            self.does(this, ActKind::Listen);
        } else {
            let named = |word: &str| {
                let name = word.contains('.') && !word.starts_with(['-', '/', '.']);
                name.then(|| RemoteHost::of(&format!("tcp://{word}")))
                    .flatten()
            };
            let host = self
                .texts()
                .find_map(|word| RemoteHost::of(word).or_else(|| named(word)));
            let mut sent = self.input.clone();
            sent.absorb(&this.ambient);
            this.act(ActKind::Send, self.at, &line, self.name, host, sent.taints);
        }
        FlowValue::source(SourceKind::Download, &line, this.site(self.at))
    }

    /// Copies to other machines, and mail; a copy between local folders sends nothing.
    fn copy_elsewhere(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let is_remote = |word: &str| {
            let named = |(host, _): (&str, &str)| host.len() > 1 && !host.contains('/');
            word.contains("://") || word.split_once(':').is_some_and(named)
        };
        if matches!(self.name, "scp" | "rsync") && !self.texts().any(is_remote) {
            return None;
        }
        let line = self.line();
        let mut sent = self.read_operands(this);
        let host = self
            .texts()
            .find_map(|word| RemoteHost::of(word.split(':').next().unwrap_or(word)));
        // A key that is used to log in isn't sent.
        let logs_in = matches!(self.name, "ssh" | "scp" | "rsync" | "sftp") && line.contains("-i ");
        sent.taints
            .retain(|taint| !(logs_in && taint.source.kind == SourceKind::CredentialFile));
        let from = host.as_ref().map(|host| format!("ssh://{}", host.name));
        this.act(ActKind::Send, self.at, &line, self.name, host, sent.taints);
        // The output of a command on another machine comes from there.
        let prints = from.filter(|_| self.name == "ssh" && self.operands().count() > 1);
        Some(prints.map_or_else(FlowValue::default, |url| {
            FlowValue::source(SourceKind::Download, &url, this.site(self.at))
        }))
    }

    fn upload(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let sent = self.read_operands(this);
        this.act(
            ActKind::Send,
            self.at,
            &self.line(),
            self.name,
            None,
            sent.taints,
        );
        FlowValue::default()
    }

    fn read_operands(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let mut sent = self.input.clone();
        for word in self.operands() {
            sent.absorb(&this.read(word, self.at));
        }
        sent
    }

    /// The .NET classes that fetch and send.
    fn web_client(&self, this: &mut Evaluator<'_>, name: &str) -> Option<FlowValue> {
        let ends = |verbs: &[&str]| verbs.iter().any(|verb| name.ends_with(verb));
        let url = self
            .texts()
            .find(|word| word.contains("://"))
            .unwrap_or("\0")
            .to_owned();
        let (host, line) = (RemoteHost::of(&url), self.line());
        if ends(&[
            ".uploadstring",
            ".uploadfile",
            ".uploaddata",
            ".uploadvalues",
            ".uploadstringtaskasync",
            ".uploadfiletaskasync",
            ".postasync",
            ".putasync",
            ".patchasync",
        ]) {
            this.act(
                ActKind::Send,
                self.at,
                &url,
                &line,
                host,
                self.given().taints,
            );
            return Some(FlowValue::default());
        }
        if !ends(&[
            ".downloadstring",
            ".downloadfile",
            ".downloaddata",
            ".downloadstringtaskasync",
            "webclient.openread",
            ".getstringasync",
            ".getbytearrayasync",
            "httpclient.getasync",
        ]) {
            return None;
        }
        this.act(ActKind::Fetch, self.at, &url, &line, host, Vec::new());
        let value = FlowValue::source(SourceKind::Download, &url, this.site(self.at));
        if let Some(path) = self.words.get(1).and_then(FlowValue::place) {
            this.store_file(&path, value.clone());
        }
        Some(value)
    }
}
