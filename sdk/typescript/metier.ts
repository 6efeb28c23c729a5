/**
 * The SDK for skills in TypeScript: copy this file beside the skill. Requires Node 22.18 or newer, or Deno, and nothing else.
 *
 * Handlers can be async and are called one at a time. What they print goes to stderr, which is the skill's log; only a
 * child with inherited stdio could interfere with messages. An exception fails its own call only. metier's built-in engine
 * runs this file too: there are no pipes, so it takes over when `serve` is called.
 */
import { Buffer } from "node:buffer";
import process from "node:process";

const PROTOCOL = 1, MAX_FRAME = 4 << 20;
const PARSE = -32700, INVALID = -32600, METHOD = -32601, PARAMS = -32602, INTERNAL = -32603, REFUSED = -32001;
const CANCELLED = Symbol("cancelled");
const engine: Json = (globalThis as Json)[Symbol.for("metier.engine")];

/** Any JSON; a handler annotates what it expects. */
export type Json = any;
export type Phase =
  | "activate" | "deactivate" | "conversation_start" | "before_prompt_build" | "before_tool_call"
  | "after_tool_result" | "after_response" | "before_wiki_section" | "security_scan_complete";
export type Tool = { name: string; description: string; input_schema?: Json };
export type Workflow = { name: string; description: string };
export type ScannedFile = { path: string; content: string };
export type Finding = { rule?: string; severity: "info" | "warning" | "critical"; file?: string; line?: number; message: string };
export type Match = { path: string; line: number; text: string };
export type Ended = { exit: number | null; stdout: string; stderr: string; truncated?: boolean };
export type Request = { method?: string; headers?: Record<string, string>; body?: string };
export type Fetched = { status: number; headers: Record<string, string>; body: string };
export type Output = { output: Json; is_error?: boolean };
type Line = { ask(method: string, params: Json): Promise<Json>; send(message: Json): unknown }; // the connection to the host
type Part = { spec: Json; handler: (host: Host, input: Json) => Json };

/** A request to the host failed: `refused`, or another error. */
export class HostError extends Error {
  readonly code: number;
  readonly refused: boolean;
  readonly data: Json;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.refused = code === REFUSED;
    this.data = data;
  }
}
class Wrong extends HostError {} // a request of the host that can't be answered

/** What a hook returns to cancel the call; the caller gets the reason. */
export const cancel = (reason: string): Json => ({ [CANCELLED]: reason });

