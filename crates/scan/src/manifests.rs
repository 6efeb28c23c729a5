//! Files that other programs use automatically: package manifests, registry settings, editor tasks, agent settings.

use std::{rc::Rc, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use crate::{
    flow::{EvaluatedLanguage, HostKind, RemoteHost, urls_in},
    matching::DeclaredContext,
    prose::SentenceRole,
    redirects,
    rule::FileOddity,
    scan::SkillScanner,
};

/// Standard modules that a file of the same name replaces.
const MODULES: &[&str] = &[
    "base64.py",
    "json.py",
    "os.py",
    "sys.py",
    "re.py",
    "subprocess.py",
    "logging.py",
    "socket.py",
    "ssl.py",
    "random.py",
    "hashlib.py",
    "urllib.py",
    "requests.py",
    "typing.py",
    "pathlib.py",
    "shutil.py",
    "tempfile.py",
    "argparse.py",
    "datetime.py",
    "io.py",
    "string.py",
    "struct.py",
    "threading.py",
    "time.py",
    "site.py",
    "codecs.py",
    "abc.py",
    "collections.py",
    "functools.py",
];

/// Scans a text for settings of the programs that read a file with this name.
pub(crate) fn look(scanner: &mut SkillScanner<'_>, index: usize) {
    let path = scanner.texts.0[index].file.to_ascii_lowercase();
    let name = path
        .rsplit(['/', '!'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let content = Rc::clone(&scanner.texts.0[index].content);
    match name.as_str() {
        "package.json" => package(scanner, index, &content),
        ".npmrc" | ".yarnrc" | ".yarnrc.yml" | "pip.conf" | ".pypirc" | "pip.ini"
        | "bunfig.toml" | ".condarc" => registry(scanner, index, &content),
        "requirements.txt"
            if content.lines().any(|line| {
                line.trim_start().starts_with("--index-url")
                    || line.trim_start().starts_with("--extra-index-url")
                    || line.trim_start().starts_with("-i ")
            }) =>
        {
            registry(scanner, index, &content);
        }
        _ if name.starts_with("requirements") && name.ends_with(".txt") => {
            required(scanner, index, &content);
        }
        "sitecustomize.py" | "usercustomize.py" => {
            scanner.odd_at(FileOddity::ShadowedModule, index, 0, &name, true);
        }
        _ if name.ends_with(".pth") => {
            let runs = content
                .lines()
                .any(|line| line.starts_with("import ") || line.starts_with("exec"));
            if runs {
                scanner.odd_at(FileOddity::ShadowedModule, index, 0, &content, true);
                scanner.program(
                    index,
                    0,
                    &content,
                    EvaluatedLanguage::Python,
                    SentenceRole::Instruction,
                    true,
                );
            }
        }
        _ if MODULES.contains(&name.as_str()) => {
            let serious = !path.contains("test");
            scanner.odd_at(FileOddity::ShadowedModule, index, 0, &name, serious);
        }
        "tasks.json" if path.contains(".vscode/") => {
            if content.contains("folderOpen") {
                // A task of the project's own is the purpose of such a file; one that downloads is found by its commands.
                let own = [
                    "\"npm\"",
                    "\"gulp\"",
                    "\"grunt\"",
                    "\"typescript\"",
                    "\"cargo\"",
                ];
                let serious = !own.iter().any(|kind| content.contains(kind));
                let at = content.find("folderOpen").unwrap_or(0);
                scanner.odd_at(FileOddity::OpensAndRuns, index, at, &content, serious);
            }
            strings(scanner, index, &content);
        }
        "settings.json"
        | "settings.local.json"
        | ".mcp.json"
        | "mcp.json"
        | "hooks.json"
        | "plugin.json"
        | "claude_desktop_config.json"
        | ".claude.json" => agent_settings(scanner, index, &path, &content),
        ".envrc" => {
            scanner.program(
                index,
                0,
                &content,
                EvaluatedLanguage::Shell,
                SentenceRole::Instruction,
                true,
            );
            let runs = content.lines().map(str::trim).find(|line| {
                ["curl", "wget", "eval \"$(curl", "bash ", "sh ", "python"]
                    .iter()
                    .any(|start| line.starts_with(start))
            });
            if let Some(line) = runs {
                scanner.odd_at(FileOddity::OpensAndRuns, index, 0, line, true);
            }
        }
        _ => {}
    }
    builds(scanner, index, &path, &content);
    redirects::look(scanner, index, &path, &content);
    secrets(scanner, index, &content);
}

/// Files that determine which packages are installed and built.
fn builds(scanner: &mut SkillScanner<'_>, index: usize, path: &str, content: &str) {
    let name = path.rsplit(['/', '!']).next().unwrap_or_default();
    match name {
        "devcontainer.json" | ".devcontainer.json" => strings(scanner, index, content),
        "pyproject.toml" | "pipfile" | "uv.toml" | "poetry.toml" | "pdm.toml" => {
            sources(scanner, index, content);
        }
        "gemfile" => repositories(scanner, index, content, "source "),
        "config.toml" if path.contains(".cargo/") => {
            repositories(scanner, index, content, "registry");
        }
        "go.mod" => replaced_modules(scanner, index, content),
        "package-lock.json" | "yarn.lock" | "pnpm-lock.yaml" => {
            repositories(scanner, index, content, "resolved");
        }
        "docker-compose.yml" | "docker-compose.yaml" | "compose.yml" | "compose.yaml" => {
            opened_containers(scanner, index, content);
        }
        "makefile" | "gnumakefile" | "justfile" | ".justfile" => {
            recipes(scanner, index, content);
        }
        "config"
            if path.contains(".git/")
                && (content.contains("sshCommand")
                    || content.contains("hooksPath")
                    || content.contains("fsmonitor")) =>
        {
            scanner.odd_at(FileOddity::OpensAndRuns, index, 0, content, true);
        }
        _ if name.ends_with(".mk") => recipes(scanner, index, content),
        _ => {}
    }
}

/// Scripts that a package manager runs automatically.
fn package(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let Ok(json) = serde_json::from_str::<Value>(content) else {
        return;
    };
    for field in ["dependencies", "devDependencies", "optionalDependencies"] {
        let packages = json[field].as_object().into_iter().flatten();
        for address in packages.filter_map(|(_, version)| version.as_str()) {
            addressed(scanner, index, content, address);
        }
    }
    let Some(scripts) = json["scripts"].as_object() else {
        return;
    };
    for (name, script) in scripts {
        let Some(command) = script.as_str() else {
            continue;
        };
        let at = content.find(command).unwrap_or(0);
        scanner.program(
            index,
            at,
            command,
            EvaluatedLanguage::Shell,
            SentenceRole::Instruction,
            false,
        );
        let runs_itself = matches!(name.as_str(), "preinstall" | "install" | "postinstall");
        let usual = [
            "husky",
            "patch-package",
            "node-gyp",
            "prisma generate",
            "electron-builder",
            "playwright install",
            "tsc",
            "npm run build",
            "ngcc",
            "lefthook",
        ]
        .iter()
        .any(|known| command.starts_with(known));
        let hidden = runs_hidden_file(command);
        if runs_itself && hidden {
            scanner.odd_at(FileOddity::OpensAndRuns, index, at, command, true);
        }
        if runs_itself && !usual {
            scanner.odd_at(
                FileOddity::InstallScript,
                index,
                at,
                &format!("{name}: {command}"),
                true,
            );
        }
    }
}

/// Whether a command runs a file whose name begins with a dot: `sh test/.data`.
fn runs_hidden_file(command: &str) -> bool {
    const RUNNERS: &[&str] = &[
        "sh", "bash", "node", "python", "python3", "source", ".", "perl", "ruby",
    ];
    let mut before = "sh";
    command.split_whitespace().take(64).any(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        let hidden = name.len() > 2
            && name.starts_with('.')
            && !name.starts_with("..")
            && !word.starts_with(['~', '$'])
            && RUNNERS.contains(&before);
        before = word;
        hidden
    })
}

/// Packages that Python installs by URL.
fn required(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let lines = content.lines().map(str::trim);
    for line in lines
        .filter(|line| !line.starts_with(['#', '-']))
        .take(1000)
    {
        addressed(scanner, index, content, line);
    }
}

/// A package by URL: its content can change, and it runs when it is installed.
fn addressed(scanner: &mut SkillScanner<'_>, index: usize, content: &str, line: &str) {
    let Some(host) = urls_in(line).find_map(|(_, url)| RemoteHost::of(url)) else {
        return;
    };
    if !matches!(
        host.kind,
        HostKind::Known | HostKind::Code | HostKind::Local
    ) {
        let at = content.find(line).unwrap_or(0);
        let shared = matches!(
            host.kind,
            HostKind::Address | HostKind::Drop | HostKind::Anonymous
        );
        let serious = shared || !DeclaredContext::new(scanner.about).is_related(&host);
        scanner.odd_at(FileOddity::RegistryRedirect, index, at, line, serious);
    }
}

fn registry(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let found = content
        .lines()
        .filter(|line| {
            line.to_ascii_lowercase().contains("registry")
                || line.contains("index-url")
                || line.contains("index_url")
                || line.trim_start().starts_with("-i ")
        })
        .find_map(|line| {
            let (at, url) = urls_in(line).next()?;
            let host = RemoteHost::of(url)?;
            // The packages of one organisation are where it publishes its code.
            let scoped = line.trim_start().starts_with('@') && host.kind == HostKind::Code;
            let foreign = !scoped && !matches!(host.kind, HostKind::Known | HostKind::Local);
            foreign.then(|| (at, line.to_owned()))
        });
    if let Some((_, line)) = found {
        let at = content.find(&line).unwrap_or(0);
        scanner.odd_at(FileOddity::RegistryRedirect, index, at, &line, true);
    }
}

/// Indexes of packages in settings of Python projects: their packages are installed instead of those of the public registry.
fn sources(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let (mut start, mut is_index) = (0, false);
    for line in content.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            let head = trimmed.to_ascii_lowercase();
            is_index = ["index", "source", "registr"]
                .iter()
                .any(|word| head.contains(word));
        }
        let names_index = is_index && trimmed.starts_with("url")
            || trimmed.starts_with("index-url")
            || trimmed.starts_with("extra-index-url")
            || trimmed.starts_with("default-index");
        let host = urls_in(line).find_map(|(_, url)| RemoteHost::of(url));
        let foreign = host.filter(|host| {
            !matches!(
                host.kind,
                HostKind::Known | HostKind::Local | HostKind::Code
            ) && !DeclaredContext::new(scanner.about).is_related(host)
        });
        if let (true, Some(_)) = (names_index, foreign) {
            scanner.odd_at(FileOddity::RegistryRedirect, index, start, trimmed, true);
        }
        start += line.len();
    }
}

