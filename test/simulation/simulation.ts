/**
 * One seed from start to end: makes a plan, runs until nothing is left to happen, checks the system at rest, proves the
 * journals by replay, and closes. The result is a plain record; a violated invariant is part of it, not an exception.
 */

import type { Store } from "../../src/index.ts";
import type { ErrorCode } from "../../src/errors.ts";
import { FAULTS } from "./faulty-store.ts";
import { createIdleSlots } from "./invariants/idle-slots.ts";
import { checkAtRest, checkShutdown, heal, isOwed, runToRest } from "./final-checks.ts";
import { checkCall, checkStrike } from "./invariants/outside-checks.ts";
import { checkOverdue, checkRate, createProgress } from "./invariants/progress.ts";
import { checkDelegated } from "./invariants/delegated-tasks.ts";
import { demand, Violation } from "./invariants/violation.ts";
import { createAnswers } from "./answers.ts";
import { createDelegationHook } from "./delegation-hook.ts";
import { createMachine } from "./machine.ts";
import type { Machine } from "./machine-parts.ts";
import { createOutsideChildren } from "./outside-children.ts";
import { createOutages } from "./outages.ts";
import { createOutside } from "./outside.ts";
import { createPeople } from "./people.ts";
import type { Disk } from "./place.ts";
import { planOf } from "./plan.ts";
import { createPower, withDurableMail } from "./power.ts";
import { createRandom } from "./random.ts";
import { createReaders } from "./readers.ts";
import { scheduleHappenings } from "./schedule.ts";
import type { SimulationResult } from "./simulation-result.ts";
import { createSimulatedWorld, type Life } from "./simulated-world.ts";
import { watchUnhandled } from "./troubles/unhandled.ts";
import { createDuties } from "./troubles/duties.ts";
import { checkHeard, type Heard, listenBadly } from "./troubles/listeners.ts";
import { createLocks } from "./troubles/locks.ts";
import { drawTroubles, type Trouble } from "./troubles/troubles.ts";
import { agentById } from "./invariants/watched-tree.ts";
import { CALM_MS, createWatch } from "./watch.ts";

/** Percentage of dying processes that are only paused, and the most happenings before they continue. */
const STOPPED = 25;
const MOST_SLEEP = 20;
/** Percentage of trees that are opened with their first message. */
const SPEAKING = 25;
/** Percentage of seeds whose program has a `beforeDelegation`. */
const HOOKED = 30;
/** One seed in this many replays every journal of the store once more. */
const REPLAY_EVERY = 25;
/** Notices that a process may report in any seed: channels fail, and disks are full. */
const NOTICES: ReadonlySet<string> = new Set<ErrorCode>(["store-full", "channel-blocked"]);
const DOWNTIMES = [0, 0, 100, 3_000, 100_000] as const;

