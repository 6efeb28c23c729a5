// The program that runs in Deno: it calls the handlers of one skill, and uses standard input and output for the host.
//
// The protocol is JSON-RPC 2.0, one message per line: `initialize` lists the handlers, `openclaw/handle` passes an event to one of
// them, `shutdown` ends the program. Standard output is reserved for messages before a handler is loaded; what handlers
// print goes to standard error, which the host reads as their log. Handlers are restricted elsewhere: by Deno's
// permissions, which the host derives from the grant, and by the sandbox around the process.
//
// There are no remote imports: no network, and no packages.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import process from "node:process";
import fs from "node:fs";
import os from "node:os";

type Json = Record<string, unknown>;
type Handler = (event: Json) => unknown;
type Request = { id?: number | string; method?: string; params?: Json };

const INTERNAL = -32603;
const METHOD = -32601;
const PARAMS = -32602;
const PARSE = -32700;
const FAILED = -32002;
const MAX_LINE = 4 << 20;

class WireError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

// Everything that a handler could replace is captured here, first.
const stdout = Deno.stdout;
const writeOut = stdout.writeSync.bind(stdout);
const stderr = Deno.stderr;
const writeErr = stderr.writeSync.bind(stderr);
const encoder = new TextEncoder();
const { stringify, parse } = JSON;
const readText = Deno.readTextFileSync;
const inspect = Deno.inspect;
const exit = Deno.exit;

function writeAll(write: (bytes: Uint8Array) => number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += write(bytes.subarray(at));
}

function log(...words: unknown[]): void {
  const line = words.map((word) => typeof word === "string" ? word : inspect(word)).join(" ");
  writeAll(writeErr, encoder.encode(line + "\n"));
}

// `node:os` and the working folder for handlers: as in the embedded engine, they come from the grant, never from the
// system.
function settle(project: string): void {
  const { env } = process;
  process.cwd = () => project;
  const answers: Json = {
    homedir: () => env.HOME ?? "/",
    tmpdir: () => env.TMPDIR ?? "/tmp",
    release: () => "",
    hostname: () => "localhost",
    cpus: () => [],
    totalmem: () => 0,
    freemem: () => 0,
    userInfo: () => ({ username: env.USER ?? "", homedir: env.HOME ?? "/", shell: null, uid: -1, gid: -1 }),
  };
  const put = (module: object, name: string, value: unknown) =>
    Object.defineProperty(module, name, { value, writable: true, configurable: true, enumerable: true });
  for (const [name, value] of Object.entries(answers)) put(os, name, value);
  // A file that can't be accessed does not exist, as in Node.
  const { existsSync } = fs;
  put(fs, "existsSync", (path: string) => {
    try {
      return existsSync(path);
    } catch {
      return false;
    }
  });
}

function shield(granted: Json): void {
  for (const name of ["log", "info", "debug", "warn", "error", "trace", "dir", "table"]) {
    (console as unknown as Json)[name] = log;
  }
  stdout.writeSync = writeErr;
  stdout.write = (bytes: Uint8Array) => Promise.resolve(writeErr(bytes));
  Object.defineProperty(stdout, "writable", { value: stderr.writable });
  const write = (chunk: string | Uint8Array): boolean => {
    writeAll(writeErr, typeof chunk === "string" ? encoder.encode(chunk) : chunk);
    return true;
  };
  (process.stdout as unknown as Json).write = write;
  // A variable without permission is unset: handlers read variables casually.
  const own = { ...granted } as Record<string, string>;
  const value = (name: string | symbol): string | undefined => {
    if (typeof name !== "string") return undefined;
    if (Object.hasOwn(own, name)) return own[name];
    try {
      return Deno.env.get(name);
    } catch {
      return undefined;
    }
  };
  const env = new Proxy(own, {
    get: (_, name) => value(name),
    has: (_, name) => value(name) !== undefined,
    set: (_, name, text) => {
      own[String(name)] = String(text);
      return true;
    },
  });
  Object.defineProperty(process, "env", { value: env });
}

