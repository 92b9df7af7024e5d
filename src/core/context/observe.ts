/** Folds facts into the contexts. Called with every fact, right after `apply`, with the texts of its row at hand. */

import { delegationToolIs, delegationToolSpecs, sightOf } from "../agent/delegation-tools.ts";
import { announcementLine, announcementText } from "../announcements/announcement-text.ts";
import type { DefinitionFacts, DefinitionText } from "../definition.ts";
import type { Fact, TextIndex } from "../event.ts";
import { type AgentNumber, type RunNumber, type StepKey, stepKey } from "../ids.ts";
import type { Sha256 } from "../journal.ts";
import { type Json, jsonObjectIs } from "../json.ts";
import { replyPartsOf, replyText, type ToolCallPart, type ToolResult } from "../message.ts";
import type { Place } from "../place.ts";
import { responseError } from "../reports/outcome.ts";
import { runPayload } from "../runs/payload.ts";
import { SKILL_TASK } from "../runs/spawn.ts";
import type { TreeState } from "../state.ts";
import { codePointsPrefix, messageBuildSystemText, messageBuildUserFacing } from "../text/index.ts";
import {
  type AgentContext,
  contextAdded,
  contextAppend,
  contextCarry,
  contextDrop,
  contextMark,
  contextNew,
  contextRewind,
  type Contexts,
} from "./contexts.ts";
import { outcomeLabel } from "./outcome-label.ts";
import {
  COMPACTION_HEADING,
  NUDGE_TAG,
  NUDGE_TOOL,
  NUDGE_USER_MESSAGE,
  promptOfChild,
  promptOfRoot,
  taskMessage,
} from "./prompts.ts";
import { findingsOf, findingsWithError, type RunTexts, taskFacts } from "./run-texts.ts";

export interface Observing {
  readonly state: TreeState;
  readonly contexts: Contexts;
  readonly sha256: Sha256;
  /** The text of a definition, by its hash. */
  readonly definition: (hash: string) => DefinitionText;
}

type TextAt = (index: TextIndex) => Json | undefined;
type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

const NAME_LENGTH = 60;
const NO_RESULT = "Error: the turn ended before this call was answered";

export function observe(o: Observing, fact: Fact, place: Place, textAt: TextAt): void {
  switch (fact.type) {
    case "tree-opened":
    case "tree-forked":
      return openRoot(o);
    case "catalog-changed":
      openRoot(o);
      return narrowChildren(o);
    case "message-posted":
      return void o.contexts.messages.set(stepKey(place.seq, 0), { to: fact.to, text: postedText(fact, textAt(0)) });
    case "message-sent":
      return sent(o, fact, stepKey(place.seq, fact.n), textAt);
    case "run-created":
      return createRun(o, fact, textAt);
    case "run-started":
      return;
    case "turn-started":
      return startTurn(o, fact);
    case "messages-joined":
      return join(o, fact.agent, fact.take);
    case "model-called": {
      o.contexts.effects.set(stepKey(place.seq, fact.n), { agent: fact.agent, call: null });
      const context = o.contexts.agents.get(fact.agent);
      if (context !== undefined) context.compacting = fact.purpose === "compaction";
      return;
    }
    case "tool-called":
      return void o.contexts.effects.set(stepKey(place.seq, fact.n), { agent: fact.agent, call: fact.call });
    case "model-replied":
      return reply(o, fact, textAt);
    case "tool-finished": {
      const served = o.contexts.effects.get(fact.effect);
      o.contexts.effects.delete(fact.effect);
      if (served === undefined || served.call === null) return;
      return result(o, served.agent, served.call, asText(textAt(0)), fact.failed === true);
    }
    case "tool-answered": {
      if (fact.skill !== undefined) return result(o, fact.agent, fact.call, skillText(o, fact.skill), false);
      const texts = fact.run === undefined ? undefined : o.contexts.runs.get(fact.run);
      if (texts === undefined)
        return result(o, fact.agent, fact.call, asText(textAt(fact.text ?? 0)), fact.failed === true);
      if (fact.run !== undefined) o.contexts.runs.delete(fact.run);
      return result(o, fact.agent, fact.call, JSON.stringify(runPayload(texts, summaryBytes(o), o.sha256)), false);
    }
    case "run-reported":
      return report(o, fact, textAt);
    case "run-report-refused": {
      const texts = o.contexts.runs.get(fact.run);
      if (texts !== undefined) texts.refused = asText(textAt(fact.problem));
      return;
    }
    case "run-ended":
      return endRun(o, fact, textAt);
    case "run-undeliverable":
      return void o.contexts.runs.delete(fact.run);
    case "announcement-queued":
      return queueAnnouncement(o, fact);
    case "nudge-given":
      return nudge(o, fact);
    case "turn-ended":
      return endTurn(o, fact);
    case "context-compacted":
      return compact(o, fact, textAt);
    case "tree-closed":
      return contextDrop(o.contexts, 0);
    case "channel-sent":
      return;
    case "run-asked":
    case "model-failed":
    case "effects-lost":
    case "slots-offered":
    case "timers-due":
    case "cancel-asked":
    case "close-asked":
    case "texts-erased":
    case "budget-awaited":
    case "limit-neared":
    case "turn-model-dropped":
    case "effect-repeated":
    case "model-retry-set":
    case "run-state-changed":
    case "barrier-passed":
    case "announcement-blocked":
    case "window-learnt":
    case "erasure-asked":
      return;
  }
}

