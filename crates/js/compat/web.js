// Small parts of the web platform that the engine does not have.
"use strict";
const native = require("metier:native");

class TextEncoder {
  get encoding() { return "utf-8"; }
  encode(text = "") { return native.encode(`${text}`.toWellFormed()); }
}

class TextDecoder {
  constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`the encoding '${label}' is not available; use utf-8`);
    Object.assign(this, { encoding: "utf-8", fatal, ignoreBOM });
  }
  decode(bytes = new Uint8Array()) {
    const view = ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
    const text = native.decode(Array.from(view), this.fatal);
    return this.ignoreBOM ? text : text.replace(/^\ufeff/, "");
  }
}

function structuredClone(value, _options, seen = new Map()) {
  if (typeof value === "function" || typeof value === "symbol") {
    throw Object.assign(new Error(`${String(value)} could not be cloned`), { name: "DataCloneError" });
  }
  if (typeof value !== "object" || value === null) return value;
  if (seen.has(value)) return seen.get(value);
  const keep = (copy) => (seen.set(value, copy), copy), inner = (each) => structuredClone(each, undefined, seen);
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return keep(value.slice());
  if (value instanceof Map) { const copy = keep(new Map()); for (const [k, v] of value) copy.set(inner(k), inner(v)); return copy; }
  if (value instanceof Set) { const copy = keep(new Set()); for (const v of value) copy.add(inner(v)); return copy; }
  if (value instanceof Error) return keep(Object.assign(new value.constructor(value.message), { stack: value.stack }));
  const copy = keep(Array.isArray(value) ? new Array(value.length) : {});
  for (const name of Object.keys(value)) copy[name] = inner(value[name]);
  return copy;
}

class AbortSignal {
  aborted = false;
  reason = undefined;
  onabort = null;
  #listeners = [];
  addEventListener(kind, code) { if (kind === "abort") this.#listeners.push(code); }
  removeEventListener(_, code) { this.#listeners = this.#listeners.filter((each) => each !== code); }
  throwIfAborted() { if (this.aborted) throw this.reason; }
  static abort(reason) { const controller = new AbortController(); controller.abort(reason); return controller.signal; }
  static timeout(delay) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(Object.assign(new Error("The operation timed out"), { name: "TimeoutError" })), delay);
    return controller.signal;
  }
  static fire(signal, reason) {
    if (signal.aborted) return;
    signal.aborted = true;
    signal.reason = reason ?? Object.assign(new Error("This operation was aborted"), { name: "AbortError" });
    const event = { type: "abort", target: signal };
    signal.onabort?.(event);
    for (const code of signal.#listeners) code(event);
  }
}
class AbortController {
  signal = new AbortSignal();
  abort(reason) { AbortSignal.fire(this.signal, reason); }
}

const crypto = {
  getRandomValues(array) {
    for (let at = 0; at < array.length; at++) array[at] = native.random();
    return array;
  },
  randomUUID() {
    const bytes = Array.from(crypto.getRandomValues(new Uint8Array(16)));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  },
};
module.exports = { TextEncoder, TextDecoder, structuredClone, AbortController, AbortSignal, crypto };
