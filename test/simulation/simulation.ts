/**
 * One seed from beginning to end: plans, lets things happen until nothing is left to happen, checks what must hold at
 * rest, proves every journal by replay, and closes. The result is a plain record; a violation of an invariant is part
 * of it, not an exception.
 */

import type { Store } from "../../src/index.ts";
import type { ErrorCode } from "../../src/errors.ts";
import type { Fault } from "./faulty-store.ts";
import { checkAgentsAtRest, checkRunAtRest, checkStoreAtRest, checkStoredJournal } from "./invariants/at-rest.ts";
import { createIdleSlots } from "./invariants/idle-slots.ts";
import {
  checkAcknowledged,
  checkCall,
  checkDelivered,
  checkPost,
  checkPostEnded,
  checkStrike,
  checkStrikesKnown,
} from "./invariants/outside-checks.ts";
import { checkOverdue, checkRate, createProgress } from "./invariants/progress.ts";
import { checkSeen } from "./invariants/reading.ts";
import { demand, Violation } from "./invariants/violation.ts";
import { createAnswers } from "./answers.ts";
import { createMachine, type Machine } from "./machine.ts";
import { createOutside, type Outside } from "./outside.ts";
import { createPeople } from "./people.ts";
import type { Disk } from "./place.ts";
import { planOf } from "./plan.ts";
import { createPower, type Power } from "./power.ts";
import { createRandom } from "./random.ts";
import { createReaders, type Readers } from "./readers.ts";
import { createSimulatedWorld, type Life, POLL_LATE_MS, type SimulatedWorld } from "./simulated-world.ts";
import { watchUnhandled } from "./troubles/unhandled.ts";
import { createDuties } from "./troubles/duties.ts";
import { checkHeard, type Heard, listenBadly } from "./troubles/listeners.ts";
import { createLocks } from "./troubles/locks.ts";
import { drawTroubles, type Trouble } from "./troubles/troubles.ts";
import { agentById } from "./invariants/watched-tree.ts";
import { CALM_MS, createWatch, type Watch } from "./watch.ts";

export interface SimulationResult {
  readonly seed: number;
  readonly failure: { readonly invariant: string; readonly message: string } | null;
  readonly commits: number;
  readonly rows: number;
  readonly lives: number;
  /** Hashes over all journals: the same seed gives the same. */
  readonly digest: string;
  readonly counts: ReadonlyMap<string, number>;
  readonly watch: Watch;
  readonly outside: Outside;
}

const DAY = 86_400_000;
/** Rounds of healing: an answered question leads to the next. */
const ROUNDS = 6;
/** Of a hundred processes that go down, those that are only stopped, and the happenings after which they wake. */
const STOPPED = 25;
const MOST_SLEEP = 20;
/** Of a hundred processes that die, those whose machine loses its power. */
const CUT = 25;
/**
 * Of a hundred seeds, those in which the power goes while all is well, and of a hundred commits that trail, those that
 * it goes soon after.
 */
const OUTAGES = 10;
const OUTAGE = 30;
const MOST_OUTAGES = 2;
/** How long a disk takes in those seeds, and how often of a hundred times it refuses. */
const DISK_MS = [0, 1, 10, 40] as const;
const REFUSES = 20;
/** It goes within so long: what trails is durable soon. */
const TRAILS_MS = 50;
/** Of a hundred trees, those that are opened with their first message. */
const SPEAKING = 25;
/** One seed in so many replays every journal of the store once more. */
const REPLAY_EVERY = 25;
/** Happenings after which a simulation should long have come to rest. */
const TOO_MANY = 6_000;
const FAULTS: readonly [Fault, ...Fault[]] = [
  "lost-before",
  "lost-after",
  "lost-after",
  "failed-before",
  "failed-after",
  "full-before",
  "unknown-before",
  "unknown-after",
];
/** What a process may report in any seed: channels fail, and disks are full. */
const NOTICES: ReadonlySet<string> = new Set<ErrorCode>(["store-full", "channel-blocked"]);
const DOWNTIMES = [0, 0, 100, 3_000, 100_000] as const;

