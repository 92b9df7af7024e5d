/** How turns enter the contexts: announcements, replies, tool results, and what remains of a turn that has ended. */

import { delegationToolIs } from "../delegation/tools.ts";
import type { FactOf } from "../event.ts";
import type { FileFacts } from "../permissions/permissions.ts";
import { EMPTY_REPLY, lastWords, NO_WORDS } from "../reports/findings.ts";
import { runPayload } from "../text/prompts/payload.ts";
import { messageBuildSystemText, messageSaid } from "../text/index.ts";
import { announcementLine, announcementText } from "../text/prompts/announcement-text.ts";
import { NUDGE_TAG, NUDGE_TOOL, NUDGE_USER_MESSAGE } from "../text/prompts/nudges.ts";
import { COMPACTION_HEADING, RESULT_CUT } from "../text/prompts/system-prompts.ts";
import { type AgentNumber, type RunNumber, stepKey } from "../values/ids.ts";
import { deepFrozen } from "../values/json.ts";
import {
  type ContextMessage,
  type ReplyPart,
  replyPartsOf,
  replyText,
  type TextPart,
  type ToolCallPart,
  type ToolResult,
} from "../values/message.ts";
import {
  type AgentContext,
  contextAdded,
  contextAppend,
  contextCopy,
  contextEarlier,
  contextBeginTurn,
  contextNew,
  contextRewindTurn,
} from "./contexts.ts";
import { addCutResult, skillText } from "./definition-contexts.ts";
import { asText, type ContextHandlers, contextOf, type Fold, summaryBytes } from "./fold.ts";
import { cutResultLines, resultText } from "../text/prompts/cut-results.ts";
import { placeMessages } from "./message-contexts.ts";
import type { RunTexts } from "./run-texts.ts";

const NO_RESULT = "Error: the turn ended before this call was answered";

function placeAnnouncement(fold: Fold, number: AgentNumber, context: AgentContext): void {
  const { state, contexts, sha256 } = fold;
  const queued = contexts.announcements.get(number);
  const agent = state.agents.get(number);
  if (queued === undefined || agent === undefined || state.settings === null) return;
  contexts.announcements.delete(number);
  const inSpawnOrder = queued.runs.toSorted((a, b) => a - b);
  const runs = textsOf(fold, inSpawnOrder);
  const stragglers = textsOf(fold, queued.stragglers).filter(({ outcome }) => outcome === null);
  for (const run of queued.runs) contexts.runs.delete(run);
  context.announced = [...context.announced, ...runs];
  if (!context.joined.includes(null)) context.joined.push(null);
  const text = announcementText({ runs, stragglers, kind: agent.kind }, state.settings.limits, sha256);
  contextAppend(context, { role: "user", text });
}

function textsOf({ contexts }: Fold, runs: readonly RunNumber[]): RunTexts[] {
  return runs.flatMap((run) => contexts.runs.get(run) ?? []);
}

function filesOf(parts: readonly ReplyPart[], facts: FactOf<"model-replied">["facts"] = {}): Map<string, FileFacts> {
  const files = new Map<string, FileFacts>();
  for (const [index, { file }] of Object.entries(facts)) {
    const part = parts[Number(index)];
    if (part?.type === "tool-call" && file !== undefined) files.set(part.id, file);
  }
  return files;
}

/** A result waits until all calls of its reply have one. Then they enter the context together, in call order. */
function addResult(fold: Fold, agent: AgentNumber, id: string, text: string, failed: boolean): void {
  const context = contextOf(fold, agent);
  if (context === undefined || context.open === null) return;
  const { calls, results } = context.open;
  // Results mostly come in call order. A reply may have a thousand calls.
  const next = calls[results.size];
  const call = next?.id === id ? next : calls.find((other) => other.id === id);
  if (call === undefined) return;
  results.set(id, { id, name: call.name, text, failed });
  if (results.size === calls.length) closeCalls(context);
}

function closeCalls(context: AgentContext): void {
  if (context.open === null) return;
  const { calls, results } = context.open;
  const paired = calls.map(({ id, name }) => results.get(id) ?? { id, name, text: NO_RESULT, failed: true });
  context.open = null;
  contextAppend(context, { role: "tool", results: paired });
}

/** What a rewritten turn leaves. `shown`: all that the user was shown; else the agent's last words. */
function turnWords({ messages, turnStart }: AgentContext, shown: boolean): TextPart[] {
  const replies = messages.slice(turnStart.length).filter((message) => message.role === "assistant");
  return (shown ? replies : replies.slice(-1)).flatMap(({ parts }) => {
    const text = messageSaid(replyText(parts));
    return text.trim() === "" ? [] : [{ type: "text" as const, text }];
  });
}

/** Results of delegation tools are JSON and already bounded, so they stay whole. */
function shortened(result: ToolResult, keep: number): ToolResult {
  if (result.text.length <= keep || delegationToolIs(result.name)) return result;
  return { ...result, text: `${result.text.slice(0, keep).replace(/[\ud800-\udbff]$/, "")}\n${RESULT_CUT}` };
}

