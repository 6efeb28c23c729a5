/**
 * `metier`: what a skill in TypeScript is written with. The same names as in `sdk/typescript/metier.ts`, so the same source runs as a
 * program of its own; but there are no pipes here. `serve` hands the skill over to the engine, which calls it.
 */
import native from "metier:native";

const METHOD = -32601, PARAMS = -32602, REFUSED = -32001;
const CANCELLED = Symbol("cancelled");

export type Json = any;
type Part = { spec: Json; handler: (host: Host, input: Json) => Json };

/** The host did not do it: `refused`, or something went wrong. */
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

/** What a hook returns when the call must not happen; whoever called is told the reason. */
export const cancel = (reason: string): Json => ({ [CANCELLED]: reason });

/** The host. Each question needs its permission; a refusal throws HostError. */
export class Host {
  skill: string = native.skill;
  directory: string = native.directory;
  config: Json = native.config;
  permissions: string[] = native.permissions;
  /** Asks for anything; the methods below are shorter ways to say it. */
  async ask(method: string, params: Json): Promise<Json> {
    try {
      return JSON.parse(native.ask(method, JSON.stringify(params)));
    } catch (error: Json) {
      throw error.rpc === undefined ? error : new HostError(error.rpc, error.message, error.data);
    }
  }
  async readFile(path: string): Promise<string> { return (await this.ask("host/read_file", { path })).content; }
  async writeFile(path: string, content: string): Promise<void> { await this.ask("host/write_file", { path, content }); }
  async glob(pattern: string): Promise<string[]> { return (await this.ask("host/glob", { pattern })).paths; }
  async grep(pattern: string, path?: string, glob?: string): Promise<Json[]> {
    return (await this.ask("host/grep", { pattern, path, glob })).matches;
  }
  async exec(command: string): Promise<Json> { return await this.ask("host/exec", { command }); }
  async fetch(url: string, more: Json = {}): Promise<Json> { return await this.ask("host/fetch", { url, ...more }); }
  async env(name: string): Promise<string | null> { return (await this.ask("host/env", { name })).value; }
  async setEnv(name: string, value: string): Promise<void> { await this.ask("host/set_env", { name, value }); }
  async git(...words: string[]): Promise<Json> { return await this.ask("host/git", { arguments: words }); }
  async llm(prompt: string, options: Json = {}): Promise<string> { return (await this.ask("host/llm", { prompt, ...options })).text; }
  async invokeSkill(name: string, tool?: string, input?: Json): Promise<Json> {
    return await this.ask("host/invoke_skill", { name, tool, input });
  }
  log(level: "debug" | "info" | "warn" | "error", message: string): void { native.log(level, `${message}`.toWellFormed()); }
}

/** Everything that the skill contributes. */
export class Skill {
  readonly #tools = new Map<string, Part>();
  readonly #workflows = new Map<string, Part>();
  readonly #scanners = new Map<string, Part>();
  readonly #hooks = new Map<string, { spec: Json; handlers: Part["handler"][] }>();
  tool(spec: Json, handler: Part["handler"]): void {
    this.#tools.set(spec.name, { spec: { input_schema: { type: "object" }, ...spec }, handler });
  }
  workflow(spec: Json, handler: Part["handler"]): void { this.#workflows.set(spec.name, { spec, handler }); }
  scanner(name: string, handler: Part["handler"]): void { this.#scanners.set(name, { spec: { name }, handler }); }
  /** Steps in at a phase: the handler returns the event as it goes on, nothing, or `cancel("why")`. */
  hook(phase: string, handler: Part["handler"], { fail_closed = false } = {}): void {
    const { spec, handlers } = this.#hooks.get(phase) ?? { spec: phase, handlers: [] };
    this.#hooks.set(phase, { spec: fail_closed ? { phase, fail_closed } : spec, handlers: [...handlers, handler] });
  }
  /** Hands the skill over to the engine. */
  async serve(): Promise<void> {
    const host = new Host();
    native.answer = async (method: string, params: Json) => {
      try {
        return { result: await this.#answer(host, method, params) };
      } catch (error) {
        if (error instanceof Wrong) return { error: { code: error.code, message: error.message } };
        throw error;
      }
    };
  }
  async #answer(host: Host, method: string, params: Json): Promise<Json> {
    if (method === "initialize") {
      const parts = { tools: this.#tools, hooks: this.#hooks, workflows: this.#workflows, scanners: this.#scanners };
      return Object.fromEntries(Object.entries(parts).map(([kind, map]) => [kind, [...map.values()].map(({ spec }) => spec)]));
    }
    if (method === "tool/execute") {
      const { spec, handler } = find("tool", this.#tools, params.name);
      try {
        const output = (await handler(host, fit(spec.input_schema, params.input ?? {}))) ?? null;
        JSON.stringify(output);
        return { output };
      } catch (error: Json) {
        return { output: error instanceof Error && error.message ? error.message : String(error), is_error: true };
      }
    }
    if (method === "hook/handle") {
      let answer: Json = {};
      for (const handler of find("hook", this.#hooks, params.phase).handlers) {
        const changed = await handler(host, "event" in answer ? answer.event : params.event);
        if (changed?.[CANCELLED] !== undefined) return { cancel: { reason: changed[CANCELLED] } };
        answer = changed == null ? answer : { event: changed };
      }
      return answer;
    }
    if (method === "workflow/run") {
      return { output: (await find("workflow", this.#workflows, params.name).handler(host, params.input ?? {})) ?? null };
    }
    if (method === "scanner/run") {
      return { findings: (await find("scanner", this.#scanners, params.name).handler(host, params.files)) ?? [] };
    }
    throw new Wrong(METHOD, `there is no method \`${method}\``);
  }
}

function fit(schema: Json, input: Json): Json {
  const kind = (value: Json) =>
    Array.isArray(value) ? "array" : Number.isInteger(value) ? "integer" : value === null ? "null" : typeof value;
  const wrong = kind(input) === "object" ? [] : ["expected an object"];
  for (const name of schema.required ?? []) if (!(name in Object(input))) wrong.push(`missing field \`${name}\``);
  for (const [name, { type }] of Object.entries<Json>(schema.properties ?? {})) {
    const value = Object(input)[name], fine = value === undefined || !type || [type].flat().includes(kind(value));
    if (!fine && !(type === "number" && kind(value) === "integer")) wrong.push(`\`${name}\` is no ${type}`);
  }
  if (wrong.length) throw new Error(`the input doesn't fit: ${wrong[0]}`);
  return input;
}
function find<P>(what: string, parts: Map<string, P>, name: string): P {
  const part = parts.get(name);
  if (!part) throw new Wrong(PARAMS, `there is no ${what} \`${name}\``);
  return part;
}
