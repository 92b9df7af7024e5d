/** How turns enter the contexts: what they take, what models reply, what tools answer, and how a turn that has ended is rewritten. */

import { delegationToolIs } from "../agent/delegation-tools.ts";
import { announcementLine, announcementText } from "../announcements/announcement-text.ts";
import type { AgentNumber, RunNumber, StepKey } from "../ids.ts";
import {
  type ContextMessage,
  type ReplyPart,
  replyPartsOf,
  replyText,
  type TextPart,
  type ToolCallPart,
  type ToolResult,
} from "../message.ts";
import {
  type AgentContext,
  contextAdded,
  contextAppend,
  contextCarry,
  contextEarlier,
  contextMark,
  contextNew,
  contextRewind,
} from "./contexts.ts";
import { EMPTY_REPLY, replyEnters } from "../reports/words.ts";
import { messageBuildSystemText, messageSaid } from "../text/index.ts";
import type { FactOf, Observing, TextAt } from "./observing.ts";
import { NUDGE_TAG, NUDGE_TOOL, NUDGE_USER_MESSAGE } from "./nudges.ts";
import type { FileFacts } from "../permissions/permissions.ts";
import { COMPACTION_HEADING, RESULT_CUT } from "./prompts.ts";
import { lastSaid, NOTHING_SAID, type RunTexts } from "./run-texts.ts";

const NO_RESULT = "Error: the turn ended before this call was answered";

export function startTurn(o: Observing, fact: FactOf<"turn-started">): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  // A blocked announcement is carried by the next turn: what is rewritten when that ends begins where the announcement stands.
  if (context.announced.length === 0) contextMark(context);
  join(o, fact.agent, fact.take);
  if (fact.announcement !== undefined) placeAnnouncement(o, fact.agent, context);
}

export function join(o: Observing, agent: AgentNumber, take: readonly StepKey[]): void {
  const context = o.contexts.agents.get(agent);
  for (const key of take) {
    const message = o.contexts.messages.get(key);
    o.contexts.messages.delete(key);
    if (context === undefined || message === undefined) continue;
    contextAppend(context, { role: "user", text: message.text });
    context.joined.push(message.text);
    if (o.contexts.relays.has(key)) context.relays.push(key);
  }
}

export function queueAnnouncement(o: Observing, fact: FactOf<"announcement-queued">): void {
  const known = o.contexts.announcements.get(fact.agent) ?? { runs: [], stragglers: [] };
  known.runs.push(...fact.runs);
  known.stragglers.push(...(fact.stragglers ?? []));
  o.contexts.announcements.set(fact.agent, known);
}

function placeAnnouncement(o: Observing, number: AgentNumber, context: AgentContext): void {
  const queued = o.contexts.announcements.get(number);
  const agent = o.state.agents.get(number);
  if (queued === undefined || agent === undefined || o.state.settings === null) return;
  o.contexts.announcements.delete(number);
  const runs = textsOf(
    o,
    queued.runs.toSorted((a, b) => a - b),
  );
  const stragglers = textsOf(o, queued.stragglers).filter((texts) => texts.outcome === null);
  for (const run of queued.runs) o.contexts.runs.delete(run);
  context.announced = [...context.announced, ...runs];
  if (!context.joined.includes(null)) context.joined.push(null);
  const text = announcementText({ runs, stragglers, kind: agent.kind }, o.state.settings.limits, o.sha256);
  contextAppend(context, { role: "user", text });
}

function textsOf(o: Observing, runs: readonly RunNumber[]): RunTexts[] {
  return runs.map((run) => o.contexts.runs.get(run)).filter((texts) => texts !== undefined);
}

export function reply(o: Observing, fact: FactOf<"model-replied">, textAt: TextAt): void {
  const served = o.contexts.effects.get(fact.effect);
  o.contexts.effects.delete(fact.effect);
  const context = served === undefined ? undefined : o.contexts.agents.get(served.agent);
  if (context === undefined) return;
  context.failure = null;
  if (!replyEnters(fact, context.compacting)) return;
  const parts = replyPartsOf(textAt(0));
  if (parts.length === 0) parts.push({ type: "text", text: EMPTY_REPLY });
  contextAppend(context, { role: "assistant", parts });
  const calls = parts.filter((part): part is ToolCallPart => part.type === "tool-call");
  const files = filesOf(parts, fact.facts);
  context.open = calls.length === 0 ? null : { calls, results: new Map(), ...(files.size === 0 ? {} : { files }) };
}

function filesOf(parts: readonly ReplyPart[], facts: FactOf<"model-replied">["facts"] = {}): Map<string, FileFacts> {
  const files = new Map<string, FileFacts>();
  for (const [index, { file }] of Object.entries(facts)) {
    const part = parts[Number(index)];
    if (part?.type === "tool-call" && file !== undefined) files.set(part.id, file);
  }
  return files;
}

