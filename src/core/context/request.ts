/** The request of a model call: an agent's context, and lines that are added only at its end. */

import type { Sha256 } from "../journal/journal.ts";
import type { AgentState, Run, TreeState } from "../state.ts";
import { quoted } from "../text/frame.ts";
import { durationLabel } from "../text/index.ts";
import { COMPACTION_REQUEST } from "../text/prompts/system-prompts.ts";
import type { AgentNumber } from "../values/ids.ts";
import type { ContextMessage, ToolSpec } from "../values/message.ts";
import { type AgentContext, contextEarlier, contextHash, type Contexts } from "./contexts.ts";

export interface ContextRequest {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly ContextMessage[];
}

/** Characters of a recorded context hash: 132 bits of SHA-256. */
const HASH_LENGTH = 22;

/** What the model is sent now, and its hash. `messages` may be the context's own array: it must not be changed. */
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
  const end = context.compacting ? COMPACTION_REQUEST : openLines(state, contexts, agent, context, at);
  const whole = contextHash(context, sha256);
  const hash = (end === "" ? whole : sha256(whole + end)).slice(0, HASH_LENGTH);
  const messages = context.compacting ? contextEarlier(context) : context.messages;
  return { request: { model, system, tools, messages: end === "" ? messages : withEnd(messages, end) }, hash };
}

function withEnd(messages: readonly ContextMessage[], end: string): ContextMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", text: end }];
  return [...messages.slice(0, -1), { role: "user", text: `${last.text}\n\n${end}` }];
}

/** Rule D11: a line for each child that runs or is still to be announced. The model need not poll or start it twice. */
function openLines(
  state: TreeState,
  contexts: Contexts,
  { live, queue, batches, pending }: AgentState,
  context: AgentContext,
  at: number,
): string {
  if (live.size === 0 && queue.length === 0 && batches.size === 0 && pending === null) return "";
  const ended = [...batches.values()].flatMap((batch) => batch.ended);
  const runs = [...live, ...queue, ...ended, ...(pending?.runs ?? [])].toSorted((a, b) => a - b);
  // The newest message holds the answer that accepted these.
  const accepted = context.messages.at(-1)?.role === "tool" ? context.startedNow : [];
  const lines = runs.flatMap((number) => {
    const run = state.runs.get(number);
    const texts = contexts.runs.get(number);
    if (run === undefined || texts === undefined || run.unannounced) return [];
    return run.outcome === null && accepted.includes(number) ? [] : [openLine(run, texts.name, at)];
  });
  return lines.join("\n");
}

function openLine(run: Run, name: string, at: number): string {
  const since = run.startedAt === null ? "" : ` ${durationLabel(at - run.startedAt)}`;
  const state = run.outcome === null ? `${run.state}${since}` : "ended, its result will follow";
  return `[run ${run.id} ${quoted(name)}: ${state}]`;
}
