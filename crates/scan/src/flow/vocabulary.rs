//! What the functions of Python and JavaScript do, as a table.
//!
//! The table names what matters for security and leaves the rest out: an unknown function passes on the sources of what it was given.

use super::{
    ActKind, Host, SourceKind, commands,
    eval::{Evaluator, Language},
    value::Value,
};
use crate::{
    form::{At, Call, Expr},
    text::codec,
};

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Gives something worth protecting.
    Source(SourceKind),
    /// Reads the environment variable that its argument names.
    Variable,
    /// Opens the file that its first argument names.
    Open,
    /// Reads the file that its first argument, or the path that it is called on, names.
    Read,
    /// Writes its second argument to the file of its first; or its first to what it is called on.
    Write,
    /// Writes to the handle that it is called on.
    WriteHandle,
    /// Copies one file to another.
    Copy,
    /// Deletes.
    Delete,
    /// Lists many files.
    Walk,
    /// Makes a request; the name or an argument says which kind.
    Request,
    /// Sends what it is given over a connection that it is called on.
    Send,
    /// Connects to somebody.
    Connect,
    /// Waits for others to connect.
    Listen,
    /// Decodes.
    Decode(Encoding),
    /// Puts texts together or takes them apart.
    Fold(Fold),
    /// Runs a command line in a shell.
    Shell,
    /// Runs a program with arguments.
    Spawn,
    /// Runs text as code of its own language.
    Eval,
    /// Makes objects of bytes, and runs what they say.
    Unpickle,
    /// Changes what others may do with a file.
    Permit,
    /// Shows a text.
    Show,
    /// Gives whoever is connected a shell, with the rest of such a program.
    Duplicate,
}

/// Encodings that are undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Base 64, both alphabets.
    Base64,
    /// Base 32.
    Base32,
    /// Base 85, both kinds.
    Base85,
    /// Pairs of hex digits.
    Hex,
    /// `%41`.
    Url,
    /// ROT13.
    Rot13,
    /// Named by an argument.
    Named,
    /// Compression.
    Compressed,
    /// Encryption.
    Encrypted,
}

/// How texts are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Path components.
    Path,
    /// The user's home.
    Home,
    /// A list, with what it is called on in between.
    Join,
    /// Character codes.
    Chars,
    /// Back to front.
    Reverse,
    /// One text for another.
    Replace,
    /// It stays what it is.
    Same,
    /// A template and its values.
    Format,
}

use Encoding as E;
use Role as R;
use SourceKind as S;

