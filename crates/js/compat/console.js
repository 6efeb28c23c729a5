// `console`: each line goes to the host's log, with its level, and can't interfere with messages.
"use strict";
const native = require("metier:native");
const { format, inspect } = require("node:util");
const counts = new Map(), times = new Map();
let indent = "";

const line = (level) => (...values) => native.log(level, (indent + format(...values)).toWellFormed());
const log = line("info"), warn = line("warn"), error = line("error"), debug = line("debug");
const timed = (label) => `${label}: ${(native.now() - (times.get(label) ?? native.now())).toFixed(3)}ms`;
module.exports = {
  log, info: log, warn, error, debug,
  trace: (...values) => debug(...values, new Error().stack),
  dir: (value, options) => log(inspect(value, options)),
  table: (value) => log(inspect(value)),
  assert: (holds, ...values) => { if (!holds) error("Assertion failed", ...values); },
  count: (label = "default") => { counts.set(label, (counts.get(label) ?? 0) + 1); log(`${label}: ${counts.get(label)}`); },
  countReset: (label = "default") => void counts.delete(label),
  time: (label = "default") => void times.set(label, native.now()),
  timeLog: (label = "default") => log(timed(label)),
  timeEnd: (label = "default") => { log(timed(label)); times.delete(label); },
  group: (...values) => { if (values.length) log(...values); indent += "  "; },
  groupEnd: () => { indent = indent.slice(2); },
  clear: () => {},
};
