/**
 * The work of one step. Deciding changes the state as it goes: a fact is applied when it is decided, so that the next decision of the same step sees
 * it. What is left to do stands on a list of tasks. That keeps the parts of the kernel from calling each other in circles, and the stack
 * from growing with the tree.
 */

import { apply } from "./apply.ts";
import type { Effect } from "./effect.ts";
import type { Decided, Fact, Stamp, TextIndex } from "./event.ts";
import type { TreeState } from "./state.ts";
import type { Deciding, Decision, Refusal, Step, StepContexts, Task } from "./step.ts";
import { type AgentNumber, fractionOf, stepKey, type StepKey, uuidOf } from "./values/ids.ts";
import type { Json } from "./values/json.ts";
import type { Settings } from "./values/limits.ts";

export class StepWork implements Deciding {
  readonly state: TreeState;
  readonly settings: Settings;
  readonly contexts: StepContexts;
  readonly at: number;
  readonly texts: readonly Json[];
  private readonly step: Step;
  private readonly stamp: Stamp;
  private readonly running: number;
  private readonly events: Decided[] = [];
  private readonly effects: Effect[] = [];
  private readonly added: Json[] = [];
  private readonly tasks: Task[] = [];
  /** Agents whose queued children may start, and agents of which one could not for lack of a slot. */
  private readonly filling = new Set<AgentNumber>();
  private readonly lacking = new Set<AgentNumber>();
  private tasksDone = 0;
  private numbers = 0;
  private uuids = 0;
  private seedUsed = false;
  private slotsUsed = false;
  private refusal: Refusal | null = null;

  constructor(state: TreeState, settings: Settings, step: Step, contexts: StepContexts) {
    this.state = state;
    this.settings = settings;
    this.contexts = contexts;
    this.at = step.at;
    this.texts = step.texts;
    this.step = step;
    this.stamp = { seq: state.seq + 1, at: step.at };
    this.running = state.running;
  }

  accept(): void {
    this.take(this.step.input);
  }

  emit(fact: Decided): void {
    this.events.push(fact);
    this.take(fact);
  }

  private take(fact: Fact): void {
    apply(this.state, fact, this.stamp);
    this.contexts.observe(fact, this.stamp, this.textAt);
  }

  private readonly textAt = (index: TextIndex): Json | undefined =>
    index < this.texts.length ? this.texts[index] : this.added[index - this.texts.length];

  effect(effect: Effect): void {
    this.effects.push(effect);
  }

  number(): number {
    this.numbers += 1;
    return this.numbers;
  }

  key(number: number): StepKey {
    return stepKey(this.stamp.seq, number);
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
    if (task.do === "start-queued") this.filling.add(task.agent);
    else this.tasks.push(task);
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
    const released = this.running - this.state.running;
    const free = released + this.step.slots > 0;
    // Replay knows only the slots that are recorded.
    if (free !== released > 0) this.slotsUsed = true;
    return free;
  }

  next(): Task | undefined {
    const task = this.tasks[this.tasksDone];
    if (task !== undefined) {
      this.tasksDone += 1;
      return task;
    }
    if (this.filling.size === 0 && this.lacking.size > 0 && this.slots()) {
      for (const agent of this.lacking) this.filling.add(agent);
      this.lacking.clear();
    }
    for (const agent of this.filling) {
      this.filling.delete(agent);
      return { do: "start-queued", agent };
    }
    return undefined;
  }

  decision(rejected: string | null): Decision {
    const { events, effects, added: texts, seedUsed, slotsUsed, refusal } = this;
    return { rejected, events, effects, texts, seedUsed, slotsUsed, slotsLacked: this.lacking.size > 0, refusal };
  }
}