/// Python: full names, or the end of one after a dot.
const PYTHON: &[(&str, Role)] = &[
    ("os.getenv", R::Variable),
    ("os.environ.get", R::Variable),
    ("os.environ.pop", R::Variable),
    ("os.environ.setdefault", R::Variable),
    ("os.environ.copy", R::Source(S::Environment)),
    ("os.environ.items", R::Source(S::Environment)),
    ("os.environ.values", R::Source(S::Environment)),
    ("keyring.get_password", R::Source(S::Keychain)),
    ("keyring.get_credential", R::Source(S::Keychain)),
    ("browser_cookie3.load", R::Source(S::Browser)),
    ("browser_cookie3.chrome", R::Source(S::Browser)),
    ("browser_cookie3.firefox", R::Source(S::Browser)),
    ("win32crypt.CryptUnprotectData", R::Source(S::Browser)),
    ("pyperclip.paste", R::Source(S::Clipboard)),
    ("pynput.keyboard.Listener", R::Source(S::Spying)),
    ("keyboard.on_press", R::Source(S::Spying)),
    ("keyboard.record", R::Source(S::Spying)),
    ("keyboard.read_event", R::Source(S::Spying)),
    ("pyautogui.screenshot", R::Source(S::Spying)),
    ("PIL.ImageGrab.grab", R::Source(S::Spying)),
    ("ImageGrab.grab", R::Source(S::Spying)),
    ("mss.mss", R::Source(S::Spying)),
    ("cv2.VideoCapture", R::Source(S::Spying)),
    ("sounddevice.rec", R::Source(S::Spying)),
    ("socket.gethostname", R::Source(S::HostFacts)),
    ("platform.node", R::Source(S::HostFacts)),
    
    ("getpass.getuser", R::Source(S::HostFacts)),
    ("os.getlogin", R::Source(S::HostFacts)),
    
    ("uuid.getnode", R::Source(S::HostFacts)),
    ("pwd.getpwall", R::Source(S::HostFacts)),
    ("psutil.process_iter", R::Source(S::HostFacts)),
    ("input", R::Source(S::Input)),
    ("print", R::Show),
    ("sys.stdout.write", R::Show),
    ("sys.stdin.read", R::Source(S::Input)),
    ("open", R::Open),
    ("io.open", R::Open),
    ("codecs.open", R::Open),
    ("gzip.open", R::Open),
    ("aiofiles.open", R::Open),
    ("pathlib.Path.open", R::Open),
    ("zipfile.ZipFile", R::Open),
    ("tarfile.open", R::Open),
    ("sqlite3.connect", R::Open),
    ("os.open", R::Open),
    ("pathlib.Path.read_text", R::Read),
    ("pathlib.Path.read_bytes", R::Read),
    ("linecache.getlines", R::Read),
    ("numpy.load", R::Read),
    ("dotenv.dotenv_values", R::Read),
    ("configparser.ConfigParser.read", R::Read),
    ("pathlib.Path.write_text", R::WriteHandle),
    ("pathlib.Path.write_bytes", R::WriteHandle),
    ("open.write", R::WriteHandle),
    ("open.writelines", R::WriteHandle),
    ("io.open.write", R::WriteHandle),
    ("aiofiles.open.write", R::WriteHandle),
    ("pathlib.Path.open.write", R::WriteHandle),
    ("shutil.copy", R::Copy),
    ("shutil.copy2", R::Copy),
    ("shutil.copyfile", R::Copy),
    ("shutil.move", R::Copy),
    ("shutil.copytree", R::Copy),
    ("os.rename", R::Copy),
    ("os.replace", R::Copy),
    ("os.symlink", R::Copy),
    ("shutil.make_archive", R::Copy),
    ("shutil.rmtree", R::Delete),
    ("os.remove", R::Delete),
    ("os.unlink", R::Delete),
    ("os.rmdir", R::Delete),
    ("os.removedirs", R::Delete),
    ("pathlib.Path.unlink", R::Delete),
    ("pathlib.Path.rmdir", R::Delete),
    ("os.walk", R::Walk),
    ("os.scandir", R::Walk),
    ("os.listdir", R::Walk),
    ("glob.glob", R::Walk),
    ("glob.iglob", R::Walk),
    ("pathlib.Path.glob", R::Walk),
    ("pathlib.Path.rglob", R::Walk),
    ("pathlib.Path.iterdir", R::Walk),
    ("requests.get", R::Request),
    ("requests.post", R::Request),
    ("requests.put", R::Request),
    ("requests.patch", R::Request),
    ("requests.delete", R::Request),
    ("requests.head", R::Request),
    ("requests.request", R::Request),
    ("requests.Session.get", R::Request),
    ("requests.Session.post", R::Request),
    ("requests.Session.put", R::Request),
    ("requests.Session.patch", R::Request),
    ("requests.Session.request", R::Request),
    ("requests.session.get", R::Request),
    ("requests.session.post", R::Request),
    ("httpx.get", R::Request),
    ("httpx.post", R::Request),
    ("httpx.put", R::Request),
    ("httpx.request", R::Request),
    ("httpx.Client.get", R::Request),
    ("httpx.Client.post", R::Request),
    ("httpx.Client.request", R::Request),
    ("httpx.AsyncClient.get", R::Request),
    ("httpx.AsyncClient.post", R::Request),
    ("httpx.AsyncClient.request", R::Request),
    ("urllib.request.urlopen", R::Request),
    ("urllib.request.urlretrieve", R::Request),
    ("urllib.request.Request", R::Request),
    ("urllib.urlopen", R::Request),
    ("urllib2.urlopen", R::Request),
    ("urllib2.Request", R::Request),
    ("aiohttp.ClientSession.get", R::Request),
    ("aiohttp.ClientSession.post", R::Request),
    ("aiohttp.ClientSession.put", R::Request),
    ("aiohttp.ClientSession.request", R::Request),
    ("aiohttp.request", R::Request),
    ("urllib3.PoolManager.request", R::Request),
    ("urllib3.request", R::Request),
    ("http.client.HTTPSConnection", R::Connect),
    ("http.client.HTTPConnection", R::Connect),
    ("http.client.HTTPSConnection.request", R::Send),
    ("http.client.HTTPConnection.request", R::Send),
    ("socket.create_connection", R::Connect),
    ("socket.socket.connect", R::Connect),
    ("socket.socket.connect_ex", R::Connect),
    ("websocket.create_connection", R::Connect),
    ("websockets.connect", R::Connect),
    ("ssl.wrap_socket", R::Connect),
    ("socket.socket.send", R::Send),
    ("socket.socket.sendall", R::Send),
    ("socket.socket.sendto", R::Send),
    ("socket.create_connection.send", R::Send),
    ("socket.create_connection.sendall", R::Send),
    ("websocket.create_connection.send", R::Send),
    ("websockets.connect.send", R::Send),
    ("smtplib.SMTP", R::Connect),
    ("smtplib.SMTP_SSL", R::Connect),
    ("smtplib.SMTP.sendmail", R::Send),
    ("smtplib.SMTP.send_message", R::Send),
    ("smtplib.SMTP_SSL.sendmail", R::Send),
    ("smtplib.SMTP_SSL.send_message", R::Send),
    ("ftplib.FTP", R::Connect),
    ("ftplib.FTP.storbinary", R::Send),
    ("ftplib.FTP.storlines", R::Send),
    ("socket.getaddrinfo", R::Send),
    ("socket.gethostbyname", R::Send),
    ("dns.resolver.resolve", R::Send),
    ("paramiko.SSHClient.connect", R::Connect),
    ("socket.socket.bind", R::Listen),
    ("socket.socket.listen", R::Listen),
    ("http.server.HTTPServer", R::Listen),
    ("socketserver.TCPServer", R::Listen),
    ("base64.b64decode", R::Decode(E::Base64)),
    ("base64.standard_b64decode", R::Decode(E::Base64)),
    ("base64.urlsafe_b64decode", R::Decode(E::Base64)),
    ("base64.decodebytes", R::Decode(E::Base64)),
    ("base64.b32decode", R::Decode(E::Base32)),
    ("base64.b85decode", R::Decode(E::Base85)),
    ("base64.a85decode", R::Decode(E::Base85)),
    ("base64.b16decode", R::Decode(E::Hex)),
    ("binascii.a2b_base64", R::Decode(E::Base64)),
    ("binascii.unhexlify", R::Decode(E::Hex)),
    ("binascii.a2b_hex", R::Decode(E::Hex)),
    ("bytes.fromhex", R::Decode(E::Hex)),
    ("bytearray.fromhex", R::Decode(E::Hex)),
    ("urllib.parse.unquote", R::Decode(E::Url)),
    ("codecs.decode", R::Decode(E::Named)),
    ("zlib.decompress", R::Decode(E::Compressed)),
    ("gzip.decompress", R::Decode(E::Compressed)),
    ("bz2.decompress", R::Decode(E::Compressed)),
    ("lzma.decompress", R::Decode(E::Compressed)),
    ("marshal.loads", R::Decode(E::Compressed)),
    (
        "cryptography.fernet.Fernet.decrypt",
        R::Decode(E::Encrypted),
    ),
    ("Crypto.Cipher.AES.new.decrypt", R::Decode(E::Encrypted)),
    ("os.path.join", R::Fold(Fold::Path)),
    ("pathlib.Path", R::Fold(Fold::Path)),
    ("pathlib.PurePath", R::Fold(Fold::Path)),
    ("pathlib.Path.joinpath", R::Fold(Fold::Path)),
    ("os.path.expanduser", R::Fold(Fold::Same)),
    ("os.path.expandvars", R::Fold(Fold::Same)),
    ("os.path.abspath", R::Fold(Fold::Same)),
    ("os.path.realpath", R::Fold(Fold::Same)),
    ("pathlib.Path.expanduser", R::Fold(Fold::Same)),
    ("pathlib.Path.resolve", R::Fold(Fold::Same)),
    ("pathlib.Path.absolute", R::Fold(Fold::Same)),
    ("pathlib.Path.home", R::Fold(Fold::Home)),
    ("str", R::Fold(Fold::Same)),
    ("bytes", R::Fold(Fold::Chars)),
    ("bytearray", R::Fold(Fold::Chars)),
    ("chr", R::Fold(Fold::Chars)),
    (".join", R::Fold(Fold::Join)),
    (".format", R::Fold(Fold::Format)),
    (".replace", R::Fold(Fold::Replace)),
    (".strip", R::Fold(Fold::Same)),
    (".decode", R::Fold(Fold::Same)),
    (".encode", R::Fold(Fold::Same)),
    (".lower", R::Fold(Fold::Same)),
    ("reversed", R::Fold(Fold::Reverse)),
    ("shlex.quote", R::Fold(Fold::Same)),
    ("shlex.split", R::Fold(Fold::Same)),
    ("textwrap.dedent", R::Fold(Fold::Same)),
    ("os.system", R::Shell),
    ("os.popen", R::Shell),
    ("subprocess.getoutput", R::Shell),
    ("subprocess.getstatusoutput", R::Shell),
    ("asyncio.create_subprocess_shell", R::Shell),
    ("commands.getoutput", R::Shell),
    ("IPython.get_ipython.system", R::Shell),
    ("subprocess.run", R::Spawn),
    ("subprocess.call", R::Spawn),
    ("subprocess.check_call", R::Spawn),
    ("subprocess.check_output", R::Spawn),
    ("subprocess.Popen", R::Spawn),
    ("asyncio.create_subprocess_exec", R::Spawn),
    ("os.execv", R::Spawn),
    ("os.execve", R::Spawn),
    ("os.execvp", R::Spawn),
    ("os.execl", R::Spawn),
    ("os.execlp", R::Spawn),
    ("os.spawnl", R::Spawn),
    ("os.spawnv", R::Spawn),
    ("os.posix_spawn", R::Spawn),
    ("pty.spawn", R::Spawn),
    ("os.startfile", R::Spawn),
    ("pexpect.spawn", R::Shell),
    ("pexpect.run", R::Shell),
    ("eval", R::Eval),
    ("exec", R::Eval),
    ("builtins.eval", R::Eval),
    ("builtins.exec", R::Eval),
    ("compile", R::Eval),
    ("runpy.run_path", R::Eval),
    ("code.InteractiveInterpreter.runsource", R::Eval),
    ("types.FunctionType", R::Eval),
    ("types.CodeType", R::Eval),
    ("pickle.loads", R::Unpickle),
    ("pickle.load", R::Unpickle),
    ("cPickle.loads", R::Unpickle),
    ("dill.loads", R::Unpickle),
    ("joblib.load", R::Unpickle),
    ("shelve.open", R::Unpickle),
    ("os.chmod", R::Permit),
    ("pathlib.Path.chmod", R::Permit),
    ("os.setuid", R::Permit),
    ("os.dup2", R::Duplicate),
];