// The content of a `.js` file decides which of the two module kinds it is.
function isCommonJs(file: string): boolean {
  if (/\.(mjs|mts)$/.test(file)) return false;
  if (/\.(cjs|cts)$/.test(file)) return true;
  const text = readText(file);
  const isModule = /^\s*(import|export)\b(?!\s*\()(?!\s+type\b)/m.test(text);
  return !isModule && /\b(module\.exports|exports\.[\w$]+\s*=|require\s*\()/.test(text);
}

async function load(directory: string, file: string, name: string): Promise<Handler> {
  const path = `${directory}/${file}`;
  let found: Json;
  given.length = 0;
  try {
    const module = isCommonJs(path)
      ? createRequire(pathToFileURL(path))(path)
      : await import(pathToFileURL(path).href);
    found = module;
  } catch (error) {
    throw new WireError(FAILED, `${file}: ${told(error)}`);
  }
  const inner = found?.default as Json | undefined;
  // In files without a default export it is called `handler`.
  const usual = name === "default" ? [found, found?.handler, inner?.handler] : [];
  for (const candidate of [found?.[name], inner?.[name], ...usual]) {
    if (typeof candidate === "function") return candidate as Handler;
  }
  if (given[0]) return given[0];
  throw new WireError(FAILED, `${file}: it does not export a function \`${name}\``);
}

function told(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "it threw something that can't be shown";
  }
}

let handlers: (Handler | undefined)[] = [];

// A file can pass its handler to `runHook` of `openclaw/hooks` instead of exporting it.
const given: Handler[] = [];
(globalThis as unknown as Record<symbol, unknown>)[Symbol.for("metier.hooks")] = (handler: Handler) => {
  given.push(handler);
};

async function initialize(params: Json): Promise<Json> {
  const directory = String(params.directory ?? "");
  const wanted = Array.isArray(params.handlers) ? params.handlers as Json[] : [];
  shield((params.variables ?? {}) as Json);
  settle(String(params.project ?? directory));
  handlers = [];
  const failed: Json[] = [];
  for (const [handler, one] of wanted.entries()) {
    try {
      handlers[handler] = await load(directory, String(one.file), String(one.export ?? "default"));
    } catch (error) {
      failed.push({ handler, reason: error instanceof WireError ? error.message : told(error) });
    }
  }
  return { failed_handlers: failed };
}

async function handle(params: Json): Promise<Json> {
  const handler = handlers[Number(params.handler)];
  if (!handler) throw new WireError(PARAMS, "there is no such handler");
  const event = { ...(params.event as Json) };
  event.timestamp = new Date(String(event.timestamp));
  try {
    await handler(event);
  } catch (error) {
    throw new WireError(FAILED, told(error));
  }
  return { event: { messages: event.messages ?? null, context: event.context ?? null } };
}

async function answer(request: Request): Promise<Json> {
  const params = request.params ?? {};
  switch (request.method) {
    case "initialize":
      return await initialize(params);
    case "openclaw/handle":
      return await handle(params);
    case "shutdown":
      return {};
    default:
      throw new WireError(METHOD, `there is no method \`${request.method}\``);
  }
}

function send(message: Json): void {
  writeAll(writeOut, encoder.encode(stringify({ jsonrpc: "2.0", ...message }) + "\n"));
}

async function respond(line: string): Promise<boolean> {
  let request: Request;
  try {
    request = parse(line);
  } catch (error) {
    send({ id: null, error: { code: PARSE, message: told(error) } });
    return true;
  }
  if (request.id === undefined) return true;
  const id = request.id;
  try {
    send({ id, result: await answer(request) });
  } catch (error) {
    const code = error instanceof WireError ? error.code : INTERNAL;
    const message = error instanceof WireError ? error.message : told(error);
    send({ id, error: { code, message } });
  }
  return request.method !== "shutdown";
}

// An unhandled rejection must not end the program.
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  log(`unhandled rejection of a promise: ${told(event.reason)}`);
});

const input = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
let rest = "";
reading: for await (const chunk of input) {
  rest += chunk;
  for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    if (!(await respond(line))) break reading;
  }
  if (rest.length > MAX_LINE) break;
}
// Timers and other leftovers of handlers end with the program.
exit(0);