/** `forced`: the seed has just these troubles, whatever it would draw. */
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
  const secondHandle = (): Store => (second ??= besides(disk.beside(), power));
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

  const machine: Machine = createMachine({
    disk,
    plan,
    world,
    watch,
    models: {
      random: random.fork(),
      world,
      budget: plan.budget,
      window: plan.window,
      onRequest: (request, messages, situation) => watch.onRequest(request, messages, situation),
      token,
      count,
      onStray,
      troubles: () => troubles,
      onAnswered,
      check: watch.check,
    },
    tools: {
      random: random.fork(),
      world,
      onRun(name, called) {
        if (name === "strike") outside.strikes.set(called, (outside.strikes.get(called) ?? 0) + 1);
        watch.check(() => checkStrike(outside, called));
        return outside.authors.get(called) ?? "";
      },
      onStray,
      count,
      troubles: () => troubles,
      onAnswered,
    },
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
    cuts: () => (!over && (outage || cuts.percent(CUT)) ? cuts : null),
    waitForDisk: (life) =>
      slow && !ending && power.behind()
        ? new Promise((resolve) => {
            const taken = !cuts.percent(REFUSES);
            if (!taken) count("disk refused");
            world.at(world.now + cuts.pick(DISK_MS), () => resolve(taken), life);
          })
        : Promise.resolve(true),
    onTrailing() {
      if (ending || outages === 0 || !cuts.percent(OUTAGE)) return;
      outages -= 1;
      world.at(world.now + cuts.below(TRAILS_MS), () => {
        outage = true;
        machine.die();
        outage = false;
      });
    },
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
          machine.forgetStopped();
        }
        machine.start();
      });
    },
  });

  const answers = createAnswers({ random: random.fork(), world, watch, count, secondHandle, machine: () => machine });
  // These come after all other sources: what they draw changes nothing that the others do.
  const strays = random.fork();
  const reading = random.fork();
  const starts = random.fork();
  const cuts = random.fork();
  let outages = cuts.percent(OUTAGES) ? 1 + cuts.below(MOST_OUTAGES) : 0;
  const slow = outages > 0;
  const troubles = drawTroubles(random.fork(), forced);
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
  const heard: Heard[] = [];
  world.onAdvance = (to) => watch.check(() => advance(to));
  const readers = createReaders(reading, slow, watch, count);
  let outage = false;
  let over = false;
  let sleep = 0;

  const unhandled = watchUnhandled(watch);
  machine.start();
  schedule();
  await rest(world, watch, between);
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
    const more = once || owed(watch, outside);
    once = false;
    return more;
  };
  if (watch.failure === null) await finish(machine, world, watch, comeBack, owing, between);
  if (watch.failure === null && machine.errand !== null) {
    duties.probe();
    duties.probeSweep();
    await rest(world, watch, between);
  }
  await machine.wakeStopped();
  // Somebody may just have taken an event: the next one takes a few promises to come.
  do await world.drain();
  while (watch.failure === null && readers.take());
  for (const one of heard) watch.check(() => checkHeard(one));
  const poisoned = locks.poisoned;
  if (watch.failure === null) await atRest(machine, watch, outside, readers, poisoned, seed % REPLAY_EVERY === 0);
  over = true;
  await shutDown(machine, world, watch, outside, poisoned);
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

  /** Nothing that is ready is left: what is owed by now will not come before `to`. */
  function advance(to: number): void {
    if (machine.errand === null) return progress.look(to, null);
    const calmSince = Math.max(machine.troubledAt, 0);
    progress.look(to, calmSince);
    if (world.boots > 1) return;
    for (const tree of watch.trees.values()) if (tree.id !== locks.poisoned) checkOverdue(tree, to, calmSince);
  }

  /** What is looked at, and what goes on unseen, between two happenings. */
  async function between(): Promise<void> {
    readers.turn();
    // What a doubtful commit decided is done when its tree is in memory again.
    const calm = world.now > machine.troubledAt + CALM_MS;
    const others = [...watch.trees.values()].filter((tree) => tree.id !== locks.poisoned);
    watch.check(() => idleSlots.look(others, world.now, calm && machine.errand !== null));
    if (calm) {
      for (const call of machine.under.open) watch.check(() => checkCall(call, watch.trees.values()));
    }
    if (machine.errand === null || sleep > 0) sleep -= 1;
    else await machine.wakeStopped();
  }

  /** What people do and what befalls the machine, over the first minutes. */
  function schedule(): void {
    const deed = (work: () => void): (() => void) => {
      const once = (): void => {
        if (machine.errand !== null) return work();
        if (!ending) world.at(world.now + 1_000, once);
      };
      return once;
    };
    const act = deed(() => {
      if (machine.errand !== null && machine.life !== null) people.act(machine.errand, machine.life);
    });
    const open = deed(() => {
      if (machine.errand !== null && machine.life !== null) people.openTree(machine.errand, machine.life);
    });
    world.at(0, open);
    if (chance.percent(30)) world.at(chance.below(5_000), open);
    const deeds = 4 + chance.below(7);
    for (let deed = 0; deed < deeds; deed += 1)
      world.at(chance.pick([10, 10, 500, 5_000, 40_000]) + chance.below(3) * 500, act);
    if (chance.percent(30)) {
      world.at(chance.below(60_000), () => {
        count("clock jumped");
        world.jumpWall(chance.pick([DAY, -DAY]));
      });
    }
    if (troubles.kinds.size > 0) world.at(troubles.random.below(5_000), open);
    for (let times = troubles.random.below(3); times >= 0; times -= 1) {
      const lock = deed(() => {
        const end = locks.begin();
        if (end !== null) machine.troubledAt = Math.max(machine.troubledAt, end);
      });
      if (troubles.kinds.size > 0) world.at(100 + troubles.random.below(60_000), lock);
    }
    if (plan.faults > 0 && chance.percent(30)) world.at(chance.below(20_000), () => machine.die());
    if (chance.percent(10)) {
      world.at(
        5_000 + chance.below(20_000),
        deed(() => {
          count("closed in order");
          const within = chance.pick([0, 2_000]);
          machine.close(within).then(
            (left) => (left === null ? undefined : world.at(world.now + 100, () => machine.start())),
            () => {},
          );
        }),
      );
    }
  }
}