/// JavaScript and TypeScript.
const JAVASCRIPT: &[(&str, Role)] = &[
    ("Deno.env.get", R::Variable),
    ("Deno.env.toObject", R::Source(S::Environment)),
    ("Object.entries", R::Fold(Fold::Same)),
    ("Object.keys", R::Fold(Fold::Same)),
    ("Object.assign", R::Fold(Fold::Same)),
    ("JSON.stringify", R::Fold(Fold::Same)),
    ("keytar.getPassword", R::Source(S::Keychain)),
    ("keytar.findCredentials", R::Source(S::Keychain)),
    ("navigator.clipboard.readText", R::Source(S::Clipboard)),
    ("clipboardy.read", R::Source(S::Clipboard)),
    ("clipboardy.readSync", R::Source(S::Clipboard)),
    ("electron.clipboard.readText", R::Source(S::Clipboard)),
    ("screenshot", R::Source(S::Spying)),
    ("navigator.mediaDevices.getUserMedia", R::Source(S::Spying)),
    (
        "navigator.mediaDevices.getDisplayMedia",
        R::Source(S::Spying),
    ),
    ("os.hostname", R::Source(S::HostFacts)),
    ("os.userInfo", R::Source(S::HostFacts)),
    ("os.networkInterfaces", R::Source(S::HostFacts)),
    ("fs.readFile", R::Read),
    ("fs.readFileSync", R::Read),
    ("fs.promises.readFile", R::Read),
    ("fs/promises.readFile", R::Read),
    ("fs.createReadStream", R::Read),
    ("Deno.readTextFile", R::Read),
    ("Deno.readFile", R::Read),
    ("Deno.readTextFileSync", R::Read),
    ("Bun.file", R::Read),
    ("fs-extra.readFile", R::Read),
    ("fs-extra.readFileSync", R::Read),
    ("fs-extra.readJson", R::Read),
    ("fs.writeFile", R::Write),
    ("fs.writeFileSync", R::Write),
    ("fs.appendFile", R::Write),
    ("fs.appendFileSync", R::Write),
    ("fs.promises.writeFile", R::Write),
    ("fs.promises.appendFile", R::Write),
    ("fs/promises.writeFile", R::Write),
    ("fs/promises.appendFile", R::Write),
    ("Deno.writeTextFile", R::Write),
    ("Deno.writeFile", R::Write),
    ("Bun.write", R::Write),
    ("fs-extra.writeFile", R::Write),
    ("fs-extra.outputFile", R::Write),
    ("fs.createWriteStream", R::Write),
    ("fs.copyFileSync", R::Copy),
    ("fs.copyFile", R::Copy),
    ("fs.renameSync", R::Copy),
    ("fs.cpSync", R::Copy),
    ("fs.unlinkSync", R::Delete),
    ("fs.unlink", R::Delete),
    ("fs.rmSync", R::Delete),
    ("fs.rm", R::Delete),
    ("fs.rmdirSync", R::Delete),
    ("fs.promises.rm", R::Delete),
    ("fs.promises.unlink", R::Delete),
    ("Deno.remove", R::Delete),
    ("rimraf", R::Delete),
    ("rimraf.sync", R::Delete),
    ("fs.readdirSync", R::Walk),
    ("fs.readdir", R::Walk),
    ("fs.promises.readdir", R::Walk),
    ("glob.sync", R::Walk),
    ("glob", R::Walk),
    ("fast-glob.sync", R::Walk),
    ("fetch", R::Request),
    ("globalThis.fetch", R::Request),
    ("window.fetch", R::Request),
    ("node-fetch", R::Request),
    ("axios", R::Request),
    ("axios.get", R::Request),
    ("axios.post", R::Request),
    ("axios.put", R::Request),
    ("axios.patch", R::Request),
    ("axios.request", R::Request),
    ("axios.default.post", R::Request),
    ("got", R::Request),
    ("got.post", R::Request),
    ("got.get", R::Request),
    ("request", R::Request),
    ("request.post", R::Request),
    ("request.get", R::Request),
    ("superagent.post", R::Request),
    ("superagent.get", R::Request),
    ("undici.request", R::Request),
    ("undici.fetch", R::Request),
    ("needle", R::Request),
    ("needle.post", R::Request),
    ("https.get", R::Request),
    ("http.get", R::Request),
    ("https.request", R::Request),
    ("http.request", R::Request),
    ("navigator.sendBeacon", R::Request),
    ("$.post", R::Request),
    ("$.ajax", R::Request),
    ("ky.post", R::Request),
    ("ky.get", R::Request),
    ("axios.create.post", R::Request),
    ("axios.create.get", R::Request),
    ("https.request.write", R::Send),
    ("http.request.write", R::Send),
    ("https.request.end", R::Send),
    ("http.request.end", R::Send),
    ("WebSocket", R::Connect),
    ("ws", R::Connect),
    ("ws.WebSocket", R::Connect),
    ("WebSocket.send", R::Send),
    ("ws.send", R::Send),
    ("XMLHttpRequest.open", R::Connect),
    ("XMLHttpRequest.send", R::Send),
    ("net.connect", R::Connect),
    ("net.createConnection", R::Connect),
    ("net.Socket.connect", R::Connect),
    ("net.Socket.write", R::Send),
    ("net.connect.write", R::Send),
    ("net.createConnection.write", R::Send),
    ("dgram.createSocket.send", R::Send),
    ("dns.resolve", R::Send),
    ("dns.lookup", R::Send),
    ("nodemailer.createTransport.sendMail", R::Send),
    ("Image.src", R::Send),
    ("http.createServer", R::Listen),
    ("https.createServer", R::Listen),
    ("net.createServer", R::Listen),
    ("express.listen", R::Listen),
    ("Deno.serve", R::Listen),
    ("Bun.serve", R::Listen),
    ("atob", R::Decode(E::Base64)),
    ("window.atob", R::Decode(E::Base64)),
    ("Buffer.from", R::Decode(E::Named)),
    ("Buffer", R::Decode(E::Named)),
    ("decodeURIComponent", R::Decode(E::Url)),
    ("unescape", R::Decode(E::Url)),
    ("zlib.inflateSync", R::Decode(E::Compressed)),
    ("zlib.gunzipSync", R::Decode(E::Compressed)),
    ("zlib.unzipSync", R::Decode(E::Compressed)),
    ("zlib.brotliDecompressSync", R::Decode(E::Compressed)),
    ("crypto.createDecipheriv", R::Decode(E::Encrypted)),
    ("crypto.createDecipher", R::Decode(E::Encrypted)),
    ("CryptoJS.AES.decrypt", R::Decode(E::Encrypted)),
    ("crypto-js.AES.decrypt", R::Decode(E::Encrypted)),
    ("path.join", R::Fold(Fold::Path)),
    ("path.resolve", R::Fold(Fold::Path)),
    ("os.homedir", R::Fold(Fold::Home)),
    ("String.fromCharCode", R::Fold(Fold::Chars)),
    ("String.fromCodePoint", R::Fold(Fold::Chars)),
    (".join", R::Fold(Fold::Join)),
    (".reverse", R::Fold(Fold::Reverse)),
    (".replace", R::Fold(Fold::Replace)),
    (".replaceAll", R::Fold(Fold::Replace)),
    (".toString", R::Fold(Fold::Same)),
    (".trim", R::Fold(Fold::Same)),
    (".concat", R::Fold(Fold::Format)),
    ("String", R::Fold(Fold::Same)),
    ("String.raw", R::Fold(Fold::Same)),
    (".split", R::Fold(Fold::Same)),
    ("child_process.exec", R::Shell),
    ("child_process.execSync", R::Shell),
    ("shelljs.exec", R::Shell),
    ("execa.command", R::Shell),
    ("execa.execaCommand", R::Shell),
    ("zx.$", R::Shell),
    ("bun.$", R::Shell),
    ("util.promisify", R::Fold(Fold::Same)),
    ("child_process.spawn", R::Spawn),
    ("child_process.spawnSync", R::Spawn),
    ("child_process.execFile", R::Spawn),
    ("child_process.execFileSync", R::Spawn),
    ("child_process.fork", R::Spawn),
    ("execa", R::Spawn),
    ("execa.execa", R::Spawn),
    ("cross-spawn", R::Spawn),
    ("Deno.Command", R::Spawn),
    ("Deno.run", R::Spawn),
    ("Bun.spawn", R::Spawn),
    ("Bun.spawnSync", R::Spawn),
    ("console.log", R::Show),
    ("eval", R::Eval),
    ("globalThis.eval", R::Eval),
    ("window.eval", R::Eval),
    ("global.eval", R::Eval),
    ("Function", R::Eval),
    ("vm.runInNewContext", R::Eval),
    ("vm.runInThisContext", R::Eval),
    ("vm.runInContext", R::Eval),
    ("vm.Script", R::Eval),
    ("vm.compileFunction", R::Eval),
    ("Module._compile", R::Eval),
    ("module._compile", R::Eval),
    ("require", R::Eval),
    ("import", R::Eval),
    ("fs.chmodSync", R::Permit),
    ("fs.chmod", R::Permit),
    ("fs.promises.chmod", R::Permit),
];