/// Lines that name the source of packages.
fn repositories(scanner: &mut SkillScanner<'_>, index: usize, content: &str, key: &str) {
    first_foreign(scanner, index, content, |line| {
        let is_named = line.trim_start().trim_start_matches('"').starts_with(key);
        urls_in(line)
            .find_map(|(_, url)| RemoteHost::of(url))
            .filter(|_| is_named)
    });
}

/// A module of Go that is replaced by one from elsewhere.
fn replaced_modules(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    first_foreign(scanner, index, content, |line| {
        let (_, target) = line.split_once("=>")?;
        RemoteHost::of(&format!("https://{}", target.trim()))
    });
}

/// Reports the first line whose host is foreign.
fn first_foreign(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    content: &str,
    host_of: impl Fn(&str) -> Option<RemoteHost>,
) {
    let mut start = 0;
    for line in content.split_inclusive('\n') {
        if host_of(line).is_some_and(|host| is_foreign(scanner, &host)) {
            let line = line.trim();
            return scanner.odd_at(FileOddity::RegistryRedirect, index, start, line, true);
        }
        start += line.len();
    }
}

fn is_foreign(scanner: &SkillScanner<'_>, host: &RemoteHost) -> bool {
    !matches!(
        host.kind,
        HostKind::Known | HostKind::Local | HostKind::Code
    ) && !DeclaredContext::new(scanner.about).is_related(host)
}