/** What others put into the store is durable when they are told so, with all that was written before. */
function besides(store: Store, power: Power): Store {
  return {
    ...store,
    async putMail(mail) {
      const put = await store.putMail(mail);
      power.wrote({ name: "putMail", given: [mail] }, false);
      return put;
    },
  };
}

async function rest(world: SimulatedWorld, watch: Watch, between: () => Promise<void>): Promise<void> {
  await world.drain();
  for (let quiet = 0; quiet < 2;) {
    if (watch.failure !== null) return;
    if (world.happened > TOO_MANY) {
      watch.check(() => {
        throw new Violation("I8", `no rest after ${TOO_MANY} happenings`);
      });
      return;
    }
    if (await world.step()) {
      await between();
      continue;
    }
    // Only polls are left: once they came and found nothing, this is rest.
    quiet += 1;
    world.at(world.now + 2 * POLL_LATE_MS, () => {});
    while (await world.step()) {
      await between();
      if (watch.failure !== null || world.happened > TOO_MANY) break;
    }
  }
}

/** Everything heals: channels listen, disks have room, and whatever was not answered is asked for again. */
async function finish(
  machine: Machine,
  world: SimulatedWorld,
  watch: Watch,
  comeBack: () => void,
  owing: () => boolean,
  between: () => Promise<void>,
): Promise<void> {
  if (machine.errand === null) {
    watch.check(() => {
      throw new Violation("I10", "the process never came up again");
    });
    return;
  }
  for (let round = 0; round < ROUNDS && watch.failure === null && owing(); round += 1) {
    comeBack();
    await rest(world, watch, between);
  }
}