function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

/** An inline skill is read into the context of whoever uses it. */
function skillText(o: Observing, name: string): string {
  const facts = o.state.catalog.get(name);
  return facts === undefined ? "" : o.definition(facts.hash).prompt;
}

function summaryBytes(o: Observing): number {
  return o.state.settings?.limits.summaryBytes ?? 0;
}

/** A root's context keeps its messages when its definition changes. */
function openRoot(o: Observing): void {
  const root = o.state.agents.get(0);
  if (root === undefined || o.state.settings === null) return;
  const text = o.definition(root.definition.hash);
  const others = definitionsOf(o, (facts) => facts.skill === undefined);
  const held = new Set(root.definition.tools.map((tool) => tool.name));
  const tools = [
    ...text.tools.filter((tool) => held.has(tool.name)),
    ...delegationToolSpecs(root, sightOf(o.state.settings, o.state.catalog)),
  ];
  const fresh = contextNew(promptOfRoot(text, others, skillsOf(o)), tools, root.definition.model, o.sha256);
  const old = o.contexts.agents.get(0);
  if (old !== undefined) contextCarry(fresh, old, o.sha256);
  o.contexts.agents.set(0, fresh);
}

/** Children no longer see tools that they have lost with their parent. */
function narrowChildren(o: Observing): void {
  for (const [number, context] of o.contexts.agents) {
    const agent = o.state.agents.get(number);
    if (number === 0 || agent === undefined) continue;
    const held = new Set(agent.definition.tools.map((tool) => tool.name));
    const tools = context.tools.filter((tool) => delegationToolIs(tool.name) || held.has(tool.name));
    if (tools.length === context.tools.length) continue;
    const fresh = contextNew(context.system, tools, context.model, o.sha256);
    contextCarry(fresh, context, o.sha256);
    o.contexts.agents.set(number, fresh);
  }
}

function definitionsOf(o: Observing, wanted: (facts: DefinitionFacts) => boolean): DefinitionText[] {
  return [...o.state.catalog.values()].filter(wanted).map((facts) => o.definition(facts.hash));
}

function skillsOf(o: Observing): DefinitionText[] {
  return definitionsOf(o, (facts) => facts.skill !== undefined);
}

function postedText(fact: FactOf<"message-posted">, text: Json | undefined): string {
  if (fact.kind !== "system") return asText(text);
  return messageBuildSystemText(asText(text), fact.origin ?? "runtime");
}

/** The arguments of a call of this row's reply. */
function argumentsOf(call: string | null | undefined, textAt: TextAt): { readonly [name: string]: Json } {
  const first = textAt(0);
  if (call === null || call === undefined) return jsonObjectIs(first) ? first : {};
  const part = replyPartsOf(first).find((given) => given.type === "tool-call" && given.id === call);
  return part?.type === "tool-call" && jsonObjectIs(part.input) ? part.input : {};
}

function sent(o: Observing, fact: FactOf<"message-sent">, key: StepKey, textAt: TextAt): void {
  const { messages, runs, relays } = o.contexts;
  if (fact.run !== undefined) {
    const ended = runs.get(fact.run);
    runs.delete(fact.run);
    if (ended === undefined) return;
    const text = messageBuildSystemText(`"${ended.name}" ${outcomeLabel(ended.outcome)}.`, ended.agent);
    return void messages.set(key, { to: fact.to, text });
  }
  const origin = o.state.agents.get(fact.from)?.id ?? "runtime";
  const text = asText(argumentsOf(fact.call, textAt)["text"]);
  if (fact.kind !== "user-facing")
    return void messages.set(key, { to: fact.to, text: messageBuildSystemText(text, origin) });
  messages.set(key, { to: fact.to, text: messageBuildUserFacing(text, origin) });
  relays.set(key, { name: runs.get(fact.from)?.name ?? "", text });
}

