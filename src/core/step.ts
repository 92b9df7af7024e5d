/** One step: its input, its decision, and what the parts of the kernel use while they decide. */

import type { Effect } from "./effect.ts";
import type { Decided, Fact, Input, Stamp, TextIndex } from "./event.ts";
import type { ReportKind, RunStatus } from "./journal/journal.ts";
import type { TreeState } from "./state.ts";
import type { AgentNumber, RunNumber, StepKey } from "./values/ids.ts";
import type { Json } from "./values/json.ts";
import type { Settings } from "./values/limits.ts";

export interface Step {
  readonly at: number;
  readonly seed: string;
  /** Free slots of the process. Negative: so many slots that this step releases are reserved for other trees. */
  readonly slots: number;
  readonly input: Input;
  readonly texts: readonly Json[];
}

export interface Decision {
  /** Why the input changed nothing, or null. */
  readonly rejected: string | null;
  readonly events: readonly Decided[];
  readonly effects: readonly Effect[];
  /** Texts that the kernel added to those of the input. */
  readonly texts: readonly Json[];
  /** Whether the decision depended on the seed and on the slots. Only then they are recorded. */
  readonly seedUsed: boolean;
  readonly slotsUsed: boolean;
  /** A run that could have started waits for a slot. */
  readonly slotsLacked: boolean;
  /** Delegations that this step refused. */
  readonly refused: readonly RefusedDelegation[];
}

/** Why a run was not made: a code, and words. */
export interface Refusal {
  readonly reason: string;
  readonly error: string;
}

export interface RefusedDelegation extends Refusal {
  /** The id of the call, or of the post that asked for the run from outside. */
  readonly id: string;
  readonly task: string;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly reason?: string;
  readonly error?: string;
  /** A final report ends it. */
  readonly final?: true;
  /** The user cancelled it. The parent gets a silent line, which causes no inference. */
  readonly silent?: true;
}

/** What is left to do before the step is over. */
export type Task =
  /** Calls of the agent's newest reply were answered: its turn may continue. */
  | { readonly do: "continue-turn"; readonly agent: AgentNumber }
  /** The agent may be idle: its next turn starts, its run ends, or it waits. */
  | { readonly do: "next-turn"; readonly agent: AgentNumber }
  /** The session of the outside child gets the messages in its inbox. */
  | { readonly do: "pass-messages"; readonly agent: AgentNumber }
  /** The agent has used the iteration that it was given to answer a nudge. */
  | { readonly do: "end-turn"; readonly agent: AgentNumber }
  | { readonly do: "fail-turn"; readonly agent: AgentNumber; readonly end: RunEnd }
  | { readonly do: "end-run"; readonly run: RunNumber; readonly end: RunEnd }
  /** Calls that wait for the budget may have room now. */
  | { readonly do: "retry-budget" }
  /** A queued child of the agent may start. Done last, because other tasks release and take slots. */
  | { readonly do: "start-queued"; readonly agent: AgentNumber };

/** What a run leaves when it ends. */
export interface EndTexts {
  readonly kind: ReportKind;
  /** Read by `resultFromJson` (reports/run-result.ts). */
  readonly result: Json;
  readonly error: string | null;
}

/** The contexts of the tree, as a step uses them. */
export interface StepContexts {
  /** Folds a fact into the contexts, right after it was applied to the state. */
  observe(fact: Fact, stamp: Stamp, textAt: (index: TextIndex) => Json | undefined): void;
  /** What a run leaves when it ends now. */
  endTexts(run: RunNumber, end: RunEnd, reported: "tool" | "tag" | null): EndTexts;
  /** The text of a child's newest report; `final`: of its newest final one. */
  reportText(child: AgentNumber, final: boolean): string;
}

export interface Deciding {
  readonly state: TreeState;
  readonly contexts: StepContexts;
  readonly settings: Settings;
  readonly at: number;
  readonly texts: readonly Json[];
  /** Records and applies the input. */
  accept(): void;
  emit(fact: Decided): void;
  effect(effect: Effect): void;
  /** The next number within the step: for the key of an effect or a message. */
  number(): number;
  key(number: number): StepKey;
  uuid(): string;
  /** From 0 up to, but not including, 1: from the step's seed, and the same each time within a step. */
  fraction(): number;
  text(value: Json): TextIndex;
  later(task: Task): void;
  refused(delegation: RefusedDelegation): void;
  /** True if a run of this agent may start: the process has a free slot, or this step released one. */
  slotFree(agent: AgentNumber): boolean;
}
