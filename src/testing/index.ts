/** The public test kit, `errand/testing`. Its chapter is docs/guide/testing.md. */

export { byContext, byTask, createScriptedModel, createScriptedModels } from "../models/scripted.ts";
export type {
  Script,
  ScriptFunction,
  ScriptedModel,
  ScriptedModels,
  ScriptedModelsOptions,
  ScriptedSituation,
} from "../models/scripted.ts";
export {
  attempts,
  callTool,
  callTools,
  delayed,
  endless,
  fail,
  hang,
  malformedCall,
  type PacedText,
  type ReplyOptions,
  say,
  type ScriptedCall,
  type ScriptedPart,
  type ScriptedReply,
  streamed,
  unknownToolCall,
} from "../models/scripted-reply.ts";
export { type Arguments, delegate, report, requestText, startInBackground } from "./delegating.ts";
export { type Gate, gate } from "./gate.ts";
export { errandMatchers, type ErrandMatchers, type MatcherResult } from "./matchers.ts";
export {
  createScriptedRunner,
  type RunnerScript,
  type ScriptedRunner,
  type ScriptedRunnerOptions,
  type ScriptedSession,
} from "./scripted-runner.ts";
export { createMemoryChannel, type MemoryChannel } from "./memory-channel.ts";
export { misbehaving } from "./misbehaving.ts";
export { createTestErrand, type TestErrand, type TestErrandOptions } from "./test-errand.ts";
export { createTestWorld, type TestWorld } from "./test-world.ts";