export const turnContexts = {
  "turn-started"(fold, { agent, take, announcement }) {
    const context = contextOf(fold, agent);
    if (context === undefined) return;
    // A blocked announcement stays: the rewrite at the end of this turn must begin at its place.
    if (context.announced.length === 0) contextBeginTurn(context);
    placeMessages(fold, agent, take);
    if (announcement !== undefined) placeAnnouncement(fold, agent, context);
  },

  "announcement-queued"({ contexts }, { agent, runs, stragglers = [] }) {
    const known = contexts.announcements.get(agent) ?? { runs: [], stragglers: [] };
    known.runs.push(...runs);
    known.stragglers.push(...stragglers);
    contexts.announcements.set(agent, known);
  },

  "model-called"(fold, { agent, n, purpose }, _textAt, { seq }) {
    fold.contexts.effects.set(stepKey(seq, n), { agent, call: null });
    const context = contextOf(fold, agent);
    if (context !== undefined) context.compacting = purpose === "compaction";
  },

  "tool-called"({ contexts }, { agent, n, call }, _textAt, { seq }) {
    contexts.effects.set(stepKey(seq, n), { agent, call });
  },

  "model-replied"(fold, { effect, stop, facts }, textAt) {
    const context = contextOf(fold, fold.contexts.effects.get(effect)?.agent);
    fold.contexts.effects.delete(effect);
    if (context === undefined) return;
    context.failure = null;
    // A refusal does not enter the context, and a summary replaces the messages that it summarises.
    if (stop === "refused" || context.compacting) return;
    const parts = replyPartsOf(textAt(0));
    if (parts.length === 0) parts.push({ type: "text", text: EMPTY_REPLY });
    contextAppend(context, { role: "assistant", parts });
    context.startedNow = [];
    const calls = parts.filter((part): part is ToolCallPart => part.type === "tool-call");
    const files = filesOf(parts, facts);
    context.open = calls.length === 0 ? null : { calls, results: new Map(), ...(files.size === 0 ? {} : { files }) };
  },

  "model-failed"(fold, { effect }, textAt) {
    const context = contextOf(fold, fold.contexts.effects.get(effect)?.agent);
    if (context !== undefined) context.failure = asText(textAt(0));
  },

  "usage-estimated"({ contexts }, { aborted, effect }) {
    if (aborted === true) contexts.effects.delete(effect);
  },

  "tool-finished"(fold, fact, textAt, { seq }) {
    const call = fold.contexts.effects.get(fact.effect);
    fold.contexts.effects.delete(fact.effect);
    if (call === undefined || call.call === null) return;
    if (fact.whole !== undefined) addCutResult(fold, call.agent, call.call, fact.whole, seq);
    addResult(fold, call.agent, call.call, resultText(fact, seq, asText(textAt(0))), fact.failed === true);
  },

  "tool-answered"(fold, { agent, call, text, run, skill, failed }, textAt) {
    const texts = run === undefined ? undefined : fold.contexts.runs.get(run);
    if (run !== undefined) fold.contexts.runs.delete(run);
    const result =
      skill !== undefined
        ? skillText(fold, skill)
        : texts === undefined
          ? asText(textAt(text ?? 0))
          : JSON.stringify(runPayload(texts, summaryBytes(fold), fold.sha256));
    addResult(fold, agent, call, result, failed === true);
  },

  "nudge-given"(fold, { agent, about }) {
    const context = contextOf(fold, agent);
    const definition = fold.state.agents.get(agent)?.definition;
    if (context === undefined || definition === undefined) return;
    const report = definition.reporting === "tool" ? NUDGE_TOOL : NUDGE_TAG;
    contextAppend(context, { role: "user", text: about === "report" ? report : NUDGE_USER_MESSAGE });
  },

  /** After an internal turn that ended well, a short line and the summary replace the announcement (rule D8). */
  "turn-ended"(fold, { agent, outcome }) {
    const context = contextOf(fold, agent);
    if (context === undefined) return;
    closeCalls(context);
    for (const key of context.relays) fold.contexts.relays.delete(key);
    context.relays = [];
    if (outcome !== "done" || context.announced.length === 0) return;
    const words = turnWords(context, fold.state.agents.get(agent)?.kind === "foreground");
    const line = announcementLine(context.announced, textsOf(fold, context.started));
    const { joined } = context;
    context.announced = [];
    context.joined = [];
    contextRewindTurn(context);
    for (const text of joined) contextAppend(context, { role: "user", text: text ?? line });
    if (words.length > 0) contextAppend(context, { role: "assistant", parts: words });
  },

  /** The summary replaces every message before the current turn. The turn, with the newest request, stays. */
  "context-compacted"(fold, { agent }, textAt) {
    const context = contextOf(fold, agent);
    if (context === undefined) return;
    const turn = context.messages.slice(context.turnStart.length);
    const added = contextAdded(context);
    const child = fold.state.runs.has(agent);
    const earlierWords = child ? lastWords(contextEarlier(context), context.earlierWords) : NO_WORDS;
    const { announced, started, startedNow, relays, joined, cutResults } = context;
    const fresh = contextNew(context.system, context.tools, context.model);
    const summary = `${COMPACTION_HEADING}\n${replyText(replyPartsOf(textAt(0)))}${cutResultLines(cutResults)}`;
    const text = messageBuildSystemText(summary, fold.state.agents.get(agent)?.id ?? "runtime");
    contextAppend(fresh, { role: "user", text });
    contextBeginTurn(fresh);
    Object.assign(context, fresh, { announced, started, startedNow, relays, joined, cutResults, earlierWords });
    if (added !== "") contextAppend(context, { role: "user", text: added });
    for (const message of turn) contextAppend(context, message);
  },

  "results-shortened"(fold, { agent, keep }) {
    const context = contextOf(fold, agent);
    if (context === undefined) return;
    const cut = (message: ContextMessage): ContextMessage =>
      message.role !== "tool"
        ? message
        : deepFrozen({ role: "tool", results: message.results.map((result) => shortened(result, keep)) });
    const { last } = context.turnStart;
    const turnStart = { ...context.turnStart, last: last === undefined ? undefined : cut(last) };
    const fresh = contextNew(context.system, context.tools, context.model);
    contextCopy(fresh, { ...context, messages: context.messages.map(cut), turnStart });
    fold.contexts.agents.set(agent, fresh);
  },
} satisfies ContextHandlers;
