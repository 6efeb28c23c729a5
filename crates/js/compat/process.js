// `process`: the host is asked for each variable, and printed output goes to the log.
"use strict";
const native = require("metier:native");
const REFUSED = -32001;
const set = Object.create(null);

/** A variable; undefined if it is not set, or without permission, which the host records. */
function variable(name) {
  if (name in set) return set[name];
  try {
    return JSON.parse(native.ask("host/env", JSON.stringify({ name }))).value ?? undefined;
  } catch (error) {
    if (error.rpc === undefined) throw error;
    return undefined;
  }
}

const env = new Proxy(Object.create(null), {
  get: (_, name) => (typeof name === "string" ? variable(name) : undefined),
  has: (_, name) => typeof name === "string" && variable(name) !== undefined,
  // For this script only: programs get their variables from the host.
  set: (_, name, value) => ((set[name] = `${value}`), true),
  deleteProperty: (_, name) => ((set[name] = undefined), true),
  // The names of variables are not available.
  ownKeys: () => Object.keys(set).filter((name) => set[name] !== undefined),
  getOwnPropertyDescriptor: (_, name) => {
    const value = typeof name === "string" ? variable(name) : undefined;
    return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
  },
});

/** A stream whose lines are logged. */
function lines(level) {
  return {
    isTTY: false,
    columns: 80,
    write(data, ...rest) {
      const text = typeof data === "string" ? data : new TextDecoder().decode(data);
      native.log(level, text.toWellFormed().replace(/\n$/, ""));
      const done = rest.find((each) => typeof each === "function");
      if (done) queueMicrotask(done);
      return true;
    },
    on() { return this; },
    once() { return this; },
    end(data) { if (data !== undefined) this.write(data); },
  };
}

const hrtime = (since) => {
  const now = native.now(), seconds = Math.floor(now / 1000), rest = Math.round((now % 1000) * 1e6);
  if (!since) return [seconds, rest];
  const borrow = rest < since[1] ? 1 : 0;
  return [seconds - since[0] - borrow, rest - since[1] + borrow * 1e9];
};
hrtime.bigint = () => BigInt(Math.round(native.now() * 1e6));

module.exports = {
  env,
  argv: ["metier"],
  argv0: "metier",
  execArgv: [],
  execPath: "",
  exitCode: undefined,
  pid: 1,
  ppid: 0,
  title: "metier",
  platform: native.platform,
  arch: native.arch,
  version: "v22.18.0",
  versions: { node: "22.18.0" },
  release: { name: "node" },
  stdout: lines("info"),
  stderr: lines("warn"),
  stdin: { isTTY: false, on() { return this; }, read: () => null },
  cwd: () => native.project,
  exit: (code = 0) => { throw new Error(`process.exit(${code}) was called; a handler must return instead`); },
  nextTick: (code, ...given) => queueMicrotask(() => code(...given)),
  uptime: () => native.now() / 1000,
  hrtime,
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  emitWarning: (warning) => native.log("warn", `${warning}`.toWellFormed()),
  on() { return this; },
  once() { return this; },
  off() { return this; },
  emit: () => false,
  umask: () => 0o022,
};
