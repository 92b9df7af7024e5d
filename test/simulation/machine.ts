/**
 * The process of a simulation, life after life: opens the real store, makes a real Errand on it, dies where the plan
 * says, and comes up again on what it left. Nothing of an earlier life reaches a later one but through the store.
 */

import { createErrand, type Errand, ErrandError, type PermissionRule, type Store, type Tool } from "../../src/index.ts";
import type { ProcessRights } from "../../src/core/permissions/process-rights.ts";
import { errorText, passesByItself } from "../../src/errors.ts";
import { type CallsUnderWay, createCallsUnderWay, type OnStray } from "./calls.ts";
import { createFaultyStore, type Fault } from "./faulty-store.ts";
import { judge } from "./invariants/question-facts.ts";
import { demand, Violation } from "./invariants/violation.ts";
import { createSimulatedModels, type SimulatedModels } from "./models.ts";
import type { Disk } from "./place.ts";
import { commitOf, type Power, type Write } from "./power.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";
import type { Plan } from "./plan.ts";
import type { Random } from "./random.ts";
import { createSimulatedTools, type SimulatedTools } from "./tools.ts";
import type { Locks } from "./troubles/locks.ts";
import type { Watch } from "./watch.ts";

export interface Machine {
  /** The running Errand; null while the process is down or comes up. */
  readonly errand: Errand | null;
  readonly life: Life | null;
  readonly store: Store | null;
  readonly under: CallsUnderWay;
  /** The last true time at which the process was down, or its disk full. */
  troubledAt: number;
  readonly lives: number;
  start(): void;
  die(): void;
  /** A process that was stopped goes on for a while, though another has taken its place. */
  wakeStopped(): Promise<void>;
  /** A process that was stopped wakes no more. */
  forgetStopped(): void;
  /** Closes the process in order, and says what it left behind; null if it went down before it was closed. */
  close(withinMs: number): Promise<{ readonly timers: number; readonly calls: number } | null>;
}

interface MachineParts {
  readonly disk: Disk;
  readonly plan: Plan;
  readonly world: SimulatedWorld;
  readonly watch: Watch;
  readonly models: SimulatedModels;
  readonly tools: SimulatedTools;
  readonly fault: () => Fault | null;
  readonly count: (what: string) => void;
  /** The process is up: its trees are taken up again. */
  readonly onUp: (errand: Errand, life: Life) => void;
  /** The process is down, and nobody told it to be. */
  readonly onDown: () => void;
  /**
   * Asked when it goes down: a source of its own if it is only stopped, and will wake when another has taken its place.
   */
  readonly stops: () => Random | null;
  readonly onStray: OnStray;
  readonly power: Power;
  /** Asked when it goes down: a source of its own if it was the power that went. */
  readonly cuts: () => Random | null;
  /** Waits until the disk has what was written. False: it refuses. */
  readonly waitForDisk: (life: Life) => Promise<boolean>;
  /** What was committed is not durable yet. */
  readonly onTrailing: () => void;
  /** Asked before every call of the store: why it is refused, or what it has to wait for. */
  readonly locked: Locks["locked"];
  /** Told of every call of the store that was let in. */
  readonly onCall: (name: string) => void;
  /** True for a failure or a notice that the seed was meant to cause. */
  readonly foreseen: (error: ErrandError) => boolean;
}

interface Stopped {
  readonly life: Life;
  readonly store: Store;
}

/** How much a process that was replaced may do before somebody ends it. */
const STRAY_HAPPENINGS = 12;

/** Longer than any simulation lasts: old trees are looked for, and none is found. */
const RETENTION_DAYS = 30;

/** How long after a start that was refused the next one comes. */
const START_AGAIN_MS = 5_000;