/// Containers with access to the whole machine, from an image of an unknown publisher.
fn opened_containers(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let opened = ["privileged: true", "- /:/", "- \"/:/", "docker.sock"]
        .iter()
        .any(|sign| content.contains(sign));
    for line in content.lines().filter(|_| opened).take(500) {
        if let Some(image) = line.trim().strip_prefix("image:") {
            let image = image.trim().trim_matches(['"', '\'']);
            let run = format!("docker run --privileged {image}");
            let at = content.find(image).unwrap_or(0);
            let role = SentenceRole::Instruction;
            scanner.program(index, at, &run, EvaluatedLanguage::Shell, role, false);
        }
    }
}

/// The recipes of a makefile as a program of the shell, with its variables. Each line keeps its length, so that offsets stay true.
fn recipes(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let mut shell = String::with_capacity(content.len());
    for line in content.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let recipe = body.starts_with('\t') || body.starts_with("    ");
        let text = match (recipe, assigned(body)) {
            (true, _) => body
                .trim_start()
                .trim_start_matches(['@', '-', '+'])
                .replace("$$", "$"),
            (false, Some((name, value))) => format!("{name}={value}"),
            (false, None) => String::new(),
        };
        let text = text.replace("$(shell ", "$( ");
        let text = variables(&text);
        shell.push_str(&text);
        shell.push_str(&" ".repeat(body.len().saturating_sub(text.len())));
        shell.push_str(&line[body.len()..]);
    }
    let role = SentenceRole::Instruction;
    scanner.program(index, 0, &shell, EvaluatedLanguage::Shell, role, false);
}

