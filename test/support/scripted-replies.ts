/** What scripted models reply in tests of delegation. */

import type { Json } from "../../src/core/values/json.ts";
import { callTool, callTools, type ScriptedReply } from "../../src/testing/index.ts";

export { gate } from "../../src/testing/index.ts";

export type Arguments = { readonly [name: string]: Json };

export interface StartCall {
  readonly name: "start_background_agent";
  readonly input: Json;
}

/** A call of `start_background_agent`. */
export function startCall(task: string, more: Arguments = {}): StartCall {
  return { name: "start_background_agent", input: { task, ...more } };
}

/** A reply that starts these background runs. */
export function startRuns(...calls: readonly StartCall[]): ScriptedReply {
  return callTools(calls);
}

/** A reply that starts a background run for each task. */
export function startSeveral(tasks: readonly string[], more: Arguments = {}): ScriptedReply {
  return startRuns(...tasks.map((task) => startCall(task, more)));
}

/** A reply that calls `subagent`. */
export function callSubagent(task: string, more: Arguments = {}): ScriptedReply {
  return callTool("subagent", { task, ...more });
}

/** A reply that sends a report to the parent. */
export function report(text: string, more: Arguments = {}): ScriptedReply {
  return callTool("send_agent_message", { text, ...more });
}
