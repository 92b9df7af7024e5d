/**
 * The runners of a simulation, and the children that they run. A child is a process of its own: it may outlive a stop,
 * a crash of the process that started it and the call of `gone`, but only for a while.
 */

import type { Runner, RunnerEvents, RunnerMessage, RunnerRequest, RunnerSession } from "../../src/index.ts";
import { type CallsUnderWay, enterCall, type OnStray, unheard } from "./calls.ts";
import { demand } from "./invariants/violation.ts";
import type { WatchedRun } from "./invariants/watched-tree.ts";
import { playScript, type ScriptParts } from "./outside-script.ts";
import { SECRET } from "./secret.ts";
import type { Life } from "./simulated-world.ts";
import type { Watch } from "./watch.ts";

export interface OutsideChildrenParts extends ScriptParts {
  readonly watch: Watch;
  readonly onStray: OnStray;
  /** Called when a child that was not stopped has ended. */
  readonly onAnswered: (agent: string, life: Life) => void;
}

export interface OutsideChildren {
  runners(life: Life, under: CallsUnderWay): readonly Runner[];
  /** The process has ended, and its children end soon. */
  left(life: Life): void;
  /** The machine was switched off. */
  killAll(): void;
  /** How many children of the process are alive. */
  alive(life: Life): number;
  /** I9, I10: no child is alive long after its run has ended. `troubledAt`: when the process was last in trouble. */
  look(troubledAt: number): void;
  /** At rest no child is alive, and the journals know every child. */
  checkAtRest(): void;
}

interface Child {
  readonly request: RunnerRequest;
  readonly life: Life;
  alive: boolean;
}

/** A runner that can do everything, and one that only starts and stops. */
const RUNNERS = {
  able: { resumes: true, takes: ["answer", "steer", "report-accepted", "report-refused"] },
  mute: { resumes: false, takes: [] },
} as const;

/** How long children live after they were told to end, or after their process has ended. */
const STOP_MS = [0, 30, 2_000, 4_900] as const;
const ORPHAN_MS = [0, 100, 3_000] as const;
const GONE_MS = [0, 20, 1_000, 6_000] as const;
/** Longer than all of these together. */
const GRACE_MS = 15_000;

