/**
 * A tree in memory: its state, its contexts and the end of its hash chain, changed by steps or folded from rows. This is the whole kernel as the
 * runtime and replay see it.
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
import { endings } from "./context/run-contexts.ts";
import { type ToolsetFor, createToolsetFor } from "./context/toolset.ts";
import { decide } from "./decide.ts";
import type { Fact, FactOf, Stamp } from "./event.ts";
import { stepTrails } from "./journal/deferred-fsync.ts";
import type { JournalRow, RunPatch, Sha256 } from "./journal/journal.ts";
import { bodyRead, CHAIN_START, headRead, rowWrite } from "./journal/row.ts";
import { questionText } from "./text/prompts/question-text.ts";
import { type DelegationRecord, endedRecord, refusalRecord, refusedRecord } from "./runs/delegation-record.ts";
import { runPatch } from "./runs/run-patch.ts";
import { stateEmpty, type TreeState } from "./state.ts";
import type { Decision, EndTexts, Step, StepContexts } from "./step.ts";
import { messageSaid, sayBlocks } from "./text/index.ts";
import type { DefinitionText } from "./values/definition.ts";
import { type AgentNumber, type RunNumber, type StepKey, stepKey } from "./values/ids.ts";
import { mapsFromText, mapsToText } from "./values/map-json.ts";
import { replyPartsOf, replyText } from "./values/message.ts";

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
  /** True if it need not be on disk before its effects begin. */
  readonly trails: boolean;
}

/** What a row recorded of ends and answers. It is used instead of what the texts give, if earlier texts were erased. */
export interface RecordedTexts {
  endTexts(run: RunNumber): EndTexts | undefined;
  reportText(child: AgentNumber): string | undefined;
}

/** Collects what facts give besides the new state, while they are folded into the contexts. */
class Collected implements StepContexts {
  readonly hashes: string[] = [];
  readonly runs: RunPatch[] = [];
  readonly outgoing: Outgoing[] = [];
  readonly requests = new Map<StepKey, ContextRequest>();
  readonly delegations: DelegationRecord[] = [];
  readonly endTexts: StepContexts["endTexts"];
  readonly reportText: StepContexts["reportText"];
  private readonly tree: Tree;
  private readonly fold: Fold;

  constructor(tree: Tree, recorded?: RecordedTexts) {
    const { source, state, contexts } = tree;
    this.tree = tree;
    this.fold = { ...source, state, contexts, calls: null };
    const { endTexts, reportText } = endings(this.fold);
    this.endTexts = (run, end, reported) => recorded?.endTexts(run) ?? endTexts(run, end, reported);
    this.reportText = (child, final) => recorded?.reportText(child) ?? reportText(child, final);
  }

  observe(fact: Fact, stamp: Stamp, textAt: TextAt): void {
    this.before(fact, stamp, textAt);
    foldContexts(this.fold, fact, textAt, stamp);
    this.after(fact, stamp);
    runPatch(this.tree.state, this.tree.contexts, fact, stamp, this.runs);
  }

  /** What must be read from the contexts before the fact is folded in. */
  private before(fact: Fact, { seq }: Stamp, textAt: TextAt): void {
    const { contexts, source } = this.tree;
    if (fact.type === "channel-sent") {
      const { agent, n } = fact;
      this.outgoing.push({ key: stepKey(seq, n), agent, text: channelText(contexts, fact, textAt) });
    } else if (fact.type === "question-asked" && fact.to !== undefined) {
      const text = questionText(contexts, fact, fact.calls ?? 0);
      this.outgoing.push({ key: stepKey(seq, fact.n), agent: fact.to, text });
    } else if (fact.type === "tool-answered") {
      const text = fact.text === undefined ? undefined : textAt(fact.text);
      const refused = refusedRecord(contexts, fact, text, source.sha256);
      if (refused !== null) this.delegations.push(refused);
    }
  }

  private after(fact: Fact, stamp: Stamp): void {
    const { contexts, state } = this.tree;
    if (fact.type === "run-ended") {
      const ended = endedRecord(contexts, fact, stamp);
      if (ended !== null) this.delegations.push(ended);
    } else if (fact.type === "model-called") {
      this.request(fact.agent, stepKey(stamp.seq, fact.n), stamp);
    } else if (fact.type === "effect-repeated") {
      const effect = state.effects.get(fact.effect);
      if (effect?.kind === "model") this.request(effect.agent, fact.effect, stamp);
    }
  }

  private request(agent: AgentNumber, key: StepKey, { at }: Stamp): void {
    const { state, contexts, source } = this.tree;
    const asked = contextRequest(state, contexts, agent, at, source.sha256);
    if (asked === null) return;
    this.hashes.push(asked.hash);
    this.requests.set(key, asked.request);
  }
}

function channelText({ relays }: Contexts, { relay: key, say }: FactOf<"channel-sent">, textAt: TextAt): string {
  const relay = key === undefined ? undefined : relays.get(key);
  if (relay !== undefined) return `${relay.name}: ${relay.text}`;
  const text = replyText(replyPartsOf(textAt(0)));
  return say === undefined ? messageSaid(text) : (sayBlocks(text)[say] ?? "");
}

/** Moves the tree on by one step. `salt` begins the row's body. */
export function treeStep(tree: Tree, step: Step, salt: string, recorded?: RecordedTexts): Stepped {
  const { input, texts } = step;
  const { sha256 } = tree.source;
  const result = input.type === "model-replied" || input.type === "tool-finished";
  const effect = result ? tree.state.effects.get(input.effect) : undefined;
  const collected = new Collected(tree, recorded);
  const decision = decide(tree.state, step, collected);
  const { runs, outgoing, requests, delegations, hashes } = collected;
  if (decision.refusal !== null && input.type === "run-asked")
    delegations.push(refusalRecord(input.id, texts[0], decision.refusal, sha256));
  const row = rowWrite(tree.state.seq, { step, decision, contexts: hashes }, salt, tree.hash, sha256);
  tree.hash = row.hash;
  return { step, row, decision, runs, outgoing, requests, delegations, trails: stepTrails(input, effect, decision) };
}

/** Folds a recorded row: nothing is decided again. Returns what it changes in the projection of runs. */
export function treeFold(tree: Tree, row: JournalRow): readonly RunPatch[] {
  const collected = new Collected(tree);
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