const STORE_GIVES_UP: ReadonlySet<string> = new Set(["store-failed", "commit-unknown"]);

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export function createMachine(parts: MachineParts): Machine {
  const { world, watch, plan, count } = parts;
  const under = createCallsUnderWay();
  let stopped: Stopped | null = null;

  function gone(): void {
    machine.life?.end();
    under.open.clear();
    machine.life = null;
    machine.store = null;
    machine.errand = null;
  }

  function die(): void {
    if (machine.life === null) return;
    const random = parts.cuts();
    const left = random === null ? null : parts.power.cut(random);
    if (left !== null) losePower(left);
    // All that the operating system does for a dead process: its connection and its lock go.
    else if (!stop()) void machine.store?.close();
    gone();
    machine.troubledAt = world.now;
    parts.onDown();
  }

  /**
   * Takes back what was not durable, and with it all that the onlooker has seen of it. No process outlives it, a
   * stopped one neither.
   */
  function losePower(left: readonly Write[]): void {
    count("power cut");
    machine.forgetStopped();
    watch.rewind(new Set(left.map(commitOf).filter((commit) => commit !== null)));
    Promise.resolve(machine.store?.close())
      .then(() => parts.disk.restore(left))
      .catch((error: unknown) =>
        watch.check(() => {
          throw new Violation("I10", `what was durable cannot be written again: ${String(error)}`);
        }),
      );
  }

  /** True if the process is only stopped, and somebody took its lock away. */
  function stop(): boolean {
    const { life, store } = machine;
    const random = stopped === null ? parts.stops() : null;
    if (life === null || store === null || random === null || !parts.disk.unlock()) return false;
    count("stopped");
    life.stop(random);
    stopped = { life, store };
    return true;
  }

  /** I11: whatever a replaced process writes is refused. */
  function strayWrite(what: string, error: unknown): void {
    if (error instanceof ErrandError && error.code === "store-owned") return count("old writer refused");
    // It was stopped while it closed in order, and has come to the end of that.
    if (error instanceof ErrandError && error.code === "store-closed") return;
    parts.onStray(error instanceof Error ? `fails in its own way to ${what}: ${error.message}` : `writes: ${what}`);
  }

  function failed(error: ErrandError): void {
    // A store that is broken, or silent again and again: what nobody catches ends the process.
    if (STORE_GIVES_UP.has(error.code) && error.message.includes("simulation")) {
      count("stopped by the store");
      return die();
    }
    report(error);
  }

  /** A failure or a notice that the seed was not meant to cause. */
  function report(error: ErrandError): void {
    if (parts.foreseen(error)) return;
    watch.check(() => {
      throw new Violation("failure", `${error.code}: ${error.message} (${errorText(error.cause)})`);
    });
  }

  /** The process could not come up. A locked or full store is tried again, as whoever starts processes does. */
  async function notUp(own: Life, error: unknown): Promise<void> {
    const { store } = machine;
    if (own.ended || store === null) return;
    if (!passesByItself(error)) {
      watch.check(() => {
        throw new Violation("I10", `the process does not come up: ${String(error)}`);
      });
      return;
    }
    count("start refused");
    const left = own.waiting();
    const open = await store.anchor().then(
      () => true,
      () => false,
    );
    watch.check(() => {
      demand("I27", !open, () => "a process that did not come up left its store open");
      demand("I27", left === 0, () => `a process that did not come up left ${left} timers`);
    });
    if (own.ended) return;
    gone();
    machine.troubledAt = Math.max(machine.troubledAt, world.now);
    world.at(world.now + START_AGAIN_MS, () => machine.start());
  }

  /** I18: no process runs a tool that it denies, whatever another one had decided before. */
  function permitted(tool: Tool, permissions: readonly PermissionRule[] | undefined): Tool {
    if (permissions === undefined || judge([permissions], tool.name) !== "deny") return tool;
    return {
      ...tool,
      run() {
        watch.check(() => {
          throw new Violation("I18", `the process runs ${tool.name}, which it denies`);
        });
        return Promise.resolve({ text: "", failed: true });
      },
    };
  }

  async function open(own: Life): Promise<Errand> {
    const given = plan.rights[(machine.lives - 1) % plan.rights.length];
    const permissions = given?.permissions;
    const tools = createSimulatedTools(parts.tools, under, own)
      .filter((tool) => tool.name !== "strike" || given?.strikes !== false)
      .map((tool) => permitted(tool, permissions));
    const rights: ProcessRights = {
      tools: tools.map((tool) => tool.name),
      ...(permissions === undefined ? {} : { permissions }),
      ...(given?.asks === true ? { asks: true } : {}),
    };
    /** When the newest commit was begun: what it says was decided then, however long the store took. */
    let begun = world.now;
    const raw = parts.disk.own();
    machine.store = raw;
    // The first write records the new owner. It waits for the disk, with all earlier writes, also refused ones.
    parts.power.sync()();
    const walled = createFaultyStore(raw, own, {
      fault() {
        const fault = parts.fault();
        if (fault !== null) count(`fault ${fault}`);
        if (fault !== null) machine.troubledAt = world.now + 1_000;
        return fault;
      },
      onWritten: parts.power.wrote,
      sync: parts.power.sync,
      waitForDisk: () => parts.waitForDisk(own),
      onCommitted(commit) {
        watch.onCommitted(commit, begun, world.boots > 1 ? null : machine.troubledAt, rights);
        if (commit.deferFsync === true) parts.onTrailing();
      },
      locked(name, commit) {
        if (commit !== null) begun = world.now;
        return parts.locked(name, commit);
      },
      onCall: parts.onCall,
      die,
      onStrayWrite: strayWrite,
    });
    return createErrand({
      store: walled,
      world: own,
      models: [createSimulatedModels(parts.models, under, own)],
      tools,
      agents: plan.agents,
      skills: plan.skills,
      ...(permissions === undefined ? {} : { permissions }),
      onModelCallLimit: given?.asks === true ? "ask" : "end",
      model: "sim/child",
      limits: plan.limits,
      slots: plan.slots,
      retentionDays: RETENTION_DAYS,
      workspace: "/",
      onFailure: (error) => (own.ended ? undefined : failed(error)),
      onNotice: (notice) => (own.ended ? undefined : report(notice)),
    });
  }

  const machine: Mutable<Machine> = {
    under,
    errand: null,
    life: null,
    store: null,
    troubledAt: -1,
    lives: 0,
    start() {
      machine.lives += 1;
      machine.troubledAt = Math.max(machine.troubledAt, world.now);
      const own = world.newLife();
      machine.life = own;
      open(own).then(
        (up) => {
          if (own.ended) return;
          machine.errand = up;
          machine.troubledAt = Math.max(machine.troubledAt, world.now);
          parts.onUp(up, own);
        },
        (error: unknown) => notUp(own, error),
      );
    },
    die,
    async wakeStopped() {
      if (stopped === null) return;
      const { life, store } = stopped;
      stopped = null;
      await life.wake(STRAY_HAPPENINGS);
      await store.commit({ trees: [], acknowledged: [] }).then(
        () => strayWrite("commit", null),
        (error: unknown) => strayWrite("commit", error),
      );
      await store.close();
    },
    forgetStopped() {
      void stopped?.store.close();
      stopped = null;
    },
    async close(withinMs) {
      const closing = machine.life;
      // Deadlines that come while it closes are kept by whoever comes next.
      machine.troubledAt = Math.max(machine.troubledAt, world.now + withinMs);
      await machine.errand?.close({ withinMs }).catch(() => count("close without room"));
      if (closing === null || closing !== machine.life) return null;
      const left = { timers: closing.waiting(), calls: under.open.size };
      gone();
      return left;
    },
  };
  return machine;
}