/// Whether a value that this made is a path.
pub(crate) fn is_path(maker: &str) -> bool {
    maker.starts_with("pathlib.")
}

/// What a function does, if it is known.
pub(crate) fn role(language: Language, callee: &str) -> Option<Role> {
    use std::{collections::HashMap, sync::LazyLock};
    static PYTHON_ROLES: LazyLock<HashMap<&str, Role>> =
        LazyLock::new(|| PYTHON.iter().copied().collect());
    static JAVASCRIPT_ROLES: LazyLock<HashMap<&str, Role>> =
        LazyLock::new(|| JAVASCRIPT.iter().copied().collect());
    let roles = match language {
        Language::Python => &*PYTHON_ROLES,
        Language::JavaScript => &*JAVASCRIPT_ROLES,
        Language::Shell | Language::PowerShell | Language::Batch => return None,
    };
    roles.get(callee).copied().or_else(|| {
        let dot = callee.rfind('.')?;
        roles.get(&callee[dot..]).copied()
    })
}

/// Names that are sources by themselves.
pub(crate) fn source_of_name(language: Language, name: &str) -> Option<SourceKind> {
    match (language, name) {
        (Language::Python, "os.environ" | "os.environb")
        | (Language::JavaScript, "process.env" | "Bun.env" | "Deno.env") => {
            Some(SourceKind::Environment)
        }
        (Language::JavaScript, "document.cookie") => {
            Some(SourceKind::Browser)
        }
        (Language::JavaScript, "process.argv") | (Language::Python, "sys.argv" | "sys.stdin") => {
            Some(SourceKind::Input)
        }
        _ => None,
    }
}