/// `NAME := value` and its variants; a value with spaces is quoted.
fn assigned(line: &str) -> Option<(&str, String)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let name = name.trim_start_matches("export ").trim();
    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let value = value.trim();
    let value = match value.contains(' ') && !value.contains(['"', '\'']) {
        true => format!("\"{value}\""),
        false => value.to_owned(),
    };
    plain.then_some((name, value))
}

/// `$(NAME)` is `${NAME}` to a shell.
fn variables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("$(") {
        let name = &rest[at + 2..];
        let length = name
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
            .count();
        out.push_str(&rest[..at]);
        if length > 0 && name[length..].starts_with(')') {
            out.push_str("${");
            out.push_str(&name[..length]);
            out.push('}');
            rest = &name[length + 1..];
        } else {
            out.push_str("$(");
            rest = name;
        }
    }
    out.push_str(rest);
    out
}

/// Settings that leave an agent without approval.
const UNCHAINED: &[&str] = &[
    "\"bypasspermissions\"",
    "skipdangerousmodepermissionprompt",
    "enableallprojectmcpservers\":true",
    "\"approval_policy\":\"never\"",
    "danger-full-access",
    "\"yolo\":true",
    "\"autoapprove\":[\"*\"",
    "\"alwaysallow\":[\"*\"",
    "\"autoapproveall\":true",
    "\"sandbox\":{\"enabled\":false",
    "\"allow\":[\"*\"",
    "\"bash(*)\"",
    "\"bash(sudo",
    "dangerouslyskippermissions",
    "\"trust\":true",
    "chat.tools.autoapprove\":true",
];

fn agent_settings(scanner: &mut SkillScanner<'_>, index: usize, path: &str, content: &str) {
    const EVENTS: &[&str] = &[
        "PreToolUse",
        "PostToolUse",
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "SubagentStop",
        "PreCompact",
        "\"permissions\"",
        "mcpServers",
    ];
    let squeezed: String = content
        .chars()
        .filter(|c| !c.is_whitespace())
        .flat_map(char::to_lowercase)
        .collect();
    let unchained = UNCHAINED
        .iter()
        .filter(|sign| squeezed.contains(**sign))
        .count();
    if unchained > 1 {
        scanner.odd_at(FileOddity::AgentUnchained, index, 0, content, true);
    }
    servers(scanner, index, content);
    let for_agent = EVENTS.iter().any(|event| content.contains(event))
        || path.contains(".claude/")
        || path.contains(".cursor/")
        || path.contains(".codex/")
        || path.contains(".gemini/")
        || path.ends_with(".mcp.json")
        || path.ends_with(".claude.json");
    let sign = [
        "\"hooks\"",
        "mcpServers",
        "bypassPermissions",
        "\"allow\"",
        "dangerously",
        "ANTHROPIC_BASE_URL",
        "enableAllProjectMcpServers",
        "apiKeyHelper",
    ]
    .iter()
    .find(|sign| content.contains(**sign));
    if let (true, Some(sign)) = (for_agent, sign) {
        let at = content.find(sign).unwrap_or(0);
        let line = scanner.texts.0[index].line_at(at).to_owned();
        scanner.odd_at(FileOddity::AgentSettings, index, at, &line, true);
    }
    if for_agent {
        strings(scanner, index, content);
    }
}

/// A tool server that gets keys of other services in its headers or its URL.
fn servers(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let Ok(json) = serde_json::from_str::<Value>(content) else {
        return;
    };
    let servers = json["mcpServers"].as_object().into_iter().flatten();
    for (_, server) in servers.take(100) {
        let Some(url) = server["url"].as_str().filter(|url| !url.contains('\'')) else {
            continue;
        };
        let values = server["headers"].as_object().into_iter().flatten();
        let given: Vec<&str> = values
            .filter_map(|(_, value)| value.as_str())
            .filter(|value| value.contains('$'))
            .collect();
        let line = format!(
            "curl -d \"{}\" '{url}'",
            given.join(" ").replace(['"', '`'], "")
        );
        if !given.is_empty() {
            let at = content.find(url).unwrap_or(0);
            let role = SentenceRole::Instruction;
            scanner.program(index, at, &line, EvaluatedLanguage::Shell, role, true);
        }
    }
}

