/**
 * A tree in memory: its state, its contexts and the end of its chain, moved on by steps or folded from rows. This is the whole kernel
 * as the runtime and replay see it.
 *
 * Invariant: a tree that was stepped and a tree that was folded from the rows of those steps are equal, byte for byte.
 */

import { apply } from "./apply.ts";
import {
  type Contexts,
  contextsEmpty,
  contextsFromPlain,
  contextsToText,
  type PlainContexts,
} from "./context/contexts.ts";
import { observe } from "./context/observe.ts";
import type { Observing } from "./context/observing.ts";
import { type ContextRequest, contextRequest } from "./context/request.ts";
import { type ToolsetFor, createToolsetFor } from "./context/toolset.ts";
import { decide } from "./decide.ts";
import type { Decision, Observer, Step } from "./deciding.ts";
import type { DefinitionText } from "./definition.ts";
import type { Decided, Fact, TextIndex } from "./event.ts";
import { type AgentNumber, type StepKey, stepKey } from "./ids.ts";
import type { JournalRow, RunPatch, Sha256 } from "./journal.ts";
import type { Json } from "./json.ts";
import { replyPartsOf, replyText } from "./message.ts";
import type { Place } from "./place.ts";
import { plainFromText } from "./plain-text.ts";
import { questionText } from "./questions/question-text.ts";
import { bodyRead, CHAIN_START, headRead, rowWrite } from "./row.ts";
import { type DelegationRecord, endedRecord, refusalRecord, refusedRecord } from "./runs/delegation-record.ts";
import { runPatch } from "./runs/run-patch.ts";
import { type PlainState, stateEmpty, stateFromPlain, stateToText, type TreeState } from "./state.ts";
import { messageSaid, sayBlocks } from "./text/index.ts";
import { stepTrails } from "./trailing.ts";

export interface TreeSource {
  readonly sha256: Sha256;
  readonly definition: (hash: string) => DefinitionText;
  readonly toolsetFor: ToolsetFor;
}

export function treeSource(sha256: Sha256, definition: TreeSource["definition"]): TreeSource {
  return { sha256, definition, toolsetFor: createToolsetFor(sha256) };
}

export interface Tree {
  readonly source: TreeSource;
  readonly state: TreeState;
  readonly contexts: Contexts;
  hash: string;
}

export interface Outgoing {
  readonly key: StepKey;
  readonly agent: AgentNumber;
  readonly text: string;
}

/** Everything a step gave. */
export interface Stepped {
  readonly step: Step;
  readonly row: JournalRow;
  readonly decision: Decision;
  readonly runs: readonly RunPatch[];
  readonly outgoing: readonly Outgoing[];
  /** What models are sent because of this step, by the key of the call: the very bytes whose hash the row holds. */
  readonly requests: ReadonlyMap<StepKey, ContextRequest>;
  readonly delegations: readonly DelegationRecord[];
  /** True if it need not be on disk before its effects begin. */
  readonly trails: boolean;
}

export function treeNew(source: TreeSource): Tree {
  return { source, state: stateEmpty(), contexts: contextsEmpty(), hash: CHAIN_START };
}

/** What is gathered while facts go by. */
interface Gathered {
  readonly contexts: string[];
  readonly runs: RunPatch[];
  readonly outgoing: Outgoing[];
  /** Null until there is one. */
  requests: Map<StepKey, ContextRequest> | null;
  readonly delegations: DelegationRecord[];
}

const NO_REQUESTS: ReadonlyMap<StepKey, ContextRequest> = new Map();

function gather(tree: Tree, into: Gathered): Observer {
  const { state, contexts, source } = tree;
  const { sha256, definition, toolsetFor } = source;
  const observing: Observing = { sha256, definition, toolsetFor, state, contexts, calls: null };
  return (fact, place, textAt) => {
    gatherBefore(tree, into, fact, place, textAt);
    observe(observing, fact, place, textAt);
    gatherAfter(tree, into, fact, place);
    runPatch(state, contexts, fact, place, into.runs);
  };
}

/** What has to be looked up before the fact is folded into the contexts. */
function gatherBefore(tree: Tree, into: Gathered, fact: Fact, place: Place, textAt: TextAt): void {
  switch (fact.type) {
    case "channel-sent":
      return void into.outgoing.push(outgoingOf(tree, fact, place, textAt));
    case "question-asked": {
      if (fact.to === undefined) return;
      const text = questionText(tree.contexts, fact, fact.calls ?? 0);
      return void into.outgoing.push({ key: stepKey(place.seq, fact.n), agent: fact.to, text });
    }
    case "tool-answered": {
      const text = fact.text === undefined ? undefined : textAt(fact.text);
      const refused = refusedRecord(tree.contexts, fact, text, tree.source.sha256);
      if (refused !== null) into.delegations.push(refused);
      return;
    }
    default:
      return;
  }
}

