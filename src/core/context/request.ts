/** The request of a model call: an agent's context, and what stands only at its end. */

import type { AgentNumber } from "../ids.ts";
import type { ContextMessage, ToolSpec } from "../message.ts";
import type { AgentState, Run, TreeState } from "../state.ts";
import { quoted } from "../text/frame.ts";
import { durationLabel } from "../text/index.ts";
import type { Sha256 } from "../journal.ts";
import { type AgentContext, contextEarlier, contextHash, type Contexts } from "./contexts.ts";
import { COMPACTION_REQUEST } from "./prompts.ts";

export interface ContextRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly ContextMessage[];
}

/** Characters of a recorded context hash: 132 bits of SHA-256. */
const HASH_LENGTH = 22;

/**
 * What the model is sent now, and the hash of it that is recorded with the call. The messages are the context's own array where nothing stands
 * at the end: not to be changed.
 */
export function contextRequest(
  state: TreeState,
  contexts: Contexts,
  number: AgentNumber,
  at: number,
  sha256: Sha256,
): { readonly request: ContextRequest; readonly hash: string } | null {
  const context = contexts.agents.get(number);
  const agent = state.agents.get(number);
  if (context === undefined || agent === undefined) return null;
  const { model, system } = context;
  const tools = context.tools.specs;
  const end = requestEnd(state, contexts, agent, context, at);
  if (end === "") {
    const hash = contextHash(context, sha256).slice(0, HASH_LENGTH);
    return { request: { model, system, tools, messages: context.messages }, hash };
  }
  const messages = context.compacting ? contextEarlier(context) : [...context.messages];
  const last = messages.at(-1);
  if (last?.role === "user") messages[messages.length - 1] = { role: "user", text: `${last.text}\n\n${end}` };
  else messages.push({ role: "user", text: end });
  const hash = sha256(contextHash(context, sha256) + end).slice(0, HASH_LENGTH);
  return { request: { model, system, tools, messages }, hash };
}

function requestEnd(
  state: TreeState,
  contexts: Contexts,
  agent: AgentState,
  context: AgentContext,
  at: number,
): string {
  if (context.compacting) return COMPACTION_REQUEST;
  const { live, queue, batches, pending } = agent;
  if (live.size === 0 && queue.length === 0 && batches.size === 0 && pending === null) return "";
  const open = [...live, ...queue];
  const ended = [...agent.batches.values()].flatMap((batch) => batch.ended);
  const accepted = acceptedNow(context);
  return [...open, ...ended, ...(agent.pending?.runs ?? [])]
    .toSorted((a, b) => a - b)
    .map((number) => {
      const run = state.runs.get(number);
      const texts = contexts.runs.get(number);
      if (run === undefined || texts === undefined) return "";
      const told = run.outcome === null && accepted.some((text) => text.includes(run.id));
      return told ? "" : openLine(run, texts.name, at);
    })
    .filter((line) => line !== "")
    .join("\n");
}

/** Answers of the newest message that accepted runs: such a run needs no line. Models repeat call ids, so the run's id decides. */
function acceptedNow(context: AgentContext): readonly string[] {
  const last = context.messages.at(-1);
  if (last?.role !== "tool") return [];
  return last.results.filter(({ name }) => name === "start_background_agent").map(({ text }) => text);
}

/** Rule D11: one compact line for each child that is running or not yet told of, so that nobody polls or starts it twice. */
function openLine(run: Run, name: string, at: number): string {
  const since = run.startedAt === null ? "" : ` ${durationLabel(at - run.startedAt)}`;
  const state = run.outcome === null ? `${run.state}${since}` : "ended, its result will follow";
  return `[run ${run.id} ${quoted(name)}: ${state}]`;
}