function createRun(o: Observing, fact: FactOf<"run-created">, textAt: TextAt): void {
  const child = o.state.agents.get(fact.run);
  const run = o.state.runs.get(fact.run);
  if (child === undefined || run === undefined || o.state.settings === null) return;
  const args = argumentsOf(fact.call, textAt);
  const task = args["task"] === undefined ? SKILL_TASK : asText(args["task"]);
  const label = typeof args["label"] === "string" ? args["label"] : null;
  const text = o.definition(child.definition.hash);
  const held = new Set(child.definition.tools.map((tool) => tool.name));
  const tools = [
    ...text.tools.filter((tool) => held.has(tool.name)),
    ...delegationToolSpecs(child, sightOf(o.state.settings, o.state.catalog)),
  ];
  const parent = o.state.agents.get(fact.parent)?.id ?? "";
  const toolNames = tools.map((tool) => tool.name);
  const schema = args["output_schema"] ?? text.output;
  const context = contextNew(
    promptOfChild(text, { child, parent, run, label, toolNames, schema }),
    tools,
    child.definition.model,
    o.sha256,
  );
  const files = Array.isArray(args["files"]) ? args["files"].map((file: Json) => asText(file)) : [];
  const background = typeof args["context"] === "string" ? args["context"] : null;
  contextAppend(context, { role: "user", text: taskMessage(task, background, files) }, o.sha256);
  o.contexts.agents.set(fact.run, context);
  o.contexts.runs.set(fact.run, {
    id: fact.id,
    agent: fact.agent,
    name: runName(label, task),
    task: taskFacts(task, o.sha256),
    schema,
    reports: 0,
    report: "",
    artifacts: [],
    data: undefined,
    refused: null,
    outcome: null,
  });
  o.contexts.agents.get(fact.parent)?.started.push(fact.run);
}