/** `forced`: the seed has exactly these troubles instead of drawing them. */
export async function simulate(seed: number, disk: Disk, forced?: readonly Trouble[]): Promise<SimulationResult> {
  const random = createRandom(seed);
  const plan = planOf(random.fork());
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const world = createSimulatedWorld(random.fork());
  const outside = createOutside();
  const watch = createWatch(
    plan.slots,
    outside,
    count,
    (tree, key) => answers.asked(tree, key),
    () => locks.poisoned,
  );

  let tokens = 0;
  const token = (agent: string): string => {
    tokens += 1;
    outside.authors.set(`tk${tokens}k`, agent);
    return `tk${tokens}k`;
  };
  let second: Store | null = null;
  const power = createPower();
  const idleSlots = createIdleSlots(plan.slots);
  const secondHandle = (): Store => (second ??= withDurableMail(disk.beside(), power));
  const onStray = (what: string): void =>
    watch.check(() => {
      throw new Violation("I11", `a process that was replaced ${what}`);
    });
  const people = createPeople({
    random: random.fork(),
    world,
    watch,
    outside,
    plan,
    token,
    count,
    secondHandle,
    onStray,
    startsSpeaking: () => starts.percent(SPEAKING),
    troubles: () => troubles,
    onAsked(tree, what, life) {
      let taken = false;
      const done = (): boolean => taken || life.ended || tree === locks.poisoned;
      progress.owe({ invariant: "others", what, since: world.now, done });
      return () => {
        taken = true;
      };
    },
  });
  /** I30: the data with which its people opened a tree reach all of its tools. */
  const onData = (tree: string, data: unknown): void =>
    watch.check(() => {
      const root = watch.trees.get(tree)?.definition;
      demand("I30", JSON.stringify(data) === JSON.stringify({ root }), () => `${tree} has ${JSON.stringify(data)}`);
    });
  const onAnswered = (agent: string, life: Life): void => {
    const tree = [...watch.trees.values()].find((one) => agentById(one, agent) !== undefined);
    if (tree === undefined) return;
    const rows = tree.rows.length;
    const done = (): boolean => life.ended || tree.id === locks.poisoned || tree.rows.length > rows;
    progress.owe({ invariant: "others", what: `a row about what came back for ${agent}`, since: world.now, done });
  };
  const chance = random.fork();
  let faults = plan.faults;
  let ending = false;

  const adapters = { world, count, token, onStray, onAnswered, troubles: () => troubles };
  const machine: Machine = createMachine({
    disk,
    plan,
    world,
    watch,
    models: {
      ...adapters,
      random: random.fork(),
      budget: plan.budget,
      outside: plan.outside,
      window: plan.window,
      onRequest: (request, messages, situation) => watch.onRequest(request, messages, situation),
      check: watch.check,
    },
    tools: {
      ...adapters,
      random: random.fork(),
      onRun(name, called) {
        if (name === "strike") outside.strikes.set(called, (outside.strikes.get(called) ?? 0) + 1);
        watch.check(() => checkStrike(outside, called));
        return outside.authors.get(called) ?? "";
      },
      onData,
    },
    hook: (life) =>
      hooked ? createDelegationHook({ random: hooks, world, outside, count, onData, onWait }, life) : undefined,
    children: () => children,
    fault() {
      if (ending || faults === 0 || !chance.percent(plan.faultShare)) return null;
      faults -= 1;
      return chance.pick(FAULTS);
    },
    count,
    onUp(errand, life) {
      people.comeBack(errand, life, ending);
      readers.comeBack(errand);
      heard.push(...listenBadly(errand, troubles, count));
      sleep = strays.below(MOST_SLEEP);
    },
    stops: () => (strays.percent(STOPPED) ? strays.fork() : null),
    onStray,
    power,
    cuts: () => outages.cut(),
    waitForDisk: (life) => outages.waitForDisk(life),
    onDeferred: () => outages.onDeferred(),
    locked: (name, commit) => locks.locked(name, commit),
    onCall: (name) => duties.called(name),
    foreseen: ({ code }) =>
      code === "tree-quarantined" ? locks.poisoned !== null : troubles.foreseen.has(code) || NOTICES.has(code),
    onDown() {
      count("crashed");
      locks.lift();
      if ([...watch.trees.values()].some((tree) => tree.questions.size > 0)) count("parked over a crash");
      readers.leave();
      world.at(world.now + (ending ? 0 : chance.pick(DOWNTIMES)), () => {
        if (chance.percent(10)) {
          count("rebooted");
          world.reboot();
          children.killAll();
          machine.forgetStopped();
        }
        machine.start();
      });
    },
  });

  const answers = createAnswers({ random: random.fork(), world, watch, count, secondHandle, machine: () => machine });
  // Forked after all other sources, so that their draws do not change the others.
  const strays = random.fork();
  const reading = random.fork();
  const starts = random.fork();
  const outages = createOutages({
    random: random.fork(),
    world,
    power,
    count,
    isEnding: () => ending,
    isOver: () => over,
    die: () => machine.die(),
  });
  const troubles = drawTroubles(random.fork(), forced);
  const hooks = random.fork();
  const hooked = hooks.percent(HOOKED);
  const onWait = (until: number): void => void (machine.troubledAt = Math.max(machine.troubledAt, until));
  const progress = createProgress();
  const duties = createDuties({
    world,
    watch,
    progress,
    secondHandle,
    random: troubles.random,
    poisoned: () => locks.poisoned,
    machine: () => machine,
  });
  const locks = createLocks(troubles, world, count, (refusals, milliseconds) => {
    watch.check(() => checkRate(refusals, milliseconds));
    duties.probe();
  });
  const children = createOutsideChildren({ ...adapters, random: random.fork(), watch });
  const heard: Heard[] = [];
  world.onAdvance = (to) => watch.check(() => advance(to));
  const readers = createReaders(reading, outages.slowDisk, watch, count);
  let over = false;
  let sleep = 0;

  const unhandled = watchUnhandled(watch);
  machine.start();
  scheduleHappenings({ world, machine, people, plan, chance, troubles, locks, count, isEnding: () => ending });
  await runToRest(world, watch, between);
  ending = true;
  troubles.healed = true;
  people.healed = true;
  answers.healed = true;
  const comeBack = (): void => {
    if (machine.errand !== null && machine.life !== null) people.comeBack(machine.errand, machine.life, true);
    answers.answerAll();
  };
  let once = chance.percent(30);
  const owing = (): boolean => {
    const more = once || isOwed(watch, outside);
    once = false;
    return more;
  };
  if (watch.failure === null) await heal(machine, world, watch, comeBack, owing, between);
  if (watch.failure === null && machine.errand !== null) {
    duties.probe();
    duties.probeSweep();
    await runToRest(world, watch, between);
  }
  await machine.wakeStopped();
  // A reader may just have taken an event; the next one arrives a few promises later.
  do await world.drain();
  while (watch.failure === null && readers.take());
  for (const one of heard) watch.check(() => checkHeard(one));
  for (const tree of hooked ? watch.trees.values() : []) watch.check(() => checkDelegated(tree, outside.allowed));
  const poisoned = locks.poisoned;
  if (watch.failure === null) await checkAtRest(machine, watch, outside, readers, poisoned, seed % REPLAY_EVERY === 0);
  if (watch.failure === null) watch.check(() => children.checkAtRest());
  over = true;
  await checkShutdown(machine, world, watch, outside, poisoned);
  await (second as Store | null)?.close();
  machine.forgetStopped();
  await unhandled();
  return {
    seed,
    failure: watch.failure === null ? null : { invariant: watch.failure.invariant, message: watch.failure.message },
    commits: watch.commits,
    rows: [...watch.trees.values()].reduce((sum, tree) => sum + tree.rows.length, 0),
    lives: machine.lives,
    digest: watch.digest(),
    counts,
    watch,
    outside,
  };

  /** Nothing is ready, so nothing that is owed by now can come before `to`. */
  function advance(to: number): void {
    if (machine.errand === null) return progress.look(to, null);
    const calmSince = Math.max(machine.troubledAt, 0);
    progress.look(to, calmSince);
    if (world.boots > 1) return;
    for (const tree of watch.trees.values()) if (tree.id !== locks.poisoned) checkOverdue(tree, to, calmSince);
  }

  /** Runs between two happenings: readers, checks, and the paused process. */
  async function between(): Promise<void> {
    readers.turn();
    // The effects of a commit with an unknown outcome start when its tree is in memory again.
    const calm = world.now > machine.troubledAt + CALM_MS;
    const others = [...watch.trees.values()].filter((tree) => tree.id !== locks.poisoned);
    watch.check(() => idleSlots.look(others, world.now, calm && machine.errand !== null));
    watch.check(() => children.look(machine.troubledAt));
    if (calm) {
      for (const call of machine.under.open) watch.check(() => checkCall(call, watch.trees.values()));
    }
    if (machine.errand === null || sleep > 0) sleep -= 1;
    else await machine.wakeStopped();
  }
}
