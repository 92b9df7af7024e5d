/** The public test kit, as `errand/testing`: models that follow a script, and a channel that keeps what it was given. */

export {
  byContext,
  callTool,
  callTools,
  createScriptedModel,
  createScriptedModels,
  fail,
  hang,
  malformedCall,
  say,
  type Script,
  type ScriptedModel,
  type ScriptedModels,
  type ScriptedReply,
  type ScriptedSituation,
  unknownToolCall,
} from "../models/scripted.ts";
export { createMemoryChannel, type MemoryChannel } from "./memory-channel.ts";