/** True while somebody outside has not had what is due: an answer, or a message. */
function owed(watch: Watch, outside: Outside): boolean {
  if (outside.posts.some((post) => !post.settled)) return true;
  if ([...watch.trees.values()].some((tree) => tree.questions.size > 0)) return true;
  // The last delivery counts: what an earlier process was told is lost with it.
  const last = new Map(outside.deliveries.map((delivery) => [delivery.id, delivery.taken && !delivery.slow]));
  const settled = (id: string): boolean => outside.acknowledged.has(id) || last.get(id) === true;
  return [...watch.trees.values()].some((tree) => [...tree.sent].some((key) => !settled(`${tree.id}/${key}`)));
}

async function atRest(
  machine: Machine,
  watch: Watch,
  outside: Outside,
  readers: Readers,
  poisoned: string | null,
  replayAll: boolean,
): Promise<void> {
  const { store, errand } = machine;
  if (store === null || errand === null) return;
  try {
    for (const tree of watch.trees.values()) {
      // Its rows cannot be written: it waits for a person, and all that is asked of it is that the others do not.
      if (tree.id === poisoned) continue;
      for (const run of tree.runs.values()) checkRunAtRest(run);
      checkAgentsAtRest(tree);
      checkDelivered(outside, tree);
      checkSeen(tree, readers.seen(tree.id));
      await checkStoreAtRest(store, tree);
      await checkStoredJournal(store, tree);
      // Every row was replayed at its commit (watch.ts). Here the store's journal is replayed, if it differs by now.
      if (!replayAll && tree.erased.size === 0) continue;
      const { difference, rows } = await errand.replay(tree.id);
      demand("I20", difference === null, () => `replay differs: ${JSON.stringify(difference)}`);
      demand("I21", rows === tree.rows.length, () => `replay saw ${rows} of ${tree.rows.length} rows`);
    }
    checkStrikesKnown(outside, watch.trees.values());
    for (const post of outside.posts) {
      if (post.tree === poisoned) continue;
      checkPost(post, watch.trees.get(post.tree));
      checkPostEnded(post, watch.trees.get(post.tree));
      demand("I8", post.settled, () => `the post ${post.id} was never answered`);
    }
  } catch (error) {
    watch.check(() => {
      throw error;
    });
  }
}

/** I27: after the close no timer, no call and no connection is left. */
async function shutDown(
  machine: Machine,
  world: SimulatedWorld,
  watch: Watch,
  outside: Outside,
  poisoned: string | null,
): Promise<void> {
  const { life, store } = machine;
  if (life === null || store === null) return;
  if (machine.errand === null) return machine.die();
  const closing: { left: { readonly timers: number; readonly calls: number } | null } = { left: null };
  void machine.close(0).then((left) => {
    closing.left = left;
  });
  for (let turn = 0; turn < 50 && closing.left === null; turn += 1) if (!(await world.step())) await world.drain();
  const { left } = closing;
  watch.check(() => {
    demand("I27", left !== null, () => "the process does not close");
    demand("I27", left.timers === 0, () => `${left.timers} timers are left after the close`);
    demand("I27", left.calls === 0, () => `${left.calls} model calls are left after the close`);
  });
  if (left === null) return machine.die();
  watch.check(() => {
    for (const tree of watch.trees.values()) if (tree.id !== poisoned) checkAcknowledged(outside, tree);
  });
  const open = await store.tree("x" as never).then(
    () => true,
    () => false,
  );
  watch.check(() => demand("I27", !open, () => "the store is open after the close"));
}
