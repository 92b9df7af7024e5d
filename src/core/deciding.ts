/**
 * What one step works with. Deciding advances the state as it goes: a fact is applied when it is decided, so that the next decision
 * of the same step sees it. What is left to look at stands on an agenda, which keeps the parts of the kernel from calling each
 * other in circles and the stack from growing with the tree.
 */

import { apply } from "./apply.ts";
import type { Effect } from "./effect.ts";
import type { Decided, Fact, Input, TextIndex } from "./event.ts";
import { type AgentNumber, fractionOf, type RunNumber, stepKey, type StepKey, uuidOf } from "./ids.ts";
import type { RunStatus } from "./journal.ts";
import type { Json } from "./json.ts";
import type { Settings } from "./limits.ts";
import type { Place } from "./place.ts";
import type { TreeState } from "./state.ts";

/**
 * What comes into a step: an input, its texts, and the time, randomness and process slots the step may use. Fewer than none: so many of those that
 * runs let go in this step are owed to other trees.
 */
export interface Step {
  readonly at: number;
  readonly seed: string;
  readonly slots: number;
  readonly input: Input;
  readonly texts: readonly Json[];
}

export interface Decision {
  /** Why the input changed nothing, or null. */
  readonly late: string | null;
  readonly events: readonly Decided[];
  readonly effects: readonly Effect[];
  /** Texts the kernel added to those of the input. */
  readonly texts: readonly Json[];
  /** Whether the outcome depended on the seed and on the slots: only then they need to be recorded. */
  readonly seedUsed: boolean;
  readonly slotsUsed: boolean;
  /** True if a run that could have started waits for a slot. */
  readonly slotsLacked: boolean;
  /** Why a run that was asked for from outside was not made. */
  readonly refusal: Refusal | null;
}

/** Why a run was not made: a code, and words. */
export interface Refusal {
  readonly reason: string;
  readonly error: string;
}

export interface RunEnd {
  readonly status: RunStatus;
  readonly reason?: string;
  readonly error?: string;
  /** True when a final report ends it. */
  readonly final?: true;
  /** True when whoever waits has asked for the end: the parent is told by a silent line, which causes no inference. */
  readonly quiet?: true;
}

/** Things to look at before the step is over. */
export type Task =
  /** The calls of the agent's newest reply may all be answered: go on with its turn. */
  | { readonly do: "iterate"; readonly agent: AgentNumber }
  /** The agent may be idle: start a turn, end its run, or wait. */
  | { readonly do: "settle"; readonly agent: AgentNumber }
  | { readonly do: "end-run"; readonly run: RunNumber; readonly end: RunEnd }
  /** The agent has used up what it was given to answer a nudge: its turn is over. */
  | { readonly do: "end-turn"; readonly agent: AgentNumber }
  /** The agent's turn cannot go on. */
  | { readonly do: "fail-turn"; readonly agent: AgentNumber; readonly end: RunEnd }
  /** Room in the budget may have become free for calls that wait for it. */
  | { readonly do: "spend" }
  /** A slot may be free for a queued child of the agent. Looked at when nothing else is left: what else a step decides may let slots go, or take them. */
  | { readonly do: "fill"; readonly agent: AgentNumber };

/** Sees every fact right after it was applied: the contexts are folded this way. */
export type Observer = (fact: Fact, place: Place, textAt: (index: TextIndex) => Json | undefined) => void;

export interface Deciding {
  readonly state: TreeState;
  readonly settings: Settings;
  readonly seq: number;
  readonly at: number;
  readonly texts: readonly Json[];
  /** Applies the input itself. */
  accept(): void;
  emit(fact: Decided): void;
  effect(effect: Effect): void;
  /** The next number within the step: the key of an effect or a message. */
  number(): number;
  key(number: number): StepKey;
  uuid(): string;
  /** From 0 up to, but not, 1: from the step's seed, and the same whenever it is asked for in one step. */
  fraction(): number;
  text(value: Json): TextIndex;
  later(task: Task): void;
  /** A run that was asked for from outside is not made: it is told as a refused delegation. */
  refused(refusal: Refusal): void;
  /** True if a run of this agent may start: one of the process's slots is to be had, or a run that held one has let it go in this step. */
  slotFree(agent: AgentNumber): boolean;
}

