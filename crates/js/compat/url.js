// `URL` and `URLSearchParams`. URLs are parsed in Rust, according to the standard.
"use strict";
const native = require("metier:native");
const PARTS = ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash", "origin"];
const decode = (text) => native.decode(Array.from(bytes(text.replace(/\+/g, " "))), false);
const encode = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(/%20/g, "+").replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/** The bytes of a percent-encoded text. */
function* bytes(text) {
  const raw = native.encode(text.toWellFormed());
  for (let at = 0; at < raw.length; at++) {
    const pair = raw[at] === 37 ? String.fromCharCode(raw[at + 1] ?? 0, raw[at + 2] ?? 0) : "";
    if (/^[0-9a-f]{2}$/i.test(pair)) { yield parseInt(pair, 16); at += 2; } else yield raw[at];
  }
}

class URLSearchParams {
  #pairs = [];
  #changed = () => {};
  constructor(init = "", changed) {
    if (changed) this.#changed = changed;
    if (typeof init === "string") {
      for (const pair of init.replace(/^\?/, "").split("&")) {
        const [name, ...value] = pair.split("=");
        if (pair) this.#pairs.push([decode(name), decode(value.join("="))]);
      }
    } else {
      const pairs = Symbol.iterator in init ? init : Object.entries(init);
      for (const [name, value] of pairs) this.#pairs.push([`${name}`, `${value}`]);
    }
  }
  get size() { return this.#pairs.length; }
  get(name) { return this.#pairs.find((pair) => pair[0] === name)?.[1] ?? null; }
  getAll(name) { return this.#pairs.filter((pair) => pair[0] === name).map((pair) => pair[1]); }
  has(name) { return this.#pairs.some((pair) => pair[0] === name); }
  append(name, value) { this.#pairs.push([`${name}`, `${value}`]); this.#changed(); }
  delete(name) { this.#pairs = this.#pairs.filter((pair) => pair[0] !== name); this.#changed(); }
  set(name, value) {
    const at = this.#pairs.findIndex((pair) => pair[0] === name);
    this.#pairs = this.#pairs.filter((pair, index) => pair[0] !== name || index === at);
    if (at < 0) this.#pairs.push([`${name}`, `${value}`]); else this.#pairs[at] = [`${name}`, `${value}`];
    this.#changed();
  }
  sort() { this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)); this.#changed(); }
  forEach(code) { for (const [name, value] of this.#pairs) code(value, name, this); }
  entries() { return this.#pairs.values(); }
  *keys() { for (const pair of this.#pairs) yield pair[0]; }
  *values() { for (const pair of this.#pairs) yield pair[1]; }
  [Symbol.iterator]() { return this.entries(); }
  toString() { return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&"); }
}

class URL {
  #parts;
  #query;
  constructor(text, base) {
    this.#parts = base === undefined ? native.url(`${text}`) : native.url(`${text}`, `${base}`);
    if (!this.#parts) throw Object.assign(new TypeError(`Invalid URL: ${text}`), { code: "ERR_INVALID_URL" });
  }
  static canParse(text, base) { try { return !!new URL(text, base); } catch { return false; } }
  static parse(text, base) { try { return new URL(text, base); } catch { return null; } }
  static part(url, at) { return url.#parts[at]; }
  static change(url, name, value) {
    url.#parts = (name === "href" ? native.url(`${value}`) : native.urlWith(url.#parts[0], name, `${value}`)) ?? url.#parts;
    url.#query = undefined;
  }
  get searchParams() {
    this.#query ??= new URLSearchParams(this.search, () => { this.#parts = native.urlWith(this.#parts[0], "search", this.#query.toString()); });
    return this.#query;
  }
  toString() { return this.href; }
  toJSON() { return this.href; }
}
const { part, change } = URL;
delete URL.part;
delete URL.change;
PARTS.forEach((name, at) => {
  const set = name === "origin" ? undefined : function (value) { change(this, name, value); };
  Object.defineProperty(URL.prototype, name, { configurable: true, enumerable: true, get() { return part(this, at); }, set });
});

function fileURLToPath(url) {
  const { protocol, pathname } = url instanceof URL ? url : new URL(url);
  if (protocol !== "file:") throw new TypeError("The URL must be of scheme file");
  return decodeURIComponent(pathname);
}
const pathToFileURL = (path) => new URL(`file://${encodeURI(require("node:path").resolve(path)).replace(/[?#]/g, encodeURIComponent)}`);
module.exports = { URL, URLSearchParams, fileURLToPath, pathToFileURL };