/** The display name of a run: its label, else the beginning of its task, on one line. */
function runName(label: string | null, task: string): string {
  return codePointsPrefix((label ?? task).trim(), NAME_LENGTH).replaceAll(/[^ !#-\uffff]+/g, " ");
}

function startTurn(o: Observing, fact: FactOf<"turn-started">): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  // A blocked announcement is carried by the next turn: what is rewritten when that ends begins where the announcement stands.
  if (context.announced.length === 0) contextMark(context);
  join(o, fact.agent, fact.take);
  if (fact.announcement !== undefined) placeAnnouncement(o, fact.agent, context);
}

function join(o: Observing, agent: AgentNumber, take: readonly StepKey[]): void {
  const context = o.contexts.agents.get(agent);
  for (const key of take) {
    const message = o.contexts.messages.get(key);
    o.contexts.messages.delete(key);
    if (context === undefined || message === undefined) continue;
    contextAppend(context, { role: "user", text: message.text }, o.sha256);
    context.joined.push(message.text);
    if (o.contexts.relays.has(key)) context.relays.push(key);
  }
}

function queueAnnouncement(o: Observing, fact: FactOf<"announcement-queued">): void {
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
  contextAppend(context, { role: "user", text }, o.sha256);
}

function textsOf(o: Observing, runs: readonly RunNumber[]): RunTexts[] {
  return runs.map((run) => o.contexts.runs.get(run)).filter((texts) => texts !== undefined);
}

function reply(o: Observing, fact: FactOf<"model-replied">, textAt: TextAt): void {
  const served = o.contexts.effects.get(fact.effect);
  o.contexts.effects.delete(fact.effect);
  const context = served === undefined ? undefined : o.contexts.agents.get(served.agent);
  if (context === undefined || context.compacting || fact.stop === "refused") return;
  const parts = replyPartsOf(textAt(0));
  if (parts.length === 0) return;
  contextAppend(context, { role: "assistant", parts }, o.sha256);
  const calls = parts.filter((part): part is ToolCallPart => part.type === "tool-call");
  context.open = calls.length === 0 ? null : { calls, results: new Map() };
}

/** A result waits until all calls of its reply have one; then they enter the context together, in call order. */
function result(o: Observing, agent: AgentNumber, call: string, text: string, failed: boolean): void {
  const context = o.contexts.agents.get(agent);
  const part = context?.open?.calls.find((given) => given.id === call);
  if (context === undefined || context.open === null || part === undefined) return;
  context.open.results.set(call, { id: call, name: part.name, text, failed });
  if (context.open.results.size === context.open.calls.length) closeCalls(o, context);
}

function closeCalls(o: Observing, context: AgentContext): void {
  if (context.open === null) return;
  const { calls, results } = context.open;
  const paired: ToolResult[] = calls.map(
    (call) => results.get(call.id) ?? { id: call.id, name: call.name, text: NO_RESULT, failed: true },
  );
  context.open = null;
  contextAppend(context, { role: "tool", results: paired }, o.sha256);
}

function report(o: Observing, fact: FactOf<"run-reported">, textAt: TextAt): void {
  const texts = o.contexts.runs.get(fact.run);
  if (texts === undefined) return;
  const args = argumentsOf(fact.call, textAt);
  texts.reports += 1;
  texts.report = asText(args["text"]);
  texts.artifacts = args["artifacts"] ?? [];
  texts.data = args["data"];
  texts.refused = null;
}

function endRun(o: Observing, fact: FactOf<"run-ended">, textAt: TextAt): void {
  const texts = o.contexts.runs.get(fact.run);
  const run = o.state.runs.get(fact.run);
  const context = o.contexts.agents.get(fact.run);
  contextDrop(o.contexts, fact.run);
  if (texts === undefined) return;
  if (run === undefined) return void o.contexts.runs.delete(fact.run);
  const refused = fact.reason === "invalid-output" ? texts.refused : null;
  const error = fact.error === undefined ? refused : asText(textAt(fact.error));
  const own = findingsOf(fact.report, texts, context?.messages ?? []);
  const missed = responseError(fact.status, fact.reason ?? null);
  const found = missed === null ? own : findingsWithError(missed, fact.report, own);
  texts.outcome = {
    status: fact.status,
    reason: fact.reason ?? null,
    error,
    report: fact.report,
    nudged: run.nudged,
    findings: found,
    startedAt: run.startedAt,
    endedAt: run.endedAt ?? 0,
    tokens: run.tokens,
    cost: run.cost,
  };
}

function nudge(o: Observing, fact: FactOf<"nudge-given">): void {
  const context = o.contexts.agents.get(fact.agent);
  const agent = o.state.agents.get(fact.agent);
  if (context === undefined || agent === undefined) return;
  const byTool = agent.definition.reporting === "tool" ? NUDGE_TOOL : NUDGE_TAG;
  contextAppend(context, { role: "user", text: fact.about === "report" ? byTool : NUDGE_USER_MESSAGE }, o.sha256);
}

/** After an internal turn that ended well, a short line and the summary stand for the announcement. */
function endTurn(o: Observing, fact: FactOf<"turn-ended">): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  closeCalls(o, context);
  for (const key of context.relays) o.contexts.relays.delete(key);
  context.relays = [];
  if (fact.outcome !== "done" || context.announced.length === 0) return;
  const last = context.messages.at(-1);
  const summary = last?.role === "assistant" && fact.silent !== true ? replyText(last.parts) : "";
  const line = announcementLine(context.announced, textsOf(o, context.started));
  const { joined } = context;
  context.announced = [];
  context.joined = [];
  contextRewind(context);
  for (const text of joined) contextAppend(context, { role: "user", text: text ?? line }, o.sha256);
  if (summary !== "") contextAppend(context, { role: "assistant", parts: [{ type: "text", text: summary }] }, o.sha256);
}

/** The summary stands for every message before the turn under way; the turn itself, with the newest request, stays. */
function compact(o: Observing, fact: FactOf<"context-compacted">, textAt: TextAt): void {
  const context = o.contexts.agents.get(fact.agent);
  if (context === undefined) return;
  const kept = context.messages.slice(context.mark.length);
  const added = contextAdded(context);
  const summary = replyText(replyPartsOf(textAt(0)));
  const fresh = contextNew(context.system, context.tools, context.model, o.sha256);
  contextAppend(fresh, { role: "user", text: `${COMPACTION_HEADING}\n${summary}` }, o.sha256);
  const { announced, started, relays, joined } = context;
  Object.assign(context, fresh, { announced, relays });
  contextMark(context);
  context.started = started;
  context.joined = joined;
  if (added !== "") contextAppend(context, { role: "user", text: added }, o.sha256);
  for (const message of kept) contextAppend(context, message, o.sha256);
}
