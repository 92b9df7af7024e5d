/** One delegation from end to end over scripted models. */

import type { Errand, Fact, ModelRequest, StoredRun, TreeEvent } from "../../src/index.ts";
import { byContext, callTool, type MemoryChannel, say } from "../../src/testing/index.ts";
import { createMemoryChannel, type Script, type ScriptedModels, type ScriptedReply } from "../../src/testing/index.ts";
import { newestUserText, toolText } from "./model-requests.ts";
import type { Arguments } from "./scripted-replies.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "./test-errand.ts";
import { allFacts } from "./tree-facts.ts";

export type Mode = "awaited" | "background";
export const MODES: readonly Mode[] = ["awaited", "background"];

/** The texts of rules B2 and B4. */
export const NUDGE_TOOL =
  "You haven't sent your results to your parent agent yet. Use the send_agent_message tool to deliver your results. " +
  "No agentId is needed — it defaults to your parent.";
export const NUDGE_TAG = "You must wrap your final answer in <response>...</response> tags. Emit your response now.";

export type TestOptions = NonNullable<Parameters<typeof openTestErrand>[1]>;

export interface Delegated {
  readonly errand: Errand;
  readonly models: ScriptedModels;
  readonly channel: MemoryChannel;
  readonly root: string;
  readonly run: StoredRun;
  /** How the parent's model read the run's result: the result of its call, or the announcement. */
  readonly delivered: string;
  readonly child: readonly ModelRequest[];
  readonly parent: readonly ModelRequest[];
  readonly events: readonly TreeEvent[];
  readonly facts: readonly Fact[];
}

/** The call that starts a run of this mode. */
export function delegationCall(mode: Mode, args: Arguments = {}): ScriptedReply {
  return callTool(mode === "awaited" ? "subagent" : "start_background_agent", { task: "the task", ...args });
}

/** A parent that starts one run, and replies with a numbered line to everything after it. */
function delegatingParent(mode: Mode, args: Arguments = {}): Script {
  return (_request, { replies }) => (replies === 0 ? delegationCall(mode, args) : say(`parent line ${replies}`));
}

/** Runs one child to its end, and its parent to the end of the turn that read the result. */
export async function runDelegation(
  mode: Mode,
  child: Script | readonly (ScriptedReply | string)[],
  options: TestOptions & { readonly args?: Arguments } = {},
): Promise<Delegated> {
  const { args, ...rest } = options;
  const script = typeof child === "function" ? child : byContext(child);
  const { errand, models } = await openTestErrand({ parent: delegatingParent(mode, args), child: script }, rest);
  const channel = createMemoryChannel();
  const agent = await errand.openAgent({ channel });
  await agent.post("please");
  const events = await eventsUntil(errand, agent.id, turnsEnded(mode === "awaited" ? 1 : 2));
  const [run] = await errand.listRuns();
  if (run === undefined) throw new Error("no run was made");
  const parent = models.model("scripted/parent").requests;
  return {
    errand,
    models,
    channel,
    root: agent.id,
    run,
    delivered: mode === "awaited" ? toolText(parent.at(-1)) : newestUserText(parent.at(-1)),
    child: models.model("scripted/child").requests,
    parent,
    events,
    facts: allFacts(events),
  };
}
