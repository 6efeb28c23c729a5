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

/** A file that is no TypeScript, or whose compiler keeps every import, imports types like values: they are there, and nothing. */
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

/** Has a handler called with the event, or with each one where the engine lives on. */
export async function runHook(handler: HookHandler): Promise<void> {
  const engine = (globalThis as Record<symbol, unknown>)[Symbol.for("metier.hooks")];
  if (typeof engine !== "function") throw new Error("runHook works where metier runs the file; nothing waits for it here");
  await engine(handler);
}

export default { runHook, isAgentBootstrapEvent, isGatewayStartupEvent, isMessageReceivedEvent, isMessageSentEvent };
