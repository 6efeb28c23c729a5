// `node:util`, and the format of values in the log.
"use strict";
const MAX_DEPTH = 4, MAX_ITEMS = 100, MAX_TEXT = 10_000;

const quote = (text) => `'${text.replace(/[\\'\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`))}'`;
const key = (name) => (typeof name === "symbol" ? `[${String(name)}]` : /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name));

function inspect(value, options, seen = []) {
  if (typeof value === "string") return quote(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "symbol" || value === null || (typeof value !== "object" && typeof value !== "function")) return String(value);
  if (typeof value === "function") return `[${/^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function"}: ${value.name || "(anonymous)"}]`;
  if (seen.includes(value)) return "[Circular]";
  if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}`.trimEnd() : `${value.name}: ${value.message}`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (seen.length > (options?.depth ?? MAX_DEPTH)) return Array.isArray(value) ? "[Array]" : "[Object]";
  const inner = (each) => inspect(each, options, [...seen, value]);
  const list = (items, open, close) => {
    const shown = items.slice(0, MAX_ITEMS), more = items.length - shown.length;
    if (more > 0) shown.push(`… ${more} more`);
    return shown.length ? `${open} ${shown.join(", ")} ${close}` : open + close;
  };
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return list(Array.from(value, inner), "[", "]");
  if (value instanceof Map) return `Map(${value.size}) ${list([...value].map(([k, v]) => `${inner(k)} => ${inner(v)}`), "{", "}")}`;
  if (value instanceof Set) return `Set(${value.size}) ${list([...value].map(inner), "{", "}")}`;
  if (value instanceof Promise) return "Promise {}";
  const name = value.constructor?.name;
  const entries = Object.keys(value).map((each) => `${key(each)}: ${inner(value[each])}`);
  return (name && name !== "Object" ? `${name} ` : "") + list(entries, "{", "}");
}

function format(first, ...rest) {
  let text = "";
  if (typeof first === "string") {
    text = first.replace(/%[sdifjoOc%]/g, (mark) => {
      if (mark === "%%") return "%";
      if (rest.length === 0) return mark;
      const value = rest.shift();
      if (mark === "%s") return typeof value === "string" ? value : inspect(value);
      if (mark === "%d") return String(Number(value));
      if (mark === "%i") return String(parseInt(value, 10));
      if (mark === "%f") return String(parseFloat(value));
      if (mark === "%j") return JSON.stringify(value);
      return mark === "%c" ? "" : inspect(value);
    });
  } else {
    rest.unshift(first);
    text = undefined;
  }
  const words = rest.map((value) => (typeof value === "string" ? value : inspect(value)));
  const whole = (text === undefined ? words : [text, ...words]).join(" ");
  return whole.length > MAX_TEXT ? `${whole.slice(0, MAX_TEXT)}…` : whole;
}

const promisify = (code) => (...given) =>
  new Promise((resolve, reject) => code(...given, (error, value) => (error ? reject(error) : resolve(value))));
const callbackify = (code) => (...given) => {
  const done = given.pop();
  code(...given).then((value) => done(null, value), done);
};
const deprecate = (code) => code;
const inherits = (child, parent) => void Object.setPrototypeOf(child.prototype, parent.prototype);
const isDeepStrictEqual = (a, b) => require("node:assert").same(a, b);
const types = {
  isDate: (value) => value instanceof Date,
  isRegExp: (value) => value instanceof RegExp,
  isPromise: (value) => value instanceof Promise,
  isNativeError: (value) => value instanceof Error,
};
module.exports = { inspect, format, promisify, callbackify, deprecate, inherits, isDeepStrictEqual, types };
Object.defineProperties(module.exports, {
  TextEncoder: { get: () => globalThis.TextEncoder, enumerable: true },
  TextDecoder: { get: () => globalThis.TextDecoder, enumerable: true },
});
