/**
 * `openclaw/hooks`: the types that a handler of OpenClaw hooks is written with, and `runHook` for a file that exports none.
 *
 * The same text serves every engine. An engine puts a function at `globalThis[Symbol.for("metier.hooks")]`; it is given the handler,
 * lets it see the event, and takes `messages` and `context` from it. It does not use stdout: what a handler prints there
 * is talk.
 */

export interface BootstrapFile {
  path: string;
  name?: string;
  content?: string;
  missing?: boolean;
  virtual?: boolean;
  [more: string]: unknown;
}

export interface HookContext {
  bootstrapFiles?: BootstrapFile[];
  workspaceDir?: string;
  sessionEntry?: Record<string, unknown>;
  previousSessionEntry?: Record<string, unknown>;
  [more: string]: unknown;
}

export interface HookEvent {
  type: "agent" | "command" | "session" | "gateway" | "message" | "tool";
  action: string;
  sessionKey: string;
  timestamp: Date;
  messages: string[];
  context: HookContext;
}

export type HookHandler = (event: HookEvent) => void | Promise<void>;

/** Has a handler called with the event, or with each one where the engine lives on. */
export async function runHook(handler: HookHandler): Promise<void> {
  const engine = (globalThis as Record<symbol, unknown>)[Symbol.for("metier.hooks")];
  if (typeof engine !== "function") throw new Error("runHook works where metier runs the file; nothing waits for it here");
  await engine(handler);
}
