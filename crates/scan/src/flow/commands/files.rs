//! Programs that change files, packages and settings.

use super::RunCommand;
use crate::flow::{ActKind, HostKind, RemoteHost, SourceKind, eval::Evaluator, value::FlowValue};

impl RunCommand<'_> {
    /// Programs that change files.
    pub(super) fn files(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line();
        match self.name {
            "cd" | "pushd" | "chdir" | "set-location" => {
                let folder = self.operands().next().cloned().unwrap_or_default();
                let place = folder.place().unwrap_or_default();
                let mut parts = place.rsplit('/').map(|part| this.file(part).cloned());
                let stored = parts.find_map(|value| value.filter(|value| !value.taints.is_empty()));
                // A relative folder inside the fetched one stays there.
                let stays = !place.starts_with(['/', '~']) && !place.contains("..");
                this.here = stored.or_else(|| this.here.take().filter(|_| stays));
                Some(FlowValue::default())
            }
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
                self.copies(this)
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
                // The password is in the place of the archive: `-P secret kit.zip`.
                let archive = self
                    .operands()
                    .filter_map(FlowValue::known)
                    .find_map(|path| this.file(path))
                    .cloned();
                if let Some(value) = &archive {
                    self.unpacks(this, value.clone());
                }
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
                    let made_by = Some(super::CLONED.into());
                    this.store_file(&stem, FlowValue { made_by, ..value });
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

    /// Copies files: the target gets the sources of the original.
    fn copies(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let operands: Vec<FlowValue> = self.operands().cloned().collect();
        let named = self.after(&["-destination", "-t", "--target-directory"]);
        let (target, sources) = match named {
            Some(target) => (target, operands.as_slice()),
            None => operands.split_last()?,
        };
        let mut data = FlowValue::default();
        for source in sources {
            let read = this.read(source, self.at);
            // `cp file folder`
            if let Some(path) = source.place().filter(|_| !read.taints.is_empty()) {
                this.store_file(&path, read.clone());
            }
            data.absorb(&read);
        }
        this.write(target, &data, self.at);
        Some(FlowValue::default())
    }

    /// The host of an installer's package or index: `git+https://…`, `package@https://…`, `--index-url …`.
    fn package_source(&self) -> Option<RemoteHost> {
        let index = INDEXES
            .iter()
            .find_map(|flag| self.after(&[*flag])?.known());
        let joined = self
            .texts()
            .find(|word| INDEXES.iter().any(|flag| word.starts_with(flag)));
        index
            .or(joined)
            .into_iter()
            .chain(self.packages().filter_map(FlowValue::known))
            .find_map(|word| RemoteHost::of(address_in(word)?))
    }

    /// The packages of an installer. A runner's words after the first package are arguments of the program in it, and
    /// a word after a flag is its value.
    fn packages(&self) -> impl Iterator<Item = &FlowValue> {
        const NAMING: &[&str] = &[
            "--from",
            "-p",
            "--package",
            "--with",
            "--git",
            "-y",
            "--yes",
            "-g",
            "-U",
            "-e",
            "-r",
            "-q",
            "-qq",
            "--quiet",
            "--user",
            "--upgrade",
            "--no-cache-dir",
            "--no-deps",
            "--install-extension",
            "--force-reinstall",
            "--break-system-packages",
        ];
        let runs = matches!(self.name, "npx" | "uvx" | "bunx" | "deno")
            || self
                .texts()
                .any(|word| matches!(word, "dlx" | "exec" | "run" | "x"));
        let mut found = Vec::new();
        let mut previous = "";
        for word in &self.words {
            let text = word.known().unwrap_or_default();
            let files = matches!(self.name, "dpkg" | "rpm" | "installer" | "msiexec");
            let follows_flag = previous.starts_with('-') && !NAMING.contains(&previous) && !files;
            previous = text;
            if text.starts_with('-') || follows_flag || VERBS.contains(&text) {
                continue;
            }
            found.push(word);
            if runs {
                break;
            }
        }
        found.into_iter()
    }

    /// An installer with a URL runs the download, like a shell with a downloaded script: packages run code when they are
    /// installed. A file that was downloaded before is the same.
    fn installs_address(&self, this: &mut Evaluator<'_>) {
        let mut taints = Vec::new();
        // Another index, and a Go module, are URLs as well.
        let index = INDEXES
            .iter()
            .chain(CHANNELS.iter().filter(|_| self.name == "conda"))
            .find_map(|flag| self.after(&[*flag])?.known());
        let module = self
            .operands()
            .filter_map(FlowValue::known)
            .find(|word| self.name == "go" && word.split('/').next().is_some_and(is_domain));
        let module = module.map(|word| format!("https://{word}"));
        for url in index
            .and_then(address_in)
            .into_iter()
            .chain(module.as_deref())
        {
            // An index that belongs to the host that the package is named after is the publisher's.
            let usual = RemoteHost::of(url).is_none_or(|host| {
                let own = |word: &FlowValue| {
                    word.known()
                        .is_some_and(|name| name.to_ascii_lowercase().contains(host.owner()))
                };
                matches!(
                    host.kind,
                    HostKind::Code | HostKind::Known | HostKind::Local
                ) || host.has_established_ending() && self.packages().any(own)
            });
            if !usual {
                let source = FlowValue::source(SourceKind::Download, url, this.site(self.at));
                taints.extend(source.taints);
            }
        }
        for word in self.packages() {
            let Some(url) = word.known().and_then(address_in) else {
                taints.extend(super::fetched(this, word));
                continue;
            };
            // A repository with its full name is an ordinary way to publish.
            let usual = RemoteHost::of(url).is_none_or(|host| {
                matches!(
                    host.kind,
                    HostKind::Code | HostKind::Known | HostKind::Local
                )
            });
            if !usual {
                let source = FlowValue::source(SourceKind::Download, url, this.site(self.at));
                taints.extend(source.taints);
            }
        }
        if !taints.is_empty() {
            this.act(ActKind::Run, self.at, &self.line(), self.name, None, taints);
        }
    }

    /// Whether a container gets the machine: all rights, all files, or the socket of the container engine.
    fn opens_host(&self) -> bool {
        self.texts().any(|word| matches!(word, "run" | "create"))
            && self.texts().any(|word| {
                word == "--privileged"
                    || word.starts_with("/:/")
                    || word.contains("docker.sock")
                    || word.contains("source=/,")
                    || word.starts_with("--cap-add=ALL")
            })
    }

    /// Files from a downloaded archive are downloads, under names that only the archive contains.
    pub(super) fn unpacks(&self, this: &mut Evaluator<'_>, mut value: FlowValue) {
        if !value
            .taints
            .iter()
            .any(|taint| taint.source.kind == SourceKind::Download)
        {
            return;
        }
        value.texts.clear();
        value.made_by = Some(super::CLONED.into());
        let folder = self.after(&["-C", "-d", "--directory", "-DestinationPath"]);
        if let Some(folder) = folder.and_then(FlowValue::place) {
            this.store_file(&folder, value.clone());
        }
        this.unpacked.get_or_insert_default().join(value);
    }

    /// Changes that open the machine to others: certificates, administrators, other registries, containers with all rights.
    fn opens(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let line = self.line();
        let lower = line.to_ascii_lowercase();
        match self.name {
            "npm" | "pip" | "pip3" | "yarn" | "pnpm"
                if lower.contains("config set")
                    && ["proxy", "registry", "index-url"]
                        .iter()
                        .any(|key| lower.contains(key)) =>
            {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            "docker" | "podman" | "nerdctl" if self.opens_host() => {
                let image = self
                    .texts()
                    .filter(|word| !word.starts_with(['/', '.', '~', '-']) && word.contains('/'))
                    .find_map(|word| {
                        let url = format!("https://{word}");
                        RemoteHost::of(&url).map(|host| (url, host))
                    });
                let taints = match image {
                    Some((url, _)) => {
                        FlowValue::source(SourceKind::Download, &url, this.site(self.at)).taints
                    }
                    None => Vec::new(),
                };
                this.act(ActKind::Run, self.at, &line, self.name, None, taints);
                Some(FlowValue::default())
            }
            // A trusted certificate opens every connection to the owner of its key.
            "update-ca-certificates" | "update-ca-trust" | "trust" | "add-trusted-cert" => {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            "security" if lower.contains("add-trusted-cert") => {
                let mut taints = Vec::new();
                for word in self.operands() {
                    taints.extend(super::fetched(this, word));
                }
                this.act(ActKind::Run, self.at, &line, self.name, None, taints);
                Some(FlowValue::default())
            }
            "import-certificate" | "certmgr" => {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            "useradd" | "adduser" | "usermod" | "net" | "dseditgroup" | "gpasswd"
                if GROUPS.iter().any(|group| lower.contains(group)) =>
            {
                self.does(this, ActKind::Unprotect);
                Some(FlowValue::default())
            }
            _ => None,
        }
    }

    /// Packages, protection, settings.
    pub(super) fn system(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        if let Some(value) = self.opens(this) {
            return Some(value);
        }
        let line = self.line();
        let lower = line.to_ascii_lowercase();
        match self.name {
            "npm" | "pnpm" | "yarn" | "npx" | "bunx" | "pip" | "pip3" | "pipx" | "uv" | "uvx"
            | "brew" | "apt" | "apt-get" | "dnf" | "yum" | "pacman" | "apk" | "gem" | "cargo"
            | "go" | "conda" | "choco" | "winget" | "scoop" | "bun" | "deno" | "dpkg" | "rpm"
            | "msiexec" | "installer" | "code" | "cursor" | "snap" | "flatpak" | "poetry"
            | "easy_install" | "luarocks" | "cpan" | "cpanm" | "helm" | "nix" | "nix-env" => {
                let installs = matches!(
                    self.name,
                    "npx"
                        | "uvx"
                        | "bunx"
                        | "dpkg"
                        | "rpm"
                        | "msiexec"
                        | "installer"
                        | "easy_install"
                        | "cpanm"
                ) || [
                    " install",
                    " i ",
                    " add ",
                    " get ",
                    " tap ",
                    " dlx ",
                    " -s ",
                    " run ",
                    " exec ",
                    " --from ",
                    " --install-extension",
                ]
                .iter()
                .any(|verb| lower.contains(verb));
                if installs {
                    let host = self.package_source();
                    self.installs_address(this);
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
            | "vssadmin"
            | "wbadmin"
            | "bcdedit"
            | "wmic"
            | "wevtutil"
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

/// Flags that name another index.
const INDEXES: &[&str] = &[
    "--index-url",
    "--extra-index-url",
    "-i",
    "--registry",
    "--find-links",
    "--index",
    "--default-index",
    "--source",
];

/// Groups whose members may do anything.
const GROUPS: &[&str] = &[
    " sudo",
    ",sudo",
    " wheel",
    " admin",
    "administrators",
    ",adm",
    ",docker",
];

/// Flags of conda with the same meaning.
const CHANNELS: &[&str] = &["-c", "--channel"];

/// Whether the first part of a module's name is a host.
fn is_domain(word: &str) -> bool {
    word.contains('.') && !word.starts_with('.') && !word.ends_with(".go")
}

/// The subcommands of installers.
const VERBS: &[&str] = &[
    "install",
    "i",
    "add",
    "get",
    "tap",
    "dlx",
    "exec",
    "run",
    "x",
    "tool",
    "pip",
    "/i",
    "reinstall",
];

/// The URL in the name of a package.
fn address_in(word: &str) -> Option<&str> {
    let start = word.rfind("http://").or_else(|| word.rfind("https://"))?;
    Some(&word[start..])
}
