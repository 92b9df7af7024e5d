/**
 * A tree in memory: its state, its contexts and the end of its hash chain, changed by steps or folded from rows. This
 * is the whole kernel as the runtime and replay see it.
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
import type { Fold, TextAt } from "./context/fold.ts";
import { foldContexts } from "./context/fold-contexts.ts";
import { type ContextRequest, contextRequest } from "./context/request.ts";
import { endTextsReader } from "./context/run-contexts.ts";
import { type ToolsetFor, createToolsetFor } from "./context/toolset.ts";
import { decide } from "./decide.ts";
import type { Fact, Stamp } from "./event.ts";
import { fsyncDeferrable } from "./journal/deferred-fsync.ts";
import type { JournalRow, RunPatch, Sha256 } from "./journal/journal.ts";
import { bodyRead, CHAIN_START, headRead, rowWrite } from "./journal/row.ts";
import { channelText } from "./text/prompts/channel-text.ts";
import { questionText } from "./text/prompts/question-text.ts";
import { type DelegationRecord, endedRecord, refusedRecord } from "./runs/delegation-record.ts";
import { addRunPatch } from "./runs/run-patch.ts";
import { stateEmpty, type TreeState } from "./state.ts";
import type { Decision, EndTexts, Step, StepContexts } from "./step.ts";
import type { DefinitionText } from "./values/definition.ts";
import { type AgentNumber, type RunNumber, type StepKey, stepKey } from "./values/ids.ts";
import { mapsFromText, mapsToText } from "./values/map-json.ts";

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

export function treeNew(source: TreeSource): Tree {
  return { source, state: stateEmpty(), contexts: contextsEmpty(), hash: CHAIN_START };
}

/** A message for the user. */
export interface Outgoing {
  readonly key: StepKey;
  readonly agent: AgentNumber;
  readonly text: string;
}

/** Everything that a step gave. */
export interface Stepped {
  readonly step: Step;
  readonly row: JournalRow;
  readonly decision: Decision;
  readonly runs: readonly RunPatch[];
  readonly outgoing: readonly Outgoing[];
  /** What models are sent because of this step, by the key of the call: the very bytes whose hash the row holds. */
  readonly requests: ReadonlyMap<StepKey, ContextRequest>;
  readonly delegations: readonly DelegationRecord[];
  /** True if its effects may start before it is on disk. */
  readonly fsyncDeferrable: boolean;
}

/** The ends and answers that a row recorded. They are used if earlier texts were erased. */
export interface RecordedTexts {
  endTexts(run: RunNumber): EndTexts | undefined;
  reportText(child: AgentNumber): string | undefined;
}

/** What facts give besides the new state. */
interface Collected extends StepContexts {
  readonly hashes: string[];
  readonly runs: RunPatch[];
  readonly outgoing: Outgoing[];
  readonly requests: Map<StepKey, ContextRequest>;
  readonly ended: DelegationRecord[];
}

/** Folds facts into the contexts of the tree, and collects what they give besides. */
function collect({ source, state, contexts }: Tree, recorded?: RecordedTexts): Collected {
  const { sha256 } = source;
  const fold: Fold = { ...source, state, contexts, calls: null };
  const { endTexts, reportText } = endTextsReader(fold);
  const hashes: string[] = [];
  const runs: RunPatch[] = [];
  const outgoing: Outgoing[] = [];
  const requests = new Map<StepKey, ContextRequest>();
  const ended: DelegationRecord[] = [];

  function collectOutgoing(fact: Fact, { seq }: Stamp, textAt: TextAt): void {
    if (fact.type === "channel-sent") {
      const { agent, n } = fact;
      outgoing.push({ key: stepKey(seq, n), agent, text: channelText(contexts.relays, fact, textAt(0)) });
    } else if (fact.type === "question-asked" && fact.to !== undefined) {
      const text = questionText(contexts, fact, fact.calls ?? 0);
      outgoing.push({ key: stepKey(seq, fact.n), agent: fact.to, text });
    }
  }

  function collectRequest(agent: AgentNumber, key: StepKey, { at }: Stamp): void {
    const asked = contextRequest(state, contexts, agent, at, sha256);
    if (asked === null) return;
    hashes.push(asked.hash);
    requests.set(key, asked.request);
  }

  function collectResults(fact: Fact, stamp: Stamp): void {
    if (fact.type === "run-ended") {
      const record = endedRecord(contexts, fact, stamp);
      if (record !== null) ended.push(record);
    } else if (fact.type === "model-called") {
      collectRequest(fact.agent, stepKey(stamp.seq, fact.n), stamp);
    } else if (fact.type === "effect-repeated") {
      const effect = state.effects.get(fact.effect);
      if (effect?.kind === "model") collectRequest(effect.agent, fact.effect, stamp);
    }
  }

  return {
    hashes,
    runs,
    outgoing,
    requests,
    ended,
    endTexts: (run, end, reported) => recorded?.endTexts(run) ?? endTexts(run, end, reported),
    reportText: (child, final) => recorded?.reportText(child) ?? reportText(child, final),
    observe(fact, stamp, textAt) {
      // Texts for the user are read before the fact is folded in: folding may drop them.
      collectOutgoing(fact, stamp, textAt);
      foldContexts(fold, fact, textAt, stamp);
      collectResults(fact, stamp);
      addRunPatch(state, contexts, fact, stamp, runs);
    },
  };
}

/** Moves the tree on by one step. `salt` begins the row's body. */
export function treeStep(tree: Tree, step: Step, salt: string, recorded?: RecordedTexts): Stepped {
  const { input } = step;
  const { sha256 } = tree.source;
  const { type } = input;
  const result = type === "model-replied" || type === "tool-finished" || type === "runner-progressed";
  const effect = result ? tree.state.effects.get(input.effect) : undefined;
  const collected = collect(tree, recorded);
  const decision = decide(tree.state, step, collected);
  const { runs, outgoing, requests, hashes, ended } = collected;
  const refused = decision.refused.map((delegation) => refusedRecord(delegation, sha256));
  const row = rowWrite({ seq: tree.state.seq, salt, previous: tree.hash }, step, decision, hashes, sha256);
  tree.hash = row.hash;
  return {
    step,
    row,
    decision,
    runs,
    outgoing,
    requests,
    delegations: [...refused, ...ended],
    fsyncDeferrable: fsyncDeferrable(input, effect, decision),
  };
}

/** Folds a recorded row: nothing is decided again. Returns what it changes in the projection of runs. */
export function treeFold(tree: Tree, row: JournalRow): readonly RunPatch[] {
  const collected = collect(tree);
  const { at, input, events = [], rejected } = headRead(row.head);
  const { texts } = bodyRead(row.body);
  const stamp: Stamp = { seq: row.seq, at };
  const facts: readonly Fact[] = rejected === undefined ? [input, ...events] : [];
  for (const fact of facts) {
    apply(tree.state, fact, stamp);
    collected.observe(fact, stamp, (index) => texts[index]);
  }
  tree.state.seq = row.seq;
  tree.state.at = Math.max(tree.state.at, at);
  tree.hash = row.hash;
  return collected.runs;
}

/** A snapshot's text, and a tree from it. */
export function treeToText({ hash, state, contexts }: Tree): string {
  return `[${JSON.stringify(hash)},${mapsToText(state)},${contextsToText(contexts)}]`;
}

export function treeFromText(text: string, source: TreeSource): Tree {
  const [hash, state, contexts] = mapsFromText(text) as [string, TreeState, PlainContexts];
  return { source, hash, state, contexts: contextsFromPlain(contexts, source.sha256) };
}