/// Whether a variable's name says that it is secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "PRIVATE",
        "MNEMONIC",
        "SEED",
        "COOKIE",
        "SESSION",
        "AUTH",
    ];
    let upper = name.to_ascii_uppercase();
    WORDS.iter().any(|word| upper.contains(word))
        && !upper.contains("KEYBOARD")
        && !upper.ends_with("_PATH")
        && !upper.contains("AUTHOR")
}

/// In the place of the function of a request whose host had to be decoded first.
pub(crate) const HIDDEN_HOST: &str = "hidden host";

type Args<'a> = [(Option<&'a str>, Value)];

/// The first argument with one of these keywords, or at this position.
fn arg<'v>(args: &'v Args<'_>, position: usize, keywords: &[&str]) -> Option<&'v Value> {
    args.iter()
        .find(|(keyword, _)| keyword.is_some_and(|keyword| keywords.contains(&keyword)))
        .or_else(|| {
            args.iter()
                .filter(|(keyword, _)| keyword.is_none())
                .nth(position)
        })
        .map(|(_, value)| value)
}

/// Does what a known function does.
pub(super) fn apply(
    this: &mut Evaluator<'_>,
    role: Role,
    callee: &str,
    call: &Call,
    on: Option<&Value>,
    args: &Args<'_>,
    mut given: Value,
) -> Value {
    let at = call.at;
    let nothing = Value::default();
    let first = arg(
        args,
        0,
        &[
            "path", "file", "filename", "url", "uri", "cmd", "command", "args", "source", "s",
        ],
    )
    .unwrap_or(&nothing);
    match role {
        Role::Source(kind) => {
            if kind == SourceKind::Environment {
                this.act(ActKind::Environment, at, "*", "", None, Vec::new());
            }
            given.taint(kind, callee, this.site(at));
            given
        }
        Role::Variable => match first.known() {
            Some(name) => this.variable(name, at),
            None => given,
        },
        Role::Open => {
            let path = if callee.starts_with("pathlib") {
                on.unwrap_or(first)
            } else {
                first
            };
            let mode = arg(args, usize::from(!callee.starts_with("pathlib")), &["mode"])
                .and_then(Value::known)
                .unwrap_or("r");
            let mut value = if mode.contains(['w', 'a', 'x']) {
                given
            } else {
                this.read(path, at)
            };
            value.texts.clone_from(&path.texts);
            value.made_by = Some("open".into());
            value
        }
        Role::Read => {
            let path = if is_path(callee) {
                on.unwrap_or(first)
            } else {
                first
            };
            this.read(path, at)
        }
        Role::Write => {
            let data = arg(args, 1, &["data"]).unwrap_or(&nothing);
            this.write(first, data, at);
            nothing
        }
        Role::WriteHandle => {
            let path = on.cloned().unwrap_or_default();
            this.write(&path, first, at);
            nothing
        }
        Role::Copy => {
            let data = this.read(first, at);
            let to = arg(args, 1, &["dst", "target"]).unwrap_or(&nothing).clone();
            this.write(&to, &data, at);
            data
        }
        Role::Delete => {
            let path = if is_path(callee) {
                on.unwrap_or(first)
            } else {
                first
            };
            let shown = path.shown();
            this.act(
                ActKind::Delete,
                at,
                &shown,
                callee,
                None,
                path.taints.clone(),
            );
            nothing
        }
        Role::Walk => {
            let path = if is_path(callee) {
                on.unwrap_or(first)
            } else {
                first
            };
            let mut value = this.read(path, at);
            value.texts.clear();
            value
        }
        Role::Request => request(this, callee, at, args, given),
        Role::Connect => {
            let host = args.iter().find_map(|(_, value)| {
                value
                    .texts
                    .iter()
                    .chain(value.items.iter().flatten().flat_map(|item| &item.texts))
                    .find_map(|text| Host::of(text).or_else(|| Host::of(&format!("tcp://{text}"))))
            });
            given.made_by = Some(
                callee
                    .trim_end_matches(".connect")
                    .trim_end_matches(".connect_ex")
                    .into(),
            );
            if let Some(host) = &host {
                given.texts = vec![format!("tcp://{}", host.name)];
            }
            let subject = host
                .as_ref()
                .map_or_else(String::new, |host| host.name.clone());
            this.act(ActKind::Fetch, at, &subject, callee, host, Vec::new());
            given.taint(SourceKind::Download, &subject, this.site(at));
            // `s.connect(…)` returns nothing; it is `s` that is connected from then on.
            if let Some(Expr::Name(name, _)) = &call.on {
                this.bind(name, given.clone(), at);
            }
            given
        }
        Role::Send => {
            let host = on.and_then(Value::known).and_then(Host::of).or_else(|| {
                args.iter().find_map(|(_, value)| {
                    value
                        .known()
                        .filter(|text| text.contains("://"))
                        .and_then(Host::of)
                })
            });
            let mut sent = Value::default();
            args.iter().for_each(|(_, value)| sent.absorb(value));
            let subject = host
                .as_ref()
                .map_or_else(|| first.shown(), |host| host.name.clone());
            this.act(ActKind::Send, at, &subject, callee, host, sent.taints);
            given
        }
        Role::Listen => {
            this.act(
                ActKind::Listen,
                at,
                &first.shown(),
                callee,
                None,
                Vec::new(),
            );
            given
        }
        Role::Decode(encoding) => decoded(this, encoding, at, first, args, given),
        Role::Fold(fold) => {
            let mut value = folded(fold, callee, on, args, given);
            if fold == Fold::Path {
                this.name_path(&mut value, at);
            }
            value
        }
        Role::Shell => {
            let subject = first.shown();
            this.act(
                ActKind::Run,
                at,
                &subject,
                callee,
                None,
                first.taints.clone(),
            );
            this.with_ambient(first, |this| this.nested(Language::Shell, first, at))
        }
        Role::Spawn => spawn(this, callee, at, args),
        Role::Eval => eval(this, callee, at, first, args),
        Role::Unpickle => {
            this.act(
                ActKind::Eval,
                at,
                callee,
                "unpickle",
                None,
                given.taints.clone(),
            );
            given
        }
        Role::Permit => {
            let path = if is_path(callee) {
                on.unwrap_or(first)
            } else {
                first
            };
            let shown = path.shown();
            this.act(ActKind::Permit, at, &shown, callee, None, Vec::new());
            nothing
        }
        Role::Show => {
            let shown = first.shown();
            this.act(ActKind::Show, at, &shown, callee, None, given.taints);
            nothing
        }
        Role::Duplicate => {
            if given.has(SourceKind::Download) {
                this.act(ActKind::RemoteShell, at, callee, "", None, given.taints);
            }
            nothing
        }
    }
}