export function createOutsideChildren(parts: OutsideChildrenParts): OutsideChildren {
  const { random, world, watch, count, onStray } = parts;
  const living = new Set<Child>();
  /** Every session that was ever started, as run and attempt. */
  const started = new Map<string, string>();
  /** Questions of each run, which a resumed child still knows. */
  const asked = new Map<string, Set<string>>();
  const runOf = (request: RunnerRequest): WatchedRun | undefined =>
    [...(watch.trees.get(request.tree)?.runs.values() ?? [])].find(({ id }) => id === request.run);

  function kill(child: Child): void {
    child.alive = false;
    living.delete(child);
  }

  function checkStart(request: RunnerRequest, token: string | null): void {
    const { tree, run: id, attempt } = request;
    const run = runOf(request);
    const name = `${id} attempt ${attempt}`;
    demand("I19", run !== undefined && run.state !== "ended", () => `an outside child is started for no run: ${name}`);
    demand("I23", !started.has(name), () => `an outside child is started twice: ${name}`);
    const other = [...living].find((child) => child.request.run === id && child.request.tree === tree);
    demand("I10", other === undefined, () => `${name} is started while attempt ${other?.request.attempt} is alive`);
    demand("I20", token === (attempt > 1 ? run.token : null), () => `${name} is resumed with the token ${token}`);
    started.set(name, id);
  }

  function checkTold(takes: readonly string[], child: Child, known: ReadonlySet<string>, message: RunnerMessage): void {
    demand("I18", takes.includes(message.type), () => `a runner is sent ${message.type}, which it does not take`);
    if (message.type !== "answer") return;
    const { run, attempt } = child.request;
    demand("I12", known.has(message.question), () => `${run} is told an answer to ${message.question}, not asked`);
    count(attempt > 1 ? "outside answered after a restart" : "outside answered");
  }

  function open(
    name: keyof typeof RUNNERS,
    given: { readonly life: Life; readonly under: CallsUnderWay },
    request: RunnerRequest,
    token: string | null,
    events: RunnerEvents,
  ): RunnerSession {
    const { life, under } = given;
    const { takes, resumes } = RUNNERS[name];
    const never = new Promise<void>(() => {});
    if (unheard(life, "starts an outside child", onStray)) return { tell() {}, stop: () => never };
    watch.check(() => checkStart(request, token));
    count(token === null ? "outside started" : "outside resumed");
    const child: Child = { request, life, alive: true };
    living.add(child);
    const known = asked.get(request.run) ?? new Set<string>();
    asked.set(request.run, known);
    const settle = enterCall(under, { what: "session of an outside child", agent: request.agent });
    let stopping: Promise<void> | null = null;
    const script = playScript(parts, {
      request,
      events,
      life,
      resumes,
      asks: takes.length > 0,
      asked: known,
      isAlive: () => child.alive,
      over() {
        kill(child);
        if (settle()) parts.onAnswered(request.agent, life);
      },
    });
    return {
      tell(message) {
        if (unheard(life, "tells an outside child something", onStray) || !child.alive) return;
        watch.check(() => checkTold(takes, child, known, message));
        script.told(message);
      },
      stop() {
        if (stopping !== null) return stopping;
        settle();
        const { promise, resolve } = Promise.withResolvers<void>();
        stopping = promise;
        if (life.ended) return promise;
        count("outside stopped");
        const stop = (): void => {
          script.stopped();
          resolve();
        };
        world.at(world.now + random.pick(STOP_MS), stop, life);
        return promise;
      },
    };
  }

  function gone(life: Life, earlier: Parameters<Runner["gone"]>[0]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (life.ended) return promise;
    const left = [...living].filter(
      ({ request }) =>
        request.tree === earlier.tree && request.run === earlier.run && request.attempt <= earlier.attempts,
    );
    if (left.length > 0) count("outside left alive");
    const at = world.now + (left.length > 0 ? random.pick(GONE_MS) : 0);
    for (const child of left) world.at(at, () => kill(child));
    world.at(at, resolve, life);
    return promise;
  }

  function available(life: Life): Promise<string | null> {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    if (unheard(life, "asks whether a runner is available", onStray)) return promise;
    const answer = random.weighted<() => void>([
      [95, () => resolve(null)],
      [3, () => resolve("it is not installed")],
      [2, () => reject(new Error("it broke"))],
    ]);
    world.at(world.now + random.pick([0, 0, 50, 2_000]), answer, life);
    return promise;
  }

  function runnerNamed(name: keyof typeof RUNNERS, given: { life: Life; under: CallsUnderWay }): Runner {
    const { takes, resumes } = RUNNERS[name];
    const runner: Runner = {
      name,
      takes,
      check: () => null,
      available: () => available(given.life),
      secrets: () => [SECRET],
      start(request, events) {
        if (random.percent(2)) throw new Error("it cannot be started");
        return open(name, given, request, null, events);
      },
      gone: (earlier) => gone(given.life, earlier),
    };
    if (!resumes) return runner;
    return { ...runner, resume: (request, token, events) => open(name, given, request, token, events) };
  }

  return {
    runners: (life, under) => [runnerNamed("able", { life, under }), runnerNamed("mute", { life, under })],
    left(life) {
      for (const child of living)
        if (child.life === life) world.at(world.now + random.pick(ORPHAN_MS), () => kill(child));
    },
    killAll() {
      for (const child of living) kill(child);
    },
    alive: (life) => [...living].filter((child) => child.life === life).length,
    look(troubledAt) {
      for (const { request } of living) {
        const run = runOf(request);
        if (run === undefined || run.endedNow === null) continue;
        const { endedNow, number } = run;
        demand("I10", run.reason !== "runner-lost", () => `run ${number} is lost, and its child is alive`);
        const late = world.now > Math.max(endedNow, troubledAt) + GRACE_MS;
        demand("I9", !late, () => `run ${number} ended at ${endedNow}, and its child is alive at ${world.now}`);
      }
    },
    checkAtRest() {
      for (const { request } of living) demand("I9", false, () => `the child of run ${request.run} is alive at rest`);
      const known = new Set([...watch.trees.values()].flatMap((tree) => [...tree.runs.values()].map(({ id }) => id)));
      for (const [name, id] of started)
        demand("I23", known.has(id), () => `an outside child was started, and no journal knows of it: ${name}`);
    },
  };
}
