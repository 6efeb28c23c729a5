// `node:fs` through the host. A refusal is EACCES, a missing file ENOENT.
//
// The host reads and writes whole texts, and finds files by patterns; so there are no handles and no streams, a path is a folder if
// the host says so when reading it, and appending reads and writes. Nothing can be removed or renamed.
"use strict";
const native = require("metier:native");
const { Buffer } = require("node:buffer");
const REFUSED = -32001;

function plain(path) {
  if (typeof path === "string" && !path.includes("\0")) return path;
  if (path instanceof Uint8Array) return Buffer.from(path).toString();
  // Checked last, since access loads it.
  if (path instanceof URL) return require("node:url").fileURLToPath(path);
  throw Object.assign(new TypeError("a path must be a string without NUL, or a URL"), { code: "ERR_INVALID_ARG_TYPE" });
}

const WORDS = {
  ENOENT: "no such file or directory", EACCES: "permission denied", EEXIST: "file already exists", EISDIR: "illegal operation on a directory",
  ENOTDIR: "not a directory", ENOTSUP: "operation not supported", EFBIG: "file too large", EILSEQ: "the file is no text in UTF-8", EIO: "i/o error",
};
const REASONS = { "not-found": "ENOENT", "is-folder": "EISDIR", "not-folder": "ENOTDIR", "too-large": "EFBIG", "not-text": "EILSEQ" };

function trouble(code, syscall, path, why) {
  const error = new Error(`${code}: ${WORDS[code]}, ${syscall} '${path}'${why ? `: ${why}` : ""}`);
  return Object.assign(error, { code, syscall, path, errno: -1 });
}

function ask(syscall, path, method, params) {
  try {
    return JSON.parse(native.ask(method, JSON.stringify(params)));
  } catch (error) {
    if (error.rpc === undefined) throw error;
    const code = error.rpc === REFUSED ? "EACCES" : REASONS[error.reason] ?? "EIO";
    throw trouble(code, syscall, path, error.message);
  }
}

const encoding = (options) => (typeof options === "string" ? options : options?.encoding);
const whole = (path, syscall) => ask(syscall, path, "host/read_file", { path }).content;

function readFileSync(path, options) {
  const content = whole(plain(path), "open"), wanted = encoding(options);
  return wanted ? Buffer.from(content).toString(wanted) : Buffer.from(content);
}

/** The text of a file; undefined if it does not exist. */
function existing(path) {
  try {
    return whole(path, "open");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  }
}

function writeFileSync(path, data, options) {
  const to = plain(path), flag = options?.flag ?? "w";
  let content = typeof data === "string" ? Buffer.from(data, encoding(options)).toString() : Buffer.from(data).toString();
  if (!/^(w|a)x?\+?$/.test(flag)) throw trouble("ENOTSUP", "open", to, `the flag '${flag}'`);
  if (flag.includes("x") && existing(to) !== undefined) throw trouble("EEXIST", "open", to);
  if (flag.startsWith("a")) content = (existing(to) ?? "") + content;
  ask("open", to, "host/write_file", { path: to, content });
}

const appendFileSync = (path, data, options) =>
  writeFileSync(path, data, { ...(typeof options === "string" ? { encoding: options } : options), flag: "a" });

class Stats {
  constructor(kind, size) {
    Object.defineProperty(this, "kind", { value: kind });
    this.size = size;
    this.mode = kind === "folder" ? 0o40755 : 0o100644;
  }
  isFile() { return this.kind === "file"; }
  isDirectory() { return this.kind === "folder"; }
  isSymbolicLink() { return false; }
  isFIFO() { return false; }
  isSocket() { return false; }
  isBlockDevice() { return false; }
  isCharacterDevice() { return false; }
}
for (const name of ["mtime", "atime", "ctime", "birthtime", "mtimeMs", "atimeMs", "ctimeMs", "birthtimeMs"]) {
  Object.defineProperty(Stats.prototype, name, {
    get() { throw trouble("ENOTSUP", "stat", name, "the host does not provide modification times"); },
  });
}

function statSync(path, options) {
  const at = plain(path);
  try {
    return new Stats("file", Buffer.byteLength(whole(at, "stat")));
  } catch (error) {
    if (error.code === "EISDIR") return new Stats("folder", 0);
    // The file exists, but is not text.
    if (error.code === "EILSEQ" || error.code === "EFBIG") return new Stats("file", NaN);
    if (error.code === "ENOENT" && options?.throwIfNoEntry === false) return undefined;
    throw error;
  }
}

function existsSync(path) {
  try {
    return statSync(path) !== undefined;
  } catch {
    return false;
  }
}

const accessSync = (path) => void statSync(path);

class Dirent {
  constructor(name, parentPath, folder) {
    Object.assign(this, { name, parentPath, path: parentPath });
    Object.defineProperty(this, "folder", { value: folder });
  }
  isFile() { return !this.folder; }
  isDirectory() { return this.folder; }
  isSymbolicLink() { return false; }
}

function readdirSync(path, options) {
  const at = plain(path).replace(/(?!^)\/+$/, ""), folder = statSync(at);
  if (!folder.isDirectory()) throw trouble("ENOTDIR", "scandir", at);
  const pattern = `${at === "/" ? "" : at.replace(/[*?[{\\]/g, "[$&]")}/**/{*,.*}`;
  const { paths, truncated } = ask("scandir", at, "host/glob", { pattern });
  if (truncated) throw trouble("ENOTSUP", "scandir", at, "it contains too many files");
  // The host returns paths relative to the project if possible, and this one can be absolute.
  const cut = require("node:path"), above = cut.resolve(at), found = new Map();
  for (const each of paths) {
    const below = cut.relative(above, cut.resolve(each));
    if (options?.recursive) found.set(below, false);
    else found.set(below.split("/")[0], below.includes("/"));
  }
  const names = [...found.keys()].sort();
  if (!options?.withFileTypes) return names;
  return names.map((name) => new Dirent(cut.basename(name), cut.join(at, cut.dirname(name)), found.get(name)));
}

/** Folders are created with the files in them. */
function mkdirSync(path, options) {
  const at = plain(path);
  let known;
  try {
    known = statSync(at);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  }
  if (!known.isDirectory() || !options?.recursive) throw trouble("EEXIST", "mkdir", at);
}

const copyFileSync = (from, to) => writeFileSync(to, whole(plain(from), "copyfile"));
const realpathSync = (path) => (statSync(path), require("node:path").resolve(plain(path)));

const never = (name) => (path) => { throw trouble("ENOTSUP", name, String(path), "the host can't remove or rename files"); };
const sync = {
  readFile: readFileSync, writeFile: writeFileSync, appendFile: appendFileSync, stat: statSync, lstat: statSync, access: accessSync,
  readdir: readdirSync, mkdir: mkdirSync, copyFile: copyFileSync, realpath: realpathSync,
};
for (const name of ["unlink", "rename", "rm", "rmdir", "symlink", "link", "chmod", "chown", "utimes", "truncate", "open", "mkdtemp"]) {
  sync[name] = never(name);
}

const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 };
const promises = { constants };
const exported = { existsSync, constants, promises, Stats, Dirent };
for (const [name, work] of Object.entries(sync)) {
  exported[`${name}Sync`] = work;
  promises[name] = async (...given) => work(...given);
  exported[name] = (...given) => {
    const done = given.pop();
    if (typeof done !== "function") throw new TypeError(`fs.${name} requires a callback; fs.promises.${name} takes none`);
    promises[name](...given).then((value) => done(null, value), done);
  };
}
exported.exists = (path, done) => queueMicrotask(() => done(existsSync(path)));
module.exports = exported;
