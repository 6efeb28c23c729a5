//! Settings that change the source or destination of data: packages of build tools, providers, and the requests of an agent.
//!
//! Each tool has a file in which one key names the host for everything. Its packages replace those of the public registry and are run, and
//! an agent sends the whole session to its model.

use serde_json::Value;

use crate::{
    flow::{EvaluatedLanguage, HostKind, RemoteHost, urls_in},
    matching::DeclaredContext,
    prose::SentenceRole,
    rule::FileOddity,
    scan::SkillScanner,
};

/// A file of a tool, by the end of its path, and the keys that name a host in it.
const TOOLS: &[(&str, &[&str])] = &[
    ("gradle-wrapper.properties", &["distributionurl"]),
    (
        ".gradle",
        &[
            "apply from",
            ".url =",
            "url =",
            "url '",
            "url \"",
            "maven {",
        ],
    ),
    (".gradle.kts", &["apply(from", "url =", "seturl", "maven("]),
    (
        "maven-wrapper.properties",
        &["distributionurl", "wrapperurl"],
    ),
    ("nuget.config", &["value="]),
    (".tfrc", &["url"]),
    (".terraformrc", &["url"]),
    ("terraform.rc", &["url"]),
    ("go.env", &["goproxy"]),
    (".yarnrc.yml", &["npmregistryserver", "spec:", "yarnpath"]),
    (".bundle/config", &["bundle_mirror"]),
    (".gemrc", &["http"]),
    ("repositories", &["http"]),
    ("auth.json", &["repositories"]),
    (".curlrc", &["proxy"]),
    (".wgetrc", &["proxy"]),
];

/// Scans a text for such settings.
pub(crate) fn look(scanner: &mut SkillScanner<'_>, index: usize, path: &str, content: &str) {
    let name = path.rsplit(['/', '!']).next().unwrap_or_default();
    let tool = TOOLS.iter().find(|(end, _)| match end.contains('/') {
        true => path.ends_with(end),
        false => name.ends_with(end) && (end.starts_with('.') || name == *end),
    });
    if let Some((_, keys)) = tool {
        sources(scanner, index, content, keys);
    } else if name == "settings.xml" && content.contains("<mirrorOf>") {
        sources(scanner, index, content, &["<url>"]);
    } else if [".targets", ".props", "proj"]
        .iter()
        .any(|end| name.ends_with(end))
    {
        build_commands(scanner, index, content);
    } else if name.starts_with("settings") && name.ends_with(".json") {
        agent(scanner, index, content);
    }
}

fn is_stranger(scanner: &SkillScanner<'_>, host: &RemoteHost) -> bool {
    !matches!(
        host.kind,
        HostKind::Known | HostKind::Local | HostKind::Code | HostKind::Example
    ) && !DeclaredContext::new(scanner.about).is_related(host)
}

/// The first line with one of these keys and a host that the skill does not introduce. One repository among others is a warning, if the
/// connection is encrypted.
fn sources(scanner: &mut SkillScanner<'_>, index: usize, content: &str, keys: &[&str]) {
    let mut start = 0;
    for line in content.split_inclusive('\n') {
        let plain = line.replace("\\:", ":");
        let lower = plain.to_ascii_lowercase();
        let named = keys.iter().any(|key| lower.contains(key));
        let host = urls_in(&plain)
            .find_map(|(_, url)| RemoteHost::of(url))
            .filter(|_| named);
        if host.is_some_and(|host| is_stranger(scanner, &host)) {
            let beside = lower.contains("maven") || lower.contains("url ");
            let only = lower.contains("apply") || lower.contains("http://") || !beside;
            let oddity = FileOddity::RegistryRedirect;
            return scanner.odd_at(oddity, index, start, line.trim(), only);
        }
        start += line.len();
    }
}

/// Commands that a build runs.
fn build_commands(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    for (at, _) in content.match_indices("<Exec ").take(64) {
        let Some(from) = content[at..].find("Command=\"").map(|from| at + from + 9) else {
            continue;
        };
        let command = content[from..].split('"').next().unwrap_or_default();
        let command = command.replace("&quot;", "\"").replace("&amp;", "&");
        let role = SentenceRole::Instruction;
        scanner.program(index, from, &command, EvaluatedLanguage::Shell, role, false);
    }
}

/// An agent's model behind another host, and a status line that passes the session on.
fn agent(scanner: &mut SkillScanner<'_>, index: usize, content: &str) {
    let Ok(json) = serde_json::from_str::<Value>(content) else {
        return;
    };
    let variables = json["env"].as_object().into_iter().flatten();
    let redirected = variables
        .filter(|(name, _)| {
            let name = name.to_ascii_uppercase();
            name.ends_with("_BASE_URL") || name.ends_with("_PROXY") || name.ends_with("_API_URL")
        })
        .filter_map(|(_, value)| value.as_str())
        .find(|value| RemoteHost::of(value).is_some_and(|host| is_stranger(scanner, &host)));
    let status = json["statusLine"]["command"].as_str().filter(|command| {
        let sends = ["@-", "-d ", "--data", "-T ", "-F ", "| nc "];
        sends.iter().any(|sign| command.contains(sign))
            && urls_in(command)
                .filter_map(|(_, url)| RemoteHost::of(url))
                .any(|host| is_stranger(scanner, &host))
    });
    if let Some(value) = redirected.or(status) {
        let at = content.find(value).unwrap_or(0);
        scanner.odd_at(FileOddity::RedirectedAgent, index, at, value, true);
    }
}
