//! Files that other programs act on: package manifests, registry settings, editor tasks, agent settings.

use std::{rc::Rc, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::Value;

use crate::{
    flow::{EvaluatedLanguage, HostKind, RemoteHost, urls_in},
    prose::SentenceRole,
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

/// Scans a text for settings of the programs that read a file of this name.
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
                scanner.odd_at(
                    FileOddity::OpensAndRuns,
                    index,
                    content.find("folderOpen").unwrap_or(0),
                    &content,
                    true,
                );
            }
            strings(scanner, index, &content);
        }
        "settings.json"
        | "settings.local.json"
        | ".mcp.json"
        | "mcp.json"
        | "hooks.json"
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
        "config"
            if path.contains(".git/")
                && (content.contains("sshCommand")
                    || content.contains("hooksPath")
                    || content.contains("fsmonitor")) =>
        {
            scanner.odd_at(FileOddity::OpensAndRuns, index, 0, &content, true);
        }
        _ => {}
    }
    secrets(scanner, index, &content);
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

/// Packages that Python installs by their address.
fn required(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let lines = content.lines().map(str::trim);
    for line in lines
        .filter(|line| !line.starts_with(['#', '-']))
        .take(1000)
    {
        addressed(scanner, index, content, line);
    }
}

/// A package by its address: what is there can change, and it runs when it is installed.
fn addressed(scanner: &mut SkillScanner<'_>, index: usize, content: &str, line: &str) {
    let Some(host) = urls_in(line).find_map(|(_, url)| RemoteHost::of(url)) else {
        return;
    };
    if !matches!(
        host.kind,
        HostKind::Known | HostKind::Code | HostKind::Local
    ) {
        let at = content.find(line).unwrap_or(0);
        let serious = matches!(
            host.kind,
            HostKind::Address | HostKind::Drop | HostKind::Anonymous
        );
        scanner.odd_at(FileOddity::RegistryRedirect, index, at, line, serious);
    }
}

fn registry(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let found = content
        .lines()
        .filter(|line| {
            line.contains("registry")
                || line.contains("index-url")
                || line.contains("index_url")
                || line.trim_start().starts_with("-i ")
        })
        .find_map(|line| {
            let (at, url) = urls_in(line).next()?;
            let host = RemoteHost::of(url)?;
            let foreign = !matches!(host.kind, HostKind::Known | HostKind::Local);
            foreign.then(|| (at, line.to_owned()))
        });
    if let Some((_, line)) = found {
        let at = content.find(&line).unwrap_or(0);
        scanner.odd_at(FileOddity::RegistryRedirect, index, at, &line, true);
    }
}

fn agent_settings(scanner: &mut SkillScanner<'_>, index: usize, path: &str, content: &str) {
    let for_agent = path.contains(".claude/")
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
                waiting.extend(fields.values());
            }
            _ => {}
        }
    }
}

/// The number of bytes of a secret that are examined.
const LONGEST_SECRET: usize = 200;

/// Secrets that are recognized by their form.
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
    // All prefixes at once: most texts contain none.
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
