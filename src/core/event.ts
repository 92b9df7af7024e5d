/**
 * The facts of a tree. A journal row holds one input (a fact from outside, input.ts) and the events that the kernel
 * decided because of it. The state is the fold of both, in this order.
 *
 * Invariants:
 *  1. Facts are past tense. Intentions are effects (effect.ts).
 *  2. A fact holds no text for models or people. It holds an index into the row's texts, which are in the body.
 *  3. `n` is a fact's number in its step. With the step's sequence it is the key of an effect, a message or an
 *     announcement.
 *  4. An undefined member is not written, and means the same as an absent one.
 */

import type { Inputs } from "./input.ts";
import type { ReportKind, RunMode, RunStatus } from "./journal/journal.ts";
import type { DefinitionFacts, RunnerMessageKind } from "./values/definition.ts";
import type { AgentNumber, PostId, RunNumber, StepKey } from "./values/ids.ts";
import type { Usage } from "./values/message.ts";

/** An index into the texts of the fact's own row. */
export type TextIndex = number;

/** Facts that the kernel decided. */
export interface Decisions {
  "turn-started": {
    readonly agent: AgentNumber;
    /** The messages that the turn takes from the inbox, in order. */
    readonly take: readonly StepKey[];
    /** The announcement that it places, and its runs. */
    readonly announcement?: StepKey | undefined;
    readonly placed?: readonly RunNumber[] | undefined;
  };
  /** Steers and silent messages that joined the context of a current turn, or of an idle agent. */
  "messages-joined": { readonly agent: AgentNumber; readonly take: readonly StepKey[] };
  "model-called": {
    readonly agent: AgentNumber;
    readonly n: number;
    readonly purpose?: "compaction" | undefined;
    readonly reserved?: { readonly tokens: number; readonly cost: number } | undefined;
  };
  /** The open model call is dropped, because its context must become smaller first. */
  "turn-model-dropped": { readonly agent: AgentNumber };
  /** The tree's budget has no room until the usage of running calls is known: the agent's next model call waits. */
  "budget-awaited": { readonly agent: AgentNumber };
  /** A tree used four fifths of a limit. Once for each limit. */
  "limit-neared": { readonly limit: "tokensPerTree" | "costPerTree" | "runsPerTree"; readonly used: number };
  "effect-repeated": { readonly effect: StepKey; readonly attempt: number };
  /** A model call's usage is unknown and booked as this estimate. `aborted`: the provider may still report it. */
  "usage-estimated": {
    readonly agent: AgentNumber;
    readonly effect: StepKey;
    readonly usage: Usage;
    readonly aborted?: true;
  };
  /** What a run used in all, after the provider reported the usage of the call that was aborted at its end. */
  "run-settled": { readonly run: RunNumber; readonly tokens: number; readonly cost: number };
  "model-retry-set": { readonly effect: StepKey; readonly at: number };
  "tool-called": {
    readonly agent: AgentNumber;
    readonly n: number;
    readonly call: string;
    readonly name: string;
    readonly safe?: true | undefined;
    /** The user allowed the call. */
    readonly granted?: true | undefined;
    /** The mark of the file that the user saw. */
    readonly seen?: string | undefined;
    /** A delegation tool whose answer is in the store. */
    readonly read?: true | undefined;
  };
  /**
   * A call waits for a user's answer; agent `to` speaks to that user. With `ask` an outside child has asked, under that
   * name. Without both the question is whether the request may use `calls` more model calls, and all model calls of the
   * tree wait.
   */
  "question-asked": {
    readonly agent: AgentNumber;
    readonly n: number;
    readonly call?: string | undefined;
    readonly ask?: string | undefined;
    readonly calls?: number | undefined;
    readonly name: string;
    readonly to?: AgentNumber | undefined;
  };
  /** A call that the kernel answered: with text `text`, the outcome of run `run`, or the text of skill `skill`. */
  "tool-answered": {
    readonly agent: AgentNumber;
    readonly call: string;
    readonly text?: TextIndex | undefined;
    readonly run?: RunNumber | undefined;
    readonly skill?: string | undefined;
    readonly failed?: true | undefined;
    readonly size: number;
  };
  "run-created": {
    readonly run: RunNumber;
    readonly parent: AgentNumber;
    readonly id: string;
    readonly agent: string;
    readonly mode: RunMode;
    readonly definition: string;
    /** Null for a run that was asked for from outside. */
    readonly call: string | null;
    readonly model?:
      | { readonly name: string; readonly window: number | null; readonly price: DefinitionFacts["price"] }
      | undefined;
    readonly iterations: number;
    readonly timeoutMs: number;
    /** Approximate length of the child's task, context and file hints. */
    readonly size: number;
    readonly announce?: "each" | "none" | undefined;
    readonly group?: string | undefined;
    readonly cleanup?: "delete" | undefined;
    readonly typed?: true | undefined;
    /** Arguments that were lowered to their cap. */
    readonly lowered?: readonly string[] | undefined;
  };
  /** The child's first turn begins. */
  "run-started": { readonly run: RunNumber };
  "run-state-changed": { readonly run: RunNumber; readonly state: "running" | "waiting" | "needs_input" };
  /**
   * The child's call `call` of this row's reply is a report; without `call` text 0 of the row, from an outside child.
   * `final`: the other calls are answered first.
   */
  "run-reported": { readonly run: RunNumber; readonly call?: string | undefined; readonly final?: true | undefined };
  /** The child's report was refused: its artifacts or data do not fit. */
  "run-report-refused": { readonly run: RunNumber; readonly problem: TextIndex };
  /** The turns of an outside child begin. */
  "runner-started": { readonly agent: AgentNumber; readonly n: number };
  /**
   * A message for an outside child. `steer`: message `message`. `answer`: to what it asked under the name `ask`, with
   * the words of this row; `declined` if the user does not answer. `report-refused`: with the problem.
   */
  "runner-message-sent": {
    readonly agent: AgentNumber;
    readonly n: number;
    readonly kind: RunnerMessageKind;
    readonly message?: StepKey | undefined;
    readonly ask?: string | undefined;
    readonly declined?: true | undefined;
    readonly problem?: TextIndex | undefined;
  };
  "run-ended": {
    readonly run: RunNumber;
    readonly status: RunStatus;
    readonly reason?: string | undefined;
    readonly error?: TextIndex | undefined;
    readonly report: ReportKind;
    /** What the run leaves for its parent (reports/run-result.ts). Absent before revision 7. */
    readonly result?: TextIndex | undefined;
    /** A final report ended the run, and is its result. */
    readonly final?: true | undefined;
    /** The run had reported; its closing call failed with this reason. */
    readonly closed?: string | undefined;
    /** Posts that no turn of the child will answer any more. */
    readonly posts?: readonly PostId[] | undefined;
  };
  /** The run has ended, and its result cannot reach the parent. */
  "run-undeliverable": { readonly run: RunNumber; readonly reason: string };
  /** The run had ended. Its caller reads the outcome; no model is told. */
  "run-returned": { readonly run: RunNumber };
  /** An agent wrote to another: with call `call` of this row's reply, or by the end of run `run`. */
  "message-sent": {
    readonly n: number;
    readonly from: AgentNumber;
    readonly to: AgentNumber;
    readonly call?: string;
    readonly run?: RunNumber;
    readonly kind: "system" | "user-facing" | "steer";
    readonly silent?: true;
    /** Text for the user from a run that the receiver waits for: it joins the receiver's turn (rule C5). */
    readonly joins?: true | undefined;
    readonly size: number;
  };
  "announcement-queued": {
    readonly agent: AgentNumber;
    readonly key: StepKey;
    readonly runs: readonly RunNumber[];
    /** Members that still run after the barrier of their batch passed. */
    readonly stragglers?: readonly RunNumber[];
  };
  "barrier-passed": { readonly agent: AgentNumber; readonly batch: string };
  "announcement-blocked": { readonly agent: AgentNumber; readonly key: StepKey };
  "nudge-given": { readonly agent: AgentNumber; readonly about: "report" | "user-message" };
  /** A message for the user left for the channel: this row's reply, one of its `say` blocks, or a relayed message. */
  "channel-sent": {
    readonly agent: AgentNumber;
    readonly n: number;
    readonly say?: number;
    readonly relay?: StepKey;
    /** The reply also calls tools: the turn continues after it (rule D13). */
    readonly commentary?: true | undefined;
  };
  "turn-ended": {
    readonly agent: AgentNumber;
    readonly outcome: "done" | "failed" | "cancelled";
    readonly reason?: string | undefined;
    readonly error?: TextIndex | undefined;
    readonly silent?: true | undefined;
    /** The reply held a `<response>`, in a run that reports by tag. */
    readonly tagged?: true | undefined;
    readonly posts?: readonly PostId[] | undefined;
    /** The report that answers the posts. Without it the reply answers them. */
    readonly answer?: TextIndex | undefined;
  };
  /** Text 0 is the summary of everything before the current turn. */
  "context-compacted": { readonly agent: AgentNumber; readonly size: number };
  /** Results of the agent's tools longer than `keep` characters are cut, to make room in its context. */
  "results-shortened": { readonly agent: AgentNumber; readonly keep: number };
  "window-learnt": { readonly agent: AgentNumber; readonly window: number };
  "erasure-asked": { readonly run: RunNumber; readonly n: number };
  "tree-closed": { readonly posts?: readonly PostId[] | undefined };
}

/** All facts by their types. */
export interface Facts extends Inputs, Decisions {}
/** The name of a kind of fact. */
export type FactType = keyof Facts;
/** Facts of one type, or of several. */
export type FactOf<Type extends FactType = FactType> = {
  [One in Type]: { readonly type: One } & Facts[One];
}[Type];
/** Something that happened in a tree, as its journal has it. */
export type Fact = FactOf;
export type Input = FactOf<keyof Inputs>;
export type Decided = FactOf<keyof Decisions>;

/** The sequence and the time of a step: where and when a fact became one. */
export interface Stamp {
  readonly seq: number;
  readonly at: number;
}
