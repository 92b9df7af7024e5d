/**
 * The process of a simulation, life after life: it opens the real store, creates a real Errand on it, dies where the
 * plan says, and starts again on the same store. A later life gets nothing from an earlier one except through the
 * store.
 */

import { createErrand, type Errand, ErrandError, type Store } from "../../src/index.ts";
import { errorText, passesByItself } from "../../src/errors.ts";
import { createCallsUnderWay } from "./calls.ts";
import { createFaultyStore } from "./faulty-store.ts";
import { demand, Violation } from "./invariants/violation.ts";
import { rightsOf, toolsOf } from "./life-rights.ts";
import type { Machine, MachineParts } from "./machine-parts.ts";
import { createSimulatedModels } from "./models.ts";
import { commitOf, type Write } from "./power.ts";
import type { Life } from "./simulated-world.ts";
import { createSimulatedTools } from "./tools.ts";

interface Stopped {
  readonly life: Life;
  readonly store: Store;
}

/** How many happenings a replaced process has before it is ended. */
const STRAY_HAPPENINGS = 12;

/** Longer than any simulation: the sweep for old trees finds none. */
const RETENTION_DAYS = 30;

/** The time between a refused start and the next one. */
const START_AGAIN_MS = 5_000;

const STORE_GIVES_UP: ReadonlySet<string> = new Set(["store-failed", "commit-unknown"]);

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export function createMachine(parts: MachineParts): Machine {
  const { world, watch, plan, count } = parts;
  const under = createCallsUnderWay();
  let stopped: Stopped | null = null;

  function gone(): void {
    machine.life?.end();
    if (machine.life !== null) parts.children().left(machine.life);
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
    // The operating system closes a dead process's connection and releases its lock.
    else if (!stop()) void machine.store?.close();
    gone();
    machine.troubledAt = world.now;
    parts.onDown();
  }

  /**
   * Removes the writes that were not durable, and what the observer has seen of them. No process survives, not even a
   * paused one.
   */
  function losePower(left: readonly Write[]): void {
    count("power cut");
    parts.children().killAll();
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

  /** True if the process is only paused and its lock was deleted. */
  function stop(): boolean {
    const { life, store } = machine;
    const random = stopped === null ? parts.stops() : null;
    if (life === null || store === null || random === null || !parts.disk.unlock()) return false;
    count("stopped");
    life.stop(random);
    stopped = { life, store };
    return true;
  }

  /** I11: every write of a replaced process is refused. */
  function strayWrite(what: string, error: unknown): void {
    if (error instanceof ErrandError && error.code === "store-owned") return count("old writer refused");
    // It was paused while it closed, and has finished closing.
    if (error instanceof ErrandError && error.code === "store-closed") return;
    parts.onStray(error instanceof Error ? `fails in its own way to ${what}: ${error.message}` : `writes: ${what}`);
  }

  function failed(error: ErrandError): void {
    // The store failed for good, which ends a real process.
    if (STORE_GIVES_UP.has(error.code) && error.message.includes("simulation")) {
      count("stopped by the store");
      return die();
    }
    report(error);
  }

  /** Reports a failure or a notice unless the seed causes it on purpose. */
  function report(error: ErrandError): void {
    if (parts.foreseen(error)) return;
    watch.check(() => {
      throw new Violation("failure", `${error.code}: ${error.message} (${errorText(error.cause)})`);
    });
  }

  /** The process could not start. After a locked or full store it is started again, as a supervisor would do. */
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

  async function open(own: Life): Promise<Errand> {
    const given = plan.rights[(machine.lives - 1) % plan.rights.length];
    const permissions = given?.permissions;
    const tools = toolsOf(given, createSimulatedTools(parts.tools, under, own), watch);
    const runners = plan.outside ? parts.children().runners(own, under) : [];
    const rights = rightsOf(given, tools, runners);
    /** When the newest commit was begun. Its content was decided then, however long the store took. */
    let begun = world.now;
    const raw = parts.disk.own();
    machine.store = raw;
    // The first write records the new owner. It makes all earlier writes durable too, even refused ones.
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
        if (commit.deferFsync === true) parts.onDeferred();
      },
      locked(name, commit) {
        if (commit !== null) begun = world.now;
        return parts.locked(name, commit);
      },
      onCall: parts.onCall,
      die,
      onStrayWrite: strayWrite,
    });
    const beforeDelegation = parts.hook(own);
    return createErrand({
      store: walled,
      world: own,
      models: [createSimulatedModels(parts.models, under, own)],
      tools,
      runners,
      agents: plan.agents,
      skills: plan.skills,
      ...(permissions === undefined ? {} : { permissions }),
      onModelCallLimit: given?.asks === true ? "ask" : "end",
      model: "sim/child",
      limits: plan.limits,
      slots: plan.slots,
      ...(beforeDelegation === undefined ? {} : { beforeDelegation }),
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
      // Deadlines that expire while it closes are handled by the next process.
      machine.troubledAt = Math.max(machine.troubledAt, world.now + withinMs);
      await machine.errand?.close({ withinMs }).catch(() => count("close without room"));
      if (closing === null || closing !== machine.life) return null;
      const left = { timers: closing.waiting(), calls: under.open.size + parts.children().alive(closing) };
      gone();
      return left;
    },
  };
  return machine;
}