fn request(
    this: &mut Evaluator<'_>,
    callee: &str,
    at: At,
    args: &Args<'_>,
    mut given: Value,
) -> Value {
    let url = args
        .iter()
        .flat_map(|(_, value)| &value.texts)
        .find(|text| text.contains("://") || text.starts_with("//"))
        .cloned()
        .or_else(|| {
            arg(args, 0, &["url", "uri", "hostname", "host"])
                .and_then(Value::known)
                .map(str::to_owned)
        })
        .unwrap_or_else(|| "\0".to_owned());
    let host = Host::of(&url).or_else(|| {
        arg(args, 9, &["hostname", "host"])
            .and_then(Value::known)
            .and_then(|name| Host::of(&format!("https://{name}")))
    });
    let method = arg(args, 9, &["method", "type"])
        .and_then(Value::known)
        .unwrap_or_default()
        .to_ascii_uppercase();
    let posts = ["post", "put", "patch", "sendBeacon"]
        .iter()
        .any(|verb| callee.ends_with(verb))
        || matches!(method.as_str(), "POST" | "PUT" | "PATCH")
        || args.iter().any(|(keyword, _)| {
            matches!(
                *keyword,
                Some("data" | "json" | "body" | "files" | "content")
            )
        })
        || args
            .first()
            .is_some_and(|(_, value)| matches!(value.known(), Some("POST" | "PUT" | "PATCH")));
    let hidden = args.iter().any(|(_, value)| value.texts.contains(&url) && value.has(SourceKind::Decoded));
    let callee_shown = if hidden { HIDDEN_HOST } else { callee };
    // Credentials in headers are how interfaces are used; whole environments there are not.
    let mut sent = Value::default();
    for (keyword, value) in args {
        let header = matches!(*keyword, Some("headers" | "auth" | "cookies"));
        for taint in &value.taints {
            if !(header
                && matches!(
                    taint.source.kind,
                    SourceKind::SecretVariable | SourceKind::Variable
                ))
            {
                sent.taint(taint.source.kind, &taint.source.what, taint.site);
            }
        }
    }
    if posts {
        this.act(
            ActKind::Send,
            at,
            &url,
            callee_shown,
            host.clone(),
            sent.taints.clone(),
        );
    } else {
        this.act(ActKind::Fetch, at, &url, callee_shown, host.clone(), Vec::new());
        let telling: Vec<_> = sent
            .taints
            .into_iter()
            .filter(|taint| {
                !matches!(
                    taint.source.kind,
                    SourceKind::Download
                        | SourceKind::Decoded
                        | SourceKind::Input
                        | SourceKind::Variable
                        | SourceKind::SecretVariable
                )
            })
            .collect();
        if !telling.is_empty() {
            this.act(ActKind::Send, at, &url, callee, host, telling);
        }
    }
    if callee.ends_with("urlretrieve") {
        if let Some(path) = arg(args, 1, &["filename"]).and_then(Value::known) {
            let value = Value::source(SourceKind::Download, &url, this.site(at));
            this.store_file(path, value);
        }
    }
    // What comes back no longer is what was sent.
    let keeps = callee.ends_with(".Request") || callee.ends_with(".request");
    if !keeps {
        given.taints.clear();
    }
    given.taint(SourceKind::Download, &url, this.site(at));
    given.texts = if keeps { vec![url] } else { Vec::new() };
    given
}

