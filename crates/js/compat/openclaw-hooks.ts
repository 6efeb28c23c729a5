/**
 * `openclaw/hooks`: the types for handlers of OpenClaw hooks, and `runHook` for files that export none.
 *
 * The same text serves every engine. An engine puts a function at `globalThis[Symbol.for("metier.hooks")]`; it gets the handler,
 * calls it with the event, and takes `messages` and `context` from it. It does not use stdout, to which a handler can
 * print.
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

/** Files in JavaScript, and compilers that keep every import, import types like values: they exist, as empty values. */
const nothing = undefined;
export {
  nothing as BootstrapFile, nothing as HookContext, nothing as HookEvent, nothing as HookHandler, nothing as HookEventType,
  nothing as InternalHookEvent, nothing as InternalHookEventType, nothing as InternalHookHandler, nothing as OpenClawConfig,
  nothing as WorkspaceBootstrapFile, nothing as AgentBootstrapHookContext, nothing as AgentBootstrapHookEvent,
  nothing as GatewayStartupHookContext, nothing as GatewayStartupHookEvent, nothing as MessageReceivedHookContext,
  nothing as MessageReceivedHookEvent, nothing as MessageSentHookContext, nothing as MessageSentHookEvent,
};

const is = (type: string, action: string) => (event: HookEvent): boolean => event?.type === type && event?.action === action;
export const isAgentBootstrapEvent = is("agent", "bootstrap");
export const isGatewayStartupEvent = is("gateway", "startup");
export const isMessageReceivedEvent = is("message", "received");
export const isMessageSentEvent = is("message", "sent");

/** Calls a handler with the event, or with each event if the engine keeps running. */
export async function runHook(handler: HookHandler): Promise<void> {
  const engine = (globalThis as Record<symbol, unknown>)[Symbol.for("metier.hooks")];
  if (typeof engine !== "function") throw new Error("runHook works only in files that metier runs");
  await engine(handler);
}

export default { runHook, isAgentBootstrapEvent, isGatewayStartupEvent, isMessageReceivedEvent, isMessageSentEvent };