export interface DecidingWork extends Deciding {
  next(): Task | undefined;
  decision(late: string | null): Decision;
}

export function deciding(
  state: TreeState,
  settings: Settings,
  step: Step,
  observe: Observer | undefined,
): DecidingWork {
  return new StepWork(state, settings, step, observe);
}

/** A class, because a dozen closures for each step of each tree are what a step would be made of. */
class StepWork implements DecidingWork {
  readonly state: TreeState;
  readonly settings: Settings;
  readonly seq: number;
  readonly at: number;
  readonly texts: readonly Json[];
  private readonly step: Step;
  private readonly place: Place;
  private readonly observe: Observer | undefined;
  private readonly textAt: (index: TextIndex) => Json | undefined;
  private readonly running: number;
  private readonly events: Decided[] = [];
  private readonly effects: Effect[] = [];
  private readonly added: Json[] = [];
  private readonly agenda: Task[] = [];
  /** Agents to look at for children that can start, and those of which one could not, for want of a slot. */
  private readonly filling = new Set<AgentNumber>();
  private readonly lacking = new Set<AgentNumber>();
  private taken = 0;
  private numbers = 0;
  private uuids = 0;
  private seedUsed = false;
  private slotsUsed = false;
  private refusal: Refusal | null = null;

  constructor(state: TreeState, settings: Settings, step: Step, observe: Observer | undefined) {
    const { added } = this;
    const { texts } = step;
    this.state = state;
    this.settings = settings;
    this.seq = state.seq + 1;
    this.at = step.at;
    this.texts = texts;
    this.step = step;
    this.place = { seq: this.seq, at: step.at };
    this.observe = observe;
    this.textAt = (index) => (index < texts.length ? texts[index] : added[index - texts.length]);
    this.running = state.running;
  }

  accept(): void {
    apply(this.state, this.step.input, this.place);
    this.observe?.(this.step.input, this.place, this.textAt);
  }

  emit(fact: Decided): void {
    this.events.push(fact);
    apply(this.state, fact, this.place);
    this.observe?.(fact, this.place, this.textAt);
  }

  effect(effect: Effect): void {
    this.effects.push(effect);
  }

  number(): number {
    this.numbers += 1;
    return this.numbers;
  }

  key(number: number): StepKey {
    return stepKey(this.seq, number);
  }

  uuid(): string {
    this.uuids += 1;
    this.seedUsed = true;
    return uuidOf(this.at, this.step.seed, this.uuids - 1);
  }

  fraction(): number {
    this.seedUsed = true;
    return fractionOf(this.step.seed);
  }

  text(value: Json): TextIndex {
    this.added.push(value);
    return this.texts.length + this.added.length - 1;
  }

  later(task: Task): void {
    if (task.do === "fill") this.filling.add(task.agent);
    else this.agenda.push(task);
  }

  refused(refusal: Refusal): void {
    this.refusal = refusal;
  }

  slotFree(agent: AgentNumber): boolean {
    const free = this.slots();
    if (!free) this.lacking.add(agent);
    return free;
  }

  private slots(): boolean {
    const left = this.running - this.state.running;
    const free = left + this.step.slots > 0;
    // Replay knows of no slots but those that are recorded.
    if (free !== left > 0) this.slotsUsed = true;
    return free;
  }

  next(): Task | undefined {
    const task = this.agenda[this.taken];
    if (task !== undefined) {
      this.taken += 1;
      return task;
    }
    if (this.filling.size === 0 && this.lacking.size > 0 && this.slots()) {
      for (const agent of this.lacking) this.filling.add(agent);
      this.lacking.clear();
    }
    for (const agent of this.filling) {
      this.filling.delete(agent);
      return { do: "fill", agent };
    }
    return undefined;
  }

  decision(late: string | null): Decision {
    const { events, effects, added, seedUsed, slotsUsed, refusal } = this;
    return { late, events, effects, texts: added, seedUsed, slotsUsed, slotsLacked: this.lacking.size > 0, refusal };
  }
}
