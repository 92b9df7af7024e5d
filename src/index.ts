/** The public names of Errand. */

export type { Channel, ChannelMessage } from "./contracts/channel.ts";
export { ModelFailure } from "./contracts/model.ts";
export type {
  Model,
  ModelCallOptions,
  ModelFacts,
  ModelProvider,
  ModelReply,
  ModelRequest,
} from "./contracts/model.ts";
export type { Store, StoredRun, TreeRecord } from "./contracts/store.ts";
export type { Tool, ToolContext, ToolOutput } from "./contracts/tool.ts";
export type { World } from "./contracts/world.ts";
export type { Fact } from "./core/event.ts";
export type { RunState, RunStatus } from "./core/journal.ts";
export { LIMITS, type LimitName } from "./core/limits.ts";
export type { ContextMessage, ReplyPart, ToolSpec, Usage } from "./core/message.ts";
export { ERROR_CODES, ErrandError, type ErrorCode } from "./errors.ts";
export type { AgentDefinition } from "./runtime/catalog.ts";
export { createErrand, type ErrandOptions } from "./runtime/create-runtime.ts";
export type {
  Agent,
  Errand,
  OpenAgentOptions,
  PostOptions,
  SendOptions,
  SpawnOptions,
  SystemOptions,
  TextDelta,
  TreeEvent,
} from "./runtime/errand.ts";
export type { Reply } from "./runtime/turn-outcome.ts";
