// `node:path`, for paths with slashes.
"use strict";
const text = (path) => {
  if (typeof path !== "string") throw new TypeError(`a path must be a string, not ${path === null ? "null" : typeof path}`);
  return path;
};

function normalize(path) {
  if (text(path) === "") return ".";
  const absolute = path.startsWith("/"), parts = [];
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.length > 0 && parts[parts.length - 1] !== "..") parts.pop();
    else if (!absolute) parts.push(part);
  }
  const end = path.endsWith("/") && parts.length > 0 ? "/" : "";
  return (absolute ? "/" : "") + parts.join("/") + end || ".";
}

const join = (...paths) => normalize(paths.map(text).filter((path) => path !== "").join("/"));

function resolve(...paths) {
  let whole = "";
  for (let at = paths.length - 1; at >= 0 && !whole.startsWith("/"); at--) {
    if (text(paths[at]) !== "") whole = whole ? `${paths[at]}/${whole}` : paths[at];
  }
  if (!whole.startsWith("/")) whole = `${require("node:process").cwd()}/${whole}`;
  const plain = normalize(whole);
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain;
}

const trimmed = (path) => text(path).replace(/(?!^)\/+$/, "");

function dirname(path) {
  const plain = trimmed(path), end = plain.lastIndexOf("/");
  if (end < 0) return ".";
  return end === 0 ? "/" : plain.slice(0, end).replace(/(?!^)\/+$/, "");
}

function basename(path, ending = "") {
  const plain = trimmed(path), name = plain.slice(plain.lastIndexOf("/") + 1);
  return ending && name !== ending && name.endsWith(ending) ? name.slice(0, -ending.length) : name;
}

function extname(path) {
  const name = basename(path), dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "";
}

function relative(from, to) {
  const a = resolve(from).split("/").filter(Boolean), b = resolve(to).split("/").filter(Boolean);
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
}

function parse(path) {
  const base = basename(path), ext = extname(path), root = text(path).startsWith("/") ? "/" : "";
  const plain = trimmed(path), end = plain.lastIndexOf("/");
  return { root, dir: end <= 0 ? root : plain.slice(0, end), base, ext, name: ext ? base.slice(0, -ext.length) : base };
}

function format({ dir, root = "", base, name = "", ext = "" }) {
  const file = base ?? name + (ext && !ext.startsWith(".") ? "." : "") + ext;
  if (!dir) return root + file;
  return dir === root ? dir + file : `${dir}/${file}`;
}

const isAbsolute = (path) => text(path).startsWith("/");
const toNamespacedPath = (path) => path;
module.exports = {
  sep: "/", delimiter: ":", normalize, join, resolve, dirname, basename, extname, relative, parse, format, isAbsolute, toNamespacedPath,
};
module.exports.posix = module.exports;