/** The host. Each request requires its permission; a refusal throws HostError. */
export class Host {
  skill = "";
  directory = "";
  config: Json;
  permissions: string[] = [];
  readonly #line: Line;
  constructor(line: Line) { this.#line = line; }
  /** Sends any request; the methods below are shorter. */
  async ask(method: string, params: Json): Promise<Json> { return await this.#line.ask(method, params); }
  async readFile(path: string): Promise<string> { return (await this.ask("host/read_file", { path })).content; }
  async writeFile(path: string, content: string): Promise<void> { await this.ask("host/write_file", { path, content }); }
  async glob(pattern: string): Promise<string[]> { return (await this.ask("host/glob", { pattern })).paths; }
  async grep(pattern: string, path?: string, glob?: string): Promise<Match[]> {
    return (await this.ask("host/grep", { pattern, path, glob })).matches;
  }
  async exec(command: string): Promise<Ended> { return await this.ask("host/exec", { command }); }
  async fetch(url: string, more: Request = {}): Promise<Fetched> { return await this.ask("host/fetch", { url, ...more }); }
  async env(name: string): Promise<string | null> { return (await this.ask("host/env", { name })).value; }
  async setEnv(name: string, value: string): Promise<void> { await this.ask("host/set_env", { name, value }); }
  async git(...words: string[]): Promise<Ended> { return await this.ask("host/git", { arguments: words }); }
  async llm(prompt: string, options: { system?: string; model?: string } = {}): Promise<string> {
    return (await this.ask("host/llm", { prompt, ...options })).text;
  }
  async invokeSkill(name: string, tool?: string, input?: Json): Promise<Output> {
    return await this.ask("host/invoke_skill", { name, tool, input });
  }
  log(level: "debug" | "info" | "warn" | "error", message: string): void {
    this.#line.send({ method: "host/log", params: { level, message } });
  }
}

/** Everything that the skill contributes. */
export class Skill {
  readonly #tools = new Map<string, Part>();
  readonly #workflows = new Map<string, Part>();
  readonly #scanners = new Map<string, Part>();
  readonly #hooks = new Map<string, { spec: Json; handlers: Part["handler"][] }>();
  /** A tool that a model can call; its output is what the handler returns or resolves to. */
  tool<I = Json>(spec: Tool, handler: (host: Host, input: I) => Json): void {
    this.#tools.set(spec.name, { spec: { input_schema: { type: "object" }, ...spec }, handler });
  }
  workflow<I = Json>(spec: Workflow, handler: (host: Host, input: I) => Json): void {
    this.#workflows.set(spec.name, { spec, handler });
  }
  scanner(name: string, handler: (host: Host, files: ScannedFile[]) => Finding[] | Promise<Finding[]>): void {
    this.#scanners.set(name, { spec: { name }, handler });
  }
  /** A hook at a phase: the handler returns the changed event, nothing, or `cancel("why")`. */
  hook<E = Json>(phase: Phase, handler: (host: Host, event: E) => Json, { fail_closed = false } = {}): void {
    const { spec, handlers } = this.#hooks.get(phase) ?? { spec: phase, handlers: [] };
    this.#hooks.set(phase, { spec: fail_closed ? { phase, fail_closed } : spec, handlers: [...handlers, handler] });
  }
  /** Serves on stdin and stdout until the host closes them; then the program ends. */
  async serve(): Promise<void> {
    const answer = (host: Host, method: string, params: Json) => this.#answer(host, method, params);
    if (engine) return engine({ Host, HostError, Wrong, answer });
    const pipes = new Pipes(), host = new Host(pipes);
    let served = Promise.resolve(); // one call at a time
    for await (const line of lines(process.stdin)) {
      const request = pipes.read(line);
      if (request) served = served.then(() => this.#serve(pipes, host, request));
    }
    pipes.gone();
    await served;
    pipes.end();
  }
  async #serve(pipes: Pipes, host: Host, { id, method, params }: Json): Promise<void> {
    try {
      pipes.reply(id, { result: await this.#answer(host, method, params) });
    } catch (error) {
      pipes.reply(id, { error: { code: error instanceof Wrong ? error.code : INTERNAL, message: words(error) } });
    }
    if (method === "shutdown") pipes.end();
  }
  async #answer(host: Host, method: string, params: Json): Promise<Json> {
    if (method === "initialize") return this.#initialize(host, params);
    if (method === "shutdown") return {};
    if (method === "tool/execute") {
      const { spec, handler } = find("tool", this.#tools, field(params, "name"));
      try {
        const output = (await handler(host, fit(spec.input_schema, params.input ?? {}))) ?? null;
        JSON.stringify(output);
        return { output };
      } catch (error) {
        return { output: words(error), is_error: true };
      }
    }
    if (method === "hook/handle") {
      let answer: Json = {};
      for (const handler of find("hook", this.#hooks, field(params, "phase")).handlers) {
        const changed = await handler(host, "event" in answer ? answer.event : params.event);
        if (changed?.[CANCELLED] !== undefined) return { cancel: { reason: changed[CANCELLED] } };
        answer = changed == null ? answer : { event: changed };
      }
      return answer;
    }
    const named = (what: string, parts: Map<string, Part>) => find(what, parts, field(params, "name")).handler;
    if (method === "workflow/run") return { output: (await named("workflow", this.#workflows)(host, params.input ?? {})) ?? null };
    if (method === "scanner/run") return { findings: (await named("scanner", this.#scanners)(host, field(params, "files"))) ?? [] };
    throw new Wrong(METHOD, `there is no method \`${method}\``);
  }
  #initialize(host: Host, params: Json): Json {
    const protocol = field(params, "protocol");
    if (protocol !== PROTOCOL) throw new Wrong(PARAMS, `this skill uses protocol ${PROTOCOL}, not ${protocol}`);
    const { config = null, permissions = [] } = params;
    Object.assign(host, { skill: field(params, "skill"), directory: field(params, "directory"), config, permissions });
    const parts = { tools: this.#tools, hooks: this.#hooks, workflows: this.#workflows, scanners: this.#scanners };
    return Object.fromEntries(Object.entries(parts).map(([kind, map]) => [kind, [...map.values()].map(({ spec }) => spec)]));
  }
}

/** The real stdout, out of reach of other code. */
class Pipes {
  readonly #write = process.stdout.write.bind(process.stdout);
  readonly #waiting = new Map<number, { resolve: (answer: Json) => void; reject: (error: Error) => void }>();
  #asked = 0;
  constructor() {
    process.stdout.on("error", () => process.exit(0)); // the host closed the pipe during an answer
    process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
    Object.assign(console, { log: console.error, info: console.error, debug: console.error });
  }
  ask(method: string, params: Json): Promise<Json> {
    const id = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (!this.send({ id, method, params })) reject(new HostError(PARAMS, oversized("the request")));
    });
  }
  reply(id: Json, answer: Json): void {
    if (!this.send({ id, ...answer })) this.reply(id, { error: { code: INTERNAL, message: oversized("the answer") } });
  }
  /** Sends a message unless it is too long; returns whether it was sent. */
  send(message: Json): boolean {
    const whole = (_: string, value: Json) => (typeof value === "string" ? value.toWellFormed() : value);
    const frame = JSON.stringify({ jsonrpc: "2.0", ...message }, whole);
    const fits = Buffer.byteLength(frame) <= MAX_FRAME;
    if (fits) this.#write(frame + "\n");
    return fits;
  }
  /** Returns a request. An answer resolves its promise, and a line that is not a message is answered with an error. */
  read(line: Uint8Array | undefined): Json {
    if (line?.every((byte) => byte <= 32)) return;
    let message: Json;
    try {
      message = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line));
    } catch {
      return this.reply(null, { error: { code: PARSE, message: line ? "this line is not JSON" : `${oversized("a line")}; each message is one line` } });
    }
    const known = message instanceof Object ? message : {}, { id = null, error } = known;
    if (typeof known.method === "string") return "id" in known ? known : undefined;
    const invalid = { code: INVALID, message: "this line is not a JSON-RPC message" };
    if (!("id" in known) || !("result" in known || error)) return this.reply(id, { error: invalid });
    if (error) this.#waiting.get(id)?.reject(new HostError(error.code, error.message, error.data));
    else this.#waiting.get(id)?.resolve(known.result);
    this.#waiting.delete(id);
  }
  gone(): void {
    for (const { reject } of this.#waiting.values()) reject(new HostError(INTERNAL, "the host closed the pipe"));
  }
  end(): void { this.#write("", () => process.exit(0)); } // after everything before it is written
}

/** Lines without their ends; undefined for one that is too long. */
async function* lines(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array | undefined> {
  let pieces: Uint8Array[] = [], length = 0;
  for await (let chunk of input) {
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10)) {
      yield length + end > MAX_FRAME ? undefined : Buffer.concat([...pieces, chunk.subarray(0, end)]);
      [pieces, length, chunk] = [[], 0, chunk.subarray(end + 1)];
    }
    length += chunk.length;
    pieces = length > MAX_FRAME ? [] : [...pieces, chunk];
  }
}
function fit(schema: Json, input: Json): Json {
  const kind = (value: Json) =>
    Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : value === null ? "null" : typeof value;
  const wrong = kind(input) === "object" ? [] : ["expected an object"];
  for (const name of schema.required ?? []) if (!(name in Object(input))) wrong.push(`missing field \`${name}\``);
  for (const [name, { type }] of Object.entries<Json>(schema.properties ?? {})) {
    const value = Object(input)[name], fine = value === undefined || !type || [type].flat().includes(kind(value));
    if (!fine && !(type === "number" && kind(value) === "integer")) wrong.push(`\`${name}\` is not of type ${type}`);
  }
  if (wrong.length) throw new Error(`the input is invalid: ${wrong[0]}`);
  return input;
}
function find<P>(what: string, parts: Map<string, P>, name: string): P {
  const part = parts.get(name);
  if (!part) throw new Wrong(PARAMS, `there is no ${what} \`${name}\``);
  return part;
}
function field(params: Json, name: string): Json {
  if (!(name in Object(params))) throw new Wrong(PARAMS, `missing field \`${name}\``);
  return params[name];
}
const oversized = (what: string): string => `${what} is longer than ${MAX_FRAME} bytes`;
function words(error: unknown): string {
  if (!engine) console.error(error); // the engine reports the place itself
  return error instanceof Error && error.message ? error.message : String(error);
}
