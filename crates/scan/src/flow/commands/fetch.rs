//! Programs that download and send: `curl`, `wget` and similar ones.

use super::RunCommand;
use crate::flow::{
    ActKind, RemoteHost, SourceKind,
    eval::Evaluator,
    hosts::is_metadata_secret,
    value::{FlowValue, UNKNOWN},
};

/// Flags whose value is the file that is sent.
const FILE_FLAGS: &[&str] = &[
    "-t",
    "--upload-file",
    "--post-file",
    "--body-file",
    "-infile",
];

impl RunCommand<'_> {
    pub(super) fn fetch(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let mut request = FetchCommand {
            sent: this.ambient.clone(),
            ..FetchCommand::default()
        };
        request.sent.absorb(&self.input);
        let mut previous = "";
        for word in &self.words {
            self.request_word(this, &mut request, previous, word);
            previous = word.known().unwrap_or_default();
        }
        let method = self
            .after(&["-x", "--request", "-method", "--method"])
            .and_then(FlowValue::known)
            .unwrap_or_default()
            .to_ascii_uppercase();
        let posts = request.posts || matches!(method.as_str(), "POST" | "PUT" | "PATCH");
        let FetchCommand {
            sent, saves, urls, ..
        } = request;
        let url = urls
            .into_iter()
            .next()
            .unwrap_or_else(|| UNKNOWN.to_string());
        let host = RemoteHost::of(&url);
        let telling = sent.taints.iter().any(|taint| {
            !matches!(
                taint.source.kind,
                SourceKind::Download
                    | SourceKind::Decoded
                    | SourceKind::Variable
                    | SourceKind::SecretVariable
                    | SourceKind::Input
            )
        });
        let kind = if posts || telling {
            ActKind::Send
        } else {
            ActKind::Fetch
        };
        this.act(kind, self.at, &url, &self.line(), host, sent.taints);
        let mut value = FlowValue::source(SourceKind::Download, &url, this.site(self.at));
        if is_metadata_secret(&url) {
            value.taint(SourceKind::CredentialFile, &url, this.site(self.at));
        }
        value.made_by = Some("curl".into());
        let remote_name = self.has_flag("--remote-name", 'O')
            || (self.name == "wget" && saves.is_none())
            || matches!(self.name, "aria2c" | "certutil" | "bitsadmin");
        if let Some(path) = saves
            .filter(|path| path != "-")
            .or_else(|| remote_name.then(|| url.split('?').next().unwrap_or_default().to_owned()))
        {
            this.store_file(&path, value.clone());
        }
        // `certutil -urlcache -f URL FILE`, `bitsadmin /transfer job URL FILE`, `Start-BitsTransfer URL FILE`.
        let file_last = matches!(self.name, "certutil" | "bitsadmin" | "start-bitstransfer");
        let last = self.operands().last().filter(|_| file_last);
        if let Some(last) = last.and_then(FlowValue::place) {
            this.store_file(&last, value.clone());
        }
        value
    }

    /// One word of the command line; the previous one determines its meaning.
    fn request_word(
        &self,
        this: &mut Evaluator<'_>,
        request: &mut FetchCommand,
        previous: &str,
        word: &FlowValue,
    ) {
        let text = word.known().unwrap_or_default();
        let (flag, inline) = split_flag(text);
        if self.is_data(previous) || (self.is_data(flag) && !inline.is_empty()) {
            request.posts = true;
            request.sent.absorb(word);
            let used = match self.is_data(previous) {
                true => previous,
                false => flag,
            };
            let is_file = FILE_FLAGS.contains(&used.to_ascii_lowercase().as_str());
            // A variable may stand for one of several files.
            for text in &word.texts {
                let payload = match self.is_data(previous) {
                    true => text,
                    false => split_flag(text).1,
                };
                let named = payload.rsplit_once('@').map(|(_, file)| file);
                if let Some(file) = named.or(is_file.then_some(payload)) {
                    request
                        .sent
                        .absorb(&this.read(&FlowValue::text(file), self.at));
                }
            }
            if is_file && word.texts.is_empty() {
                request.sent.absorb(&this.read(word, self.at));
            }
        } else if self.saves_to_next(previous) {
            request.saves = word.place();
        } else if let Some(path) = self.saves_to(flag, inline) {
            request.saves = Some(path.to_owned());
        } else if !text.starts_with('-') {
            let elsewhere = matches!(previous, "-H" | "--header" | "-A" | "-u" | "-X" | "-e");
            if text.contains("://") || (RemoteHost::of(text).is_some() && !elsewhere) {
                request.urls.push(text.to_owned());
            }
        }
        // Credentials in headers are the usual way to use an API.
        let header = matches!(
            previous,
            "-H" | "--header" | "-u" | "--user" | "-headers" | "-b"
        );
        for taint in &word.taints {
            let usual = matches!(
                taint.source.kind,
                SourceKind::SecretVariable | SourceKind::Variable | SourceKind::Download
            );
            if !(usual && (header || !request.posts)) {
                request
                    .sent
                    .taint(taint.source.kind, &taint.source.what, taint.site);
            }
        }
    }

    /// Whether the value of a flag is sent. The same letter has another meaning in each program.
    fn is_data(&self, flag: &str) -> bool {
        let other = matches!(flag, "-f" | "-O" | "-D")
            || (self.name == "wget" && flag.len() == 2)
            || (flag == "-t" && self.name == "curl");
        DATA.contains(&flag.to_ascii_lowercase().as_str()) && !other
    }

    /// Whether the value of a flag is the output file; `curl -sSLo file` too.
    fn saves_to_next(&self, flag: &str) -> bool {
        if self.name == "curl" {
            return flag == "--output"
                || (flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('o'));
        }
        // `wget -qO file`
        let joined = self.name == "wget"
            && flag.starts_with('-')
            && !flag.starts_with("--")
            && flag.ends_with('O');
        joined || SAVE.contains(&flag.to_ascii_lowercase().as_str())
    }

    /// The file in the same word as its flag: `-o/tmp/x`, `--output=/tmp/x`, `wget -O/tmp/x`.
    fn saves_to<'w>(&self, flag: &str, inline: &'w str) -> Option<&'w str> {
        let saves = match self.name {
            "curl" => matches!(flag, "-o" | "--output"),
            "wget" => matches!(flag, "-O" | "--output-document"),
            "aria2c" => matches!(flag, "-o" | "--out"),
            _ => false,
        };
        // `-os` are two letters, and `-qO/tmp/x` are two flags.
        let letter = if self.name == "wget" { 'O' } else { 'o' };
        let joined = inline.split_once(letter).filter(|(before, _)| {
            matches!(self.name, "wget" | "curl")
                && before.len() < 4
                && before.chars().all(|c| c.is_ascii_alphabetic())
        });
        let path = match joined {
            Some((_, path)) if !saves && flag.len() == 2 => path,
            _ if saves => inline,
            _ => return None,
        };
        path.contains(['/', '.']).then_some(path)
    }
}

/// The URL that a command line requests.
#[derive(Default)]
struct FetchCommand {
    sent: FlowValue,
    posts: bool,
    saves: Option<String>,
    urls: Vec<String>,
}

/// Flags whose value is sent.
#[rustfmt::skip]
const DATA: &[&str] = &[
    "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "-f", "--form",
    "--form-string", "-t", "--upload-file", "--post-data", "--post-file", "--body-data", "--body-file", "-body", "-infile",
];
/// Flags whose value is the output file.
const SAVE: &[&str] = &[
    "-o",
    "--output",
    "--output-document",
    "-outfile",
    "-destination",
    "--out",
    "--directory-prefix",
];

/// `--flag=value` and `-dvalue`.
fn split_flag(word: &str) -> (&str, &str) {
    if word.starts_with("--") {
        return word.split_once('=').unwrap_or((word, ""));
    }
    if word.starts_with('-') && word.len() > 2 && word.is_char_boundary(2) {
        return word.split_at(2);
    }
    (word, "")
}