/// Keys of devcontainers whose values are commands.
const LIFECYCLE: &[&str] = &[
    "initializeCommand",
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
    "postStartCommand",
    "postAttachCommand",
];

/// Scans the commands in JSON.
fn strings(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let Ok(json) = serde_json::from_str::<Value>(content) else {
        return;
    };
    let mut waiting = vec![&json];
    let mut left = 1000;
    while let Some(value) = waiting.pop() {
        left -= 1;
        if left == 0 {
            break;
        }
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => {
                if let Some(command) = fields.get("command").and_then(Value::as_str) {
                    let args = fields
                        .get("args")
                        .and_then(Value::as_array)
                        .map(|args| {
                            args.iter()
                                .filter_map(Value::as_str)
                                .collect::<Vec<_>>()
                                .join(" ")
                        })
                        .unwrap_or_default();
                    let at = content.find(command).unwrap_or(0);
                    scanner.program(
                        index,
                        at,
                        &format!("{command} {args}"),
                        EvaluatedLanguage::Shell,
                        SentenceRole::Instruction,
                        false,
                    );
                }
                for command in LIFECYCLE
                    .iter()
                    .filter_map(|key| fields.get(*key)?.as_str())
                {
                    let at = content.find(command).unwrap_or(0);
                    let role = SentenceRole::Instruction;
                    scanner.program(index, at, command, EvaluatedLanguage::Shell, role, false);
                }
                waiting.extend(fields.values());
            }
            _ => {}
        }
    }
}

/// The number of bytes of a secret that are examined.
const LONGEST_SECRET: usize = 200;

/// Secrets that are recognised by their form.
fn secrets(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    const STARTS: &[(&str, usize)] = &[
        ("AKIA", 20),
        ("ASIA", 20),
        ("ghp_", 40),
        ("gho_", 40),
        ("github_pat_", 60),
        ("glpat-", 26),
        ("xoxb-", 40),
        ("xoxp-", 40),
        ("sk_live_", 32),
        ("rk_live_", 32),
        ("AIza", 39),
        ("sk-ant-", 60),
        ("sk-proj-", 60),
        ("npm_", 40),
        ("SG.", 60),
        ("hf_", 37),
    ];
    // All prefixes in one pass: most texts contain none.
    static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let starts = STARTS.iter().map(|(start, _)| *start);
        // Leftmost matches are found many bytes at a time.
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(starts.chain(["PRIVATE KEY-----"]))
            .ok()
    });
    if FINDER
        .as_ref()
        .is_some_and(|finder| !finder.is_match(content))
    {
        return;
    }
    let mut found: Option<usize> = None;
    for (start, length) in STARTS {
        let hit = content.match_indices(start).find(|(at, _)| {
            let before = content[..*at].chars().next_back();
            if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
                return false;
            }
            // Truncated: in a text of prefixes only, each search would otherwise run to the end.
            let rest = &content[*at..content.floor_char_boundary(*at + LONGEST_SECRET)];
            let word: &str = rest
                .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
                .next()
                .unwrap_or_default();
            word.len() >= *length && is_random(&word[start.len()..])
        });
        if let Some((at, _)) = hit {
            found = Some(found.map_or(at, |other: usize| other.min(at)));
        }
    }
    if let Some((at, _)) = content.match_indices("PRIVATE KEY-----").find(|(at, _)| {
        let from = content.ceil_char_boundary(at.saturating_sub(40));
        content[from..*at].contains("BEGIN ")
    }) {
        let body = content[at..].lines().nth(1).unwrap_or_default().trim();
        if body.len() > 40 && is_random(body) {
            found.get_or_insert(at);
        }
    }
    if let Some(at) = found {
        let line = scanner.texts.0[index].line_at(at).to_owned();
        let masked: String = line.chars().take(24).collect();
        scanner.odd_at(
            FileOddity::LiteralSecret,
            index,
            at,
            &format!("{masked}…"),
            true,
        );
    }
}

/// Whether a secret is not an example: many different characters, and no word such as `example`.
fn is_random(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    let distinct: std::collections::BTreeSet<char> = word.chars().collect();
    distinct.len() >= 9
        && ![
            "EXAMPLE",
            "XXXX",
            "YOUR",
            "TEST",
            "DUMMY",
            "SAMPLE",
            "PLACEHOLDER",
            "1234567",
            "ABCDEF",
        ]
        .iter()
        .any(|sign| upper.contains(sign))
}
