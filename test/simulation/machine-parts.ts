/** What the process of a simulation is made of, and what others do with it. */

import type { BeforeDelegation, Errand, ErrandError, Store } from "../../src/index.ts";
import type { CallsUnderWay, OnStray } from "./calls.ts";
import type { Fault } from "./faulty-store.ts";
import type { SimulatedModels } from "./models.ts";
import type { OutsideChildren } from "./outside-children.ts";
import type { Disk } from "./place.ts";
import type { Plan } from "./plan.ts";
import type { Power } from "./power.ts";
import type { Random } from "./random.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";
import type { SimulatedTools } from "./tools.ts";
import type { Locks } from "./troubles/locks.ts";
import type { Watch } from "./watch.ts";

export interface Machine {
  /** The running Errand; null while the process is down or starting. */
  readonly errand: Errand | null;
  readonly life: Life | null;
  readonly store: Store | null;
  readonly under: CallsUnderWay;
  /** The last true time at which the process was down or its disk full. */
  troubledAt: number;
  readonly lives: number;
  start(): void;
  die(): void;
  /** Lets the paused process continue for a while, although another has replaced it. */
  wakeStopped(): Promise<void>;
  /** The paused process never continues. */
  forgetStopped(): void;
  /** Closes the process cleanly and returns what it left open; null if it died before it was closed. */
  close(withinMs: number): Promise<{ readonly timers: number; readonly calls: number } | null>;
}

export interface MachineParts {
  readonly disk: Disk;
  readonly plan: Plan;
  readonly world: SimulatedWorld;
  readonly watch: Watch;
  readonly models: SimulatedModels;
  readonly tools: SimulatedTools;
  readonly children: () => OutsideChildren;
  /** The hook of this life's program, if it has one. */
  readonly hook: (life: Life) => BeforeDelegation | undefined;
  readonly fault: () => Fault | null;
  readonly count: (what: string) => void;
  /** The process has started and continues its trees. */
  readonly onUp: (errand: Errand, life: Life) => void;
  /** The process has died. */
  readonly onDown: () => void;
  /**
   * Asked when it dies: a source of randomness if it is only paused and continues after its replacement has started.
   */
  readonly stops: () => Random | null;
  readonly onStray: OnStray;
  readonly power: Power;
  /** Asked when it dies: a source of randomness if the machine lost its power. */
  readonly cuts: () => Random | null;
  /** Waits until the disk has all writes. Resolves with false if it refuses. */
  readonly waitForDisk: (life: Life) => Promise<boolean>;
  /** Called after a commit that is not durable yet. */
  readonly onDeferred: () => void;
  /** Asked before every call of the store: the error if it is refused, or a promise if it has to wait. */
  readonly locked: Locks["locked"];
  /** Called for every call of the store that is not refused. */
  readonly onCall: (name: string) => void;
  /** True for a failure or a notice that this seed causes on purpose. */
  readonly foreseen: (error: ErrandError) => boolean;
}