/** What can be looked up only afterwards. */
function gatherAfter(tree: Tree, into: Gathered, fact: Fact, place: Place): void {
  switch (fact.type) {
    case "run-ended": {
      const ended = endedRecord(tree.contexts, fact, place);
      if (ended !== null) into.delegations.push(ended);
      return;
    }
    case "model-called":
      return gatherRequest(tree, into, fact.agent, stepKey(place.seq, fact.n), place);
    case "effect-repeated": {
      const effect = tree.state.effects.get(fact.effect);
      if (effect?.kind === "model") gatherRequest(tree, into, effect.agent, fact.effect, place);
      return;
    }
    default:
      return;
  }
}

/** What the model is sent by a call that begins or is repeated. */
function gatherRequest(tree: Tree, into: Gathered, agent: AgentNumber, key: StepKey, place: Place): void {
  const asked = contextRequest(tree.state, tree.contexts, agent, place.at, tree.source.sha256);
  if (asked === null) return;
  into.contexts.push(asked.hash);
  into.requests ??= new Map();
  into.requests.set(key, asked.request);
}

type TextAt = (index: TextIndex) => Json | undefined;

function outgoingOf(
  tree: Tree,
  fact: Extract<Decided, { type: "channel-sent" }>,
  place: Place,
  textAt: TextAt,
): Outgoing {
  const key = stepKey(place.seq, fact.n);
  const relay = fact.relay === undefined ? undefined : tree.contexts.relays.get(fact.relay);
  if (relay !== undefined) return { key, agent: fact.agent, text: `${relay.name}: ${relay.text}` };
  const text = replyText(replyPartsOf(textAt(0)));
  return {
    key,
    agent: fact.agent,
    text: fact.say === undefined ? messageSaid(text) : (sayBlocks(text)[fact.say] ?? ""),
  };
}

/** Moves the tree on by one step. `salt` is what the row's body begins with. */
export function treeStep(tree: Tree, step: Step, salt: string): Stepped {
  const gathered: Gathered = { contexts: [], runs: [], outgoing: [], requests: null, delegations: [] };
  const { input } = step;
  const brings = input.type === "model-replied" || input.type === "tool-finished";
  const effect = brings ? tree.state.effects.get(input.effect) : undefined;
  const decision = decide(tree.state, step, gather(tree, gathered));
  const { runs, outgoing, delegations, contexts } = gathered;
  if (decision.refusal !== null && input.type === "run-asked")
    delegations.push(refusalRecord(input.id, step.texts[0], decision.refusal, tree.source.sha256));
  const requests = gathered.requests ?? NO_REQUESTS;
  const row = rowWrite(tree.state.seq, { step, decision, contexts }, salt, tree.hash, tree.source.sha256);
  tree.hash = row.hash;
  const trails = stepTrails(input, effect, decision);
  return { step, row, decision, runs, outgoing, requests, delegations, trails };
}

/** Folds a recorded row: nothing is decided again. Returns what it says of runs. */
export function treeFold(tree: Tree, row: JournalRow): readonly RunPatch[] {
  const gathered: Gathered = { contexts: [], runs: [], outgoing: [], requests: null, delegations: [] };
  const observer = gather(tree, gathered);
  const head = headRead(row.head);
  const { texts } = bodyRead(row.body);
  const place: Place = { seq: row.seq, at: head.at };
  const textAt: TextAt = (index) => texts[index];
  const facts: readonly Fact[] = head.late === undefined ? [head.input, ...(head.events ?? [])] : [];
  for (const fact of facts) {
    apply(tree.state, fact, place);
    observer(fact, place, textAt);
  }
  tree.state.seq = row.seq;
  tree.state.at = Math.max(tree.state.at, head.at);
  tree.hash = row.hash;
  return gathered.runs;
}

/** A snapshot's text, and a tree from it. */
export function treeToText(tree: Tree): string {
  return `[${JSON.stringify(tree.hash)},${stateToText(tree.state)},${contextsToText(tree.contexts)}]`;
}

export function treeFromText(text: string, source: TreeSource): Tree {
  const [hash, state, contexts] = plainFromText(text) as [string, PlainState, PlainContexts];
  return { source, hash, state: stateFromPlain(state), contexts: contextsFromPlain(contexts, source.sha256) };
}