/** A result waits until all calls of its reply have one; then they enter the context together, in call order. */
export function result(o: Observing, agent: AgentNumber, call: string, text: string, failed: boolean): void {
  const context = o.contexts.agents.get(agent);
  if (context === undefined || context.open === null) return;
  const { calls, results } = context.open;
  // Results mostly come in the order of their calls, of which there may be a thousand: the next one is looked at first.
  const next = calls[results.size];
  const part = next?.id === call ? next : calls.find((given) => given.id === call);
  if (part === undefined) return;
  results.set(call, { id: call, name: part.name, text, failed });
  if (results.size === calls.length) closeCalls(context);
}

function closeCalls(context: AgentContext): void {
  if (context.open === null) return;
  const { calls, results } = context.open;
  const paired: ToolResult[] = calls.map(
    (call) => results.get(call.id) ?? { id: call.id, name: call.name, text: NO_RESULT, failed: true },
  );
  context.open = null;
  contextAppend(context, { role: "tool", results: paired });
}

export function nudge(o: Observing, fact: FactOf<"nudge-given">): void {
  const context = o.contexts.agents.get(fact.agent);
  const agent = o.state.agents.get(fact.agent);
  if (context === undefined || agent === undefined) return;
  const byTool = agent.definition.reporting === "tool" ? NUDGE_TOOL : NUDGE_TAG;
  contextAppend(context, { role: "user", text: fact.about === "report" ? byTool : NUDGE_USER_MESSAGE });
}

/** After an internal turn that ended well, a short line and the summary stand for the announcement. */
export function endTurn(o: Observing, fact: FactOf<"turn-ended">): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  closeCalls(context);
  for (const key of context.relays) o.contexts.relays.delete(key);
  context.relays = [];
  if (fact.outcome !== "done" || context.announced.length === 0) return;
  const said = saidInTurn(context, o.state.agents.get(fact.agent)?.kind === "foreground");
  const line = announcementLine(context.announced, textsOf(o, context.started));
  const { joined } = context;
  context.announced = [];
  context.joined = [];
  contextRewind(context);
  for (const text of joined) contextAppend(context, { role: "user", text: text ?? line });
  if (said.length > 0) contextAppend(context, { role: "assistant", parts: said });
}

/** What the turn leaves of itself: all that the user was shown, beside tool calls too; of an agent without a user, its last words. */
function saidInTurn(context: AgentContext, shown: boolean): TextPart[] {
  const replies = context.messages.slice(context.mark.length).filter((message) => message.role === "assistant");
  return (shown ? replies : replies.slice(-1)).flatMap(({ parts }) => {
    const text = messageSaid(replyText(parts));
    return text.trim() === "" ? [] : [{ type: "text" as const, text }];
  });
}

/** The summary stands for every message before the turn under way; the turn itself, with the newest request, stays. */
export function compact(o: Observing, fact: FactOf<"context-compacted">, textAt: TextAt): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  const kept = context.messages.slice(context.mark.length);
  const added = contextAdded(context);
  const before = o.state.runs.has(fact.agent) ? lastSaid(contextEarlier(context), context.before) : NOTHING_SAID;
  const summary = replyText(replyPartsOf(textAt(0)));
  const fresh = contextNew(context.system, context.tools, context.model);
  const origin = o.state.agents.get(fact.agent)?.id ?? "runtime";
  const text = messageBuildSystemText(`${COMPACTION_HEADING}\n${summary}`, origin);
  contextAppend(fresh, { role: "user", text });
  const { announced, started, relays, joined } = context;
  Object.assign(context, fresh, { announced, relays, before });
  contextMark(context);
  context.started = started;
  context.joined = joined;
  if (added !== "") contextAppend(context, { role: "user", text: added });
  for (const message of kept) contextAppend(context, message);
}

/** Long results of the agent's own tools are cut, and say so. Those of delegation tools are JSON, bounded where they are made. */
export function shorten(o: Observing, fact: FactOf<"results-shortened">): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  const cut = (message: ContextMessage): ContextMessage =>
    message.role !== "tool"
      ? message
      : { role: "tool", results: message.results.map((given) => shortened(given, fact.keep)) };
  const { last } = context.mark;
  const mark = { ...context.mark, last: last === undefined ? undefined : cut(last) };
  const fresh = contextNew(context.system, context.tools, context.model);
  contextCarry(fresh, { ...context, messages: context.messages.map(cut), mark });
  o.contexts.agents.set(fact.agent, fresh);
}

function shortened(given: ToolResult, keep: number): ToolResult {
  if (given.text.length <= keep || delegationToolIs(given.name)) return given;
  // Half a surrogate pair is no character.
  const whole = /[\ud800-\udbff]$/.test(given.text.slice(0, keep)) ? keep - 1 : keep;
  return { ...given, text: `${given.text.slice(0, whole)}\n${RESULT_CUT}` };
}
