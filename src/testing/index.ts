/** The public test kit, `errand/testing`: scripted models, and a channel that collects its messages. */

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