fn decoded(
    this: &mut Evaluator<'_>,
    encoding: Encoding,
    at: At,
    first: &Value,
    args: &Args<'_>,
    mut given: Value,
) -> Value {
    let named = args
        .get(1)
        .and_then(|(_, value)| value.known())
        .unwrap_or_default();
    let encoding = match (encoding, named) {
        (Encoding::Named, "base64" | "base64url") => Encoding::Base64,
        (Encoding::Named, "hex") => Encoding::Hex,
        (Encoding::Named, "rot13" | "rot_13") => Encoding::Rot13,
        (Encoding::Named, _) => {
            given.texts = first.texts.clone();
            return given;
        }
        (encoding, _) => encoding,
    };
    let texts: Vec<String> = first
        .texts
        .iter()
        .filter_map(|text| undo(encoding, text))
        .collect();
    // `%20` in a URL hides nothing.
    if encoding != Encoding::Url {
        given.taint(
            SourceKind::Decoded,
            &format!("{encoding:?}").to_lowercase(),
            this.site(at),
        );
    }
    given.texts = texts;
    given
}

/// What a known text decodes to.
pub(super) fn undo(encoding: Encoding, text: &str) -> Option<String> {
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match encoding {
        Encoding::Base64 => codec::base64(text).map(lossy),
        Encoding::Base32 => codec::base32(text).map(lossy),
        Encoding::Base85 => codec::base85(text).map(lossy),
        Encoding::Hex => codec::hex(text).map(lossy),
        Encoding::Url => codec::url(text).map(lossy),
        Encoding::Rot13 => Some(rot13(text)),
        Encoding::Named | Encoding::Compressed | Encoding::Encrypted => None,
    }
}

