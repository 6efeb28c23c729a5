// `Buffer`: conversion between bytes and text. The rest of Node's `Buffer` is omitted.
"use strict";
const native = require("metier:native");
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function fromBase64(text) {
  const plain = text.replace(/-/g, "+").replace(/_/g, "/").replace(/[^A-Za-z0-9+/]/g, ""), bytes = [];
  let bits = 0, held = 0;
  for (const letter of plain) {
    bits = (bits << 6) | LETTERS.indexOf(letter);
    held += 6;
    if (held >= 8) bytes.push((bits >> (held -= 8)) & 255);
    bits &= 0xffff;
  }
  return bytes;
}

function toBase64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const bits = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0), left = bytes.length - at;
    text += LETTERS[bits >> 18] + LETTERS[(bits >> 12) & 63] + (left > 1 ? LETTERS[(bits >> 6) & 63] : "=") + (left > 2 ? LETTERS[bits & 63] : "=");
  }
  return text;
}

function bytesOf(text, encoding) {
  switch (String(encoding ?? "utf8").toLowerCase()) {
    case "utf8": case "utf-8": return native.encode(text.toWellFormed());
    case "base64": case "base64url": return fromBase64(text);
    case "hex": return (text.match(/[0-9a-f]{2}/gi) ?? []).map((pair) => parseInt(pair, 16));
    case "latin1": case "binary": case "ascii": return Array.from(text, (letter) => letter.charCodeAt(0) & 255);
    default: throw new TypeError(`Unknown encoding: ${encoding}`);
  }
}

class Buffer extends Uint8Array {
  static from(value, encoding) {
    const bytes = typeof value === "string" ? bytesOf(value, encoding) : value instanceof ArrayBuffer ? new Uint8Array(value) : value;
    const made = new Buffer(bytes.length);
    made.set(bytes);
    return made;
  }
  static alloc(size, fill = 0) { return new Buffer(size).fill(fill); }
  static allocUnsafe(size) { return new Buffer(size); }
  static isBuffer(value) { return value instanceof Buffer; }
  static isEncoding(name) { return ["utf8", "utf-8", "base64", "base64url", "hex", "latin1", "binary", "ascii"].includes(String(name).toLowerCase()); }
  static byteLength(value, encoding) { return typeof value === "string" ? bytesOf(value, encoding).length : value.byteLength; }
  static concat(list) {
    const made = new Buffer(list.reduce((sum, each) => sum + each.length, 0));
    let at = 0;
    for (const each of list) { made.set(each, at); at += each.length; }
    return made;
  }
  static compare(a, b) {
    const at = a.findIndex((byte, index) => byte !== b[index]);
    return at < 0 ? Math.sign(a.length - b.length) : Math.sign(a[at] - (b[at] ?? -1));
  }
  toString(encoding, start = 0, end = this.length) {
    const bytes = this.subarray(start, end);
    switch (String(encoding ?? "utf8").toLowerCase()) {
      case "utf8": case "utf-8": return native.decode(Array.from(bytes), false);
      case "base64": return toBase64(bytes);
      case "base64url": return toBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
      case "hex": return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      case "latin1": case "binary": case "ascii": return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
      default: throw new TypeError(`Unknown encoding: ${encoding}`);
    }
  }
  equals(other) { return Buffer.compare(this, other) === 0; }
  toJSON() { return { type: "Buffer", data: Array.from(this) }; }
}
module.exports = { Buffer };
