/** One delegation from end to end over scripted models, and what tests ask of it: what the child was asked, what the parent was told. */

import { join } from "node:path";
import type { ContextMessage, Errand, Fact, ModelRequest, StoredRun, TreeEvent } from "../../src/index.ts";
import type { Json } from "../../src/core/values/json.ts";
import { byContext, callTool, callTools, type MemoryChannel, say } from "../../src/testing/index.ts";
import { createMemoryChannel, type Script, type ScriptedModels, type ScriptedReply } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "./test-errand.ts";

export type Mode = "awaited" | "background";
export const MODES: readonly Mode[] = ["awaited", "background"];

/** The exact words of rules B2 and B4. */
export const NUDGE_TOOL =
  "You haven't sent your results to your parent agent yet. Use the send_agent_message tool to deliver your results. No agentId is needed — it defaults to your parent.";
export const NUDGE_TAG = "You must wrap your final answer in <response>...</response> tags. Emit your response now.";

export type TestOptions = NonNullable<Parameters<typeof openTestErrand>[1]>;

export interface Delegated {
  readonly errand: Errand;
  readonly models: ScriptedModels;
  readonly channel: MemoryChannel;
  readonly root: string;
  readonly run: StoredRun;
  /** What the parent's model was told of the run: the call's result, or the announcement. */
  readonly told: string;
  readonly child: readonly ModelRequest[];
  readonly parent: readonly ModelRequest[];
  readonly events: readonly TreeEvent[];
  readonly facts: readonly Fact[];
}

/** A report by tool. */
export function report(text: string): ScriptedReply {
  return callTool("send_agent_message", { text });
}

/** The call that starts a run of this mode. */
export function delegation(mode: Mode, args: { readonly [name: string]: Json } = {}): ScriptedReply {
  return callTool(mode === "awaited" ? "subagent" : "start_background_agent", { task: "the task", ...args });
}

/** A parent that starts one run and says a line whenever it is told something. */
function delegatingParent(mode: Mode, args: { readonly [name: string]: Json } = {}): Script {
  return (_request, { replies }) => (replies === 0 ? delegation(mode, args) : say(`parent line ${replies}`));
}

/** Runs one child to its end and its parent to the turn that answers it. */
export async function delegate(
  mode: Mode,
  child: Script | readonly (ScriptedReply | string)[],
  options: TestOptions & { readonly args?: { readonly [name: string]: Json } } = {},
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
    told: mode === "awaited" ? toolText(parent.at(-1)) : newest(parent.at(-1)),
    child: models.model("scripted/child").requests,
    parent,
    events,
    facts: factsOf(events),
  };
}

export function factsOf(events: readonly TreeEvent[]): Fact[] {
  return events.flatMap((event) => event.facts);
}

export function factsNamed<Type extends Fact["type"]>(
  facts: readonly Fact[],
  type: Type,
): Extract<Fact, { type: Type }>[] {
  return facts.filter((fact): fact is Extract<Fact, { type: Type }> => fact.type === type);
}

/** The newest user message of a request. */
export function newest(request: ModelRequest | undefined): string {
  const message = request?.messages.findLast((given) => given.role === "user");
  return message?.role === "user" ? message.text : "";
}

/** The text of the last result of the newest tool message. */
export function toolText(request: ModelRequest | undefined): string {
  const message = request?.messages.findLast((given) => given.role === "tool");
  return message?.role === "tool" ? (message.results.at(-1)?.text ?? "") : "";
}

/** True if the newest tool result of the request is a failure. */
export function toolFailed(request: ModelRequest | undefined): boolean {
  const message = request?.messages.findLast((given) => given.role === "tool");
  return message?.role === "tool" && message.results.at(-1)?.failed === true;
}

/** Everything a model was shown, as one text. */
export function shown(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).map(messageText).join("\n");
}

function messageText(message: ContextMessage): string {
  if (message.role === "user") return message.text;
  if (message.role === "tool") return message.results.map((result) => result.text).join("\n");
  return message.parts.map((part) => (part.type === "tool-call" ? JSON.stringify(part.input) : part.text)).join("\n");
}

/** How often a text stands in another. */
export function times(text: string, wanted: string): number {
  return text.split(wanted).length - 1;
}

/** How often the request holds this message, whole and of the user's role. */
export function userMessages(request: ModelRequest | undefined, text: string): number {
  return (request?.messages ?? []).filter((message) => message.role === "user" && message.text === text).length;
}

export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

/** Something that a script or a tool waits for until the test opens it. */
export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: () => resolve() };
}

/** Several background runs of one reply. */
export function startSeveral(tasks: readonly string[], args: { readonly [name: string]: Json } = {}): ScriptedReply {
  return callTools(tasks.map((task) => ({ name: "start_background_agent", input: { task, ...args } })));
}

/** A SQLite file that goes with the test. */
export function temporaryStore(): string {
  return join(temporaryFolder(), "errand.db");
}

/** Reads a tree's events until so many facts of a type have come. */
export function untilFacts(errand: Errand, tree: string, type: Fact["type"], count = 1): Promise<TreeEvent[]> {
  let seen = 0;
  return eventsUntil(errand, tree, (event) => {
    seen += event.facts.filter((fact) => fact.type === type).length;
    return seen >= count;
  });
}

/** Every event that is in the store now. */
export async function eventsSoFar(errand: Errand, tree: string): Promise<TreeEvent[]> {
  const record = (await errand.listTrees()).find((known) => known.id === tree);
  const last = (record?.nextSeq ?? 1) - 1;
  return eventsUntil(errand, tree, (event) => event.seq >= last);
}