pub(super) fn rot13(text: &str) -> String {
    let turn = |c: char, base: u8| char::from((c as u8 - base + 13) % 26 + base);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

fn folded(fold: Fold, callee: &str, on: Option<&Value>, args: &Args<'_>, given: Value) -> Value {
    let values: Vec<&Value> = args.iter().map(|(_, value)| value).collect();
    let first = values.first().copied();
    match fold {
        Fold::Path => {
            let parts: Vec<&Value> = on
                .filter(|_| callee.ends_with("joinpath"))
                .into_iter()
                .chain(values)
                .collect();
            let mut value = Value::concat(parts, "/");
            if callee.starts_with("pathlib") {
                value.made_by = Some("pathlib.Path".into());
            }
            value
        }
        Fold::Home => Value {
            made_by: callee.starts_with("pathlib").then(|| "pathlib.Path".into()),
            ..Value::text("~")
        },
        Fold::Join => {
            let between = match callee.starts_with('.') || on.is_some() {
                true if first.is_some_and(|value| value.items.is_some()) => (on, first),
                _ => (first, on),
            };
            match between {
                (separator, Some(list)) => match &list.items {
                    Some(items) => {
                        Value::concat(items, separator.and_then(Value::known).unwrap_or(""))
                    }
                    None => given,
                },
                _ => given,
            }
        }
        Fold::Chars => {
            let codes: Option<Vec<char>> = values
                .iter()
                .flat_map(|value| {
                    value
                        .items
                        .as_deref()
                        .unwrap_or(std::slice::from_ref(*value))
                })
                .map(|value| {
                    value
                        .number
                        .and_then(|number| u32::try_from(number).ok())
                        .and_then(char::from_u32)
                })
                .collect();
            match codes {
                Some(codes) if !codes.is_empty() => given.with_text(codes.into_iter().collect()),
                _ => Value {
                    texts: first.map(|value| value.texts.clone()).unwrap_or_default(),
                    ..given
                },
            }
        }
        Fold::Reverse => {
            let source = on.or(first);
            match source {
                Some(value) => {
                    let texts = value
                        .texts
                        .iter()
                        .map(|text| text.chars().rev().collect())
                        .collect();
                    let items = value
                        .items
                        .as_ref()
                        .map(|items| items.iter().rev().cloned().collect());
                    Value {
                        texts,
                        items,
                        ..given
                    }
                }
                None => given,
            }
        }
        Fold::Replace => match (on.and_then(Value::known), values.as_slice()) {
            (Some(text), [from, to, ..]) => match (from.known(), to.known()) {
                (Some(from), Some(to)) if !from.is_empty() => {
                    given.with_text(text.replace(from, to))
                }
                _ => given,
            },
            _ => given,
        },
        Fold::Same => {
            // `os.path.expanduser(x)`: before the dot stands a module, and what matters is given.
            let module = callee.rsplit_once('.').is_some_and(|(before, _)| {
                matches!(
                    before,
                    "os.path" | "shlex" | "textwrap" | "Object" | "JSON" | "util"
                )
            });
            let source = on
                .filter(|_| first.is_none() || (callee.contains('.') && !module))
                .or(first)
                .or(on);
            let texts = source.map(|value| value.texts.clone()).unwrap_or_default();
            let made_by = source
                .and_then(|value| value.made_by.clone())
                .filter(|maker| is_path(maker));
            Value {
                texts,
                items: source.and_then(|value| value.items.clone()),
                made_by: made_by.or(given.made_by.clone()),
                ..given
            }
        }
        Fold::Format => Value::concat(on.into_iter().chain(values), ""),
    }
}

fn spawn(this: &mut Evaluator<'_>, callee: &str, at: At, args: &Args<'_>) -> Value {
    let nothing = Value::default();
    let first = arg(args, 0, &["args", "cmd", "command", "file"]).unwrap_or(&nothing);
    let in_shell = args.iter().any(|(keyword, value)| {
        *keyword == Some("shell") && !matches!(value.known(), Some("False" | "false"))
    });
    let mut words: Vec<Value> = match &first.items {
        Some(items) => items.clone(),
        None => {
            let mut words = vec![first.clone()];
            // child_process.spawn("curl", ["-d", …]), os.execlp("sh", "sh", "-c", …)
            for (keyword, value) in args.iter().skip(1) {
                if keyword.is_none() || *keyword == Some("args") {
                    match &value.items {
                        Some(items) => words.extend(items.iter().cloned()),
                        None if callee.contains("exec") => words.push(value.clone()),
                        None => {}
                    }
                }
            }
            words
        }
    };
    let input = arg(args, 9, &["input"]);
    let line = Value::concat(&words, " ");
    this.act(
        ActKind::Run,
        at,
        &line.shown(),
        callee,
        None,
        line.taints.clone(),
    );
    if words.len() == 1 && (in_shell || first.known().is_some_and(|text| text.contains(' '))) {
        return this.with_ambient(first, |this| this.nested(Language::Shell, first, at));
    }
    if words.is_empty() {
        return Value::default();
    }
    let program = words.remove(0);
    commands::invoke(this, &program, words, input.cloned(), at)
}

fn eval(this: &mut Evaluator<'_>, callee: &str, at: At, first: &Value, args: &Args<'_>) -> Value {
    // A module that is only known when it runs: interesting if it was put together, or came from elsewhere.
    if matches!(callee, "require" | "import") {
        if first.has(SourceKind::Download) || first.has(SourceKind::Decoded) {
            this.act(
                ActKind::Eval,
                at,
                &first.shown(),
                callee,
                None,
                first.taints.clone(),
            );
        }
        return Value {
            made_by: first
                .known()
                .map(|name| name.trim_start_matches("node:").into()),
            ..Value::default()
        };
    }
    let language = this.language;
    let code = if callee == "Function" {
        args.last().map_or(first, |(_, value)| value)
    } else {
        first
    };
    this.with_ambient(code, |this| this.eval(language, code, at))
}
