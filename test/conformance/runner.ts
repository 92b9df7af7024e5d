/**
 * What every runner must do, at the level of its contract (src/contracts/runner.ts). A runner takes part with a
 * subject: children of it that behave in a given way. A behaviour that its protocol cannot show is left out, by name.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type {
  Runner,
  RunnerEnd,
  RunnerEvents,
  RunnerProgress,
  RunnerQuestion,
  RunnerReport,
  RunnerRequest,
  RunnerSession,
  RunnerSettings,
} from "../../src/contracts/runner.ts";
import { readProcessTable } from "../../src/processes/process-table.ts";
import { ownSeconds, processesWith, until } from "../../src/processes/supervised.test-support.ts";

export type Behaviour =
  | "answer"
  | "artifacts"
  | "ask"
  | "bad-json"
  | "crash"
  | "endless"
  | "mend"
  | "missing"
  | "obedient"
  | "oversize"
  | "reported"
  | "silent"
  | "steered"
  | "stranger"
  | "stubborn"
  | "twice"
  | "typed"
  | "wrong-version";

export interface RunnerSubject {
  readonly runner: Runner;
  /** Null if the protocol cannot show it. `limited`: silence is not allowed for longer than a second. */
  settings(behaviour: Behaviour, limited?: boolean): RunnerSettings | null;
  /** Settings that no trusted origin gave. */
  untrusted(behaviour: Behaviour): RunnerSettings;
  /** Starts a process that runs a session of this behaviour with the runner, and stays until it is killed. */
  startOwner(behaviour: Behaviour, request: RunnerRequest): number;
}

/** Everything that a session said. */
export interface Recorded {
  readonly events: RunnerEvents;
  readonly progress: RunnerProgress[];
  readonly reports: RunnerReport[];
  readonly questions: RunnerQuestion[];
  readonly tokens: string[];
  readonly ends: RunnerEnd[];
  /** What was said after the end. */
  readonly late: string[];
}

export function record(): Recorded {
  const recorded = { progress: [], reports: [], questions: [], tokens: [], ends: [], late: [] } as Omit<
    Recorded,
    "events"
  >;
  const take =
    <Given>(name: string, list: Given[]) =>
    (given: Given): void => {
      if (recorded.ends.length > 0) recorded.late.push(name);
      list.push(given);
    };
  return {
    ...recorded,
    events: {
      progress: take("progress", recorded.progress),
      report: take("report", recorded.reports),
      question: take("question", recorded.questions),
      resumable: take("resumable", recorded.tokens),
      ended: take("ended", recorded.ends),
    },
  };
}

let runs = 0;

export function requestFor(settings: RunnerSettings, more: Partial<RunnerRequest> = {}): RunnerRequest {
  runs += 1;
  return {
    run: `run-${process.pid}-${runs}`,
    attempt: 1,
    tree: "tree",
    agent: "agent",
    prompt: "",
    task: `sleep ${ownSeconds()}`,
    context: "",
    files: [],
    limits: { timeoutSeconds: 120, iterations: 8, summaryBytes: 32_768, graceSeconds: 1 },
    outputSchema: null,
    workspace: process.cwd(),
    settings,
    ...more,
  };
}

function secondsOf({ task }: RunnerRequest): string {
  return /\d+\.\d+/.exec(task)?.[0] ?? "";
}

/** Processes that this one has started and not ended. */
function ownProcesses(): number {
  return readProcessTable().entries.filter(({ parent }) => parent === process.pid).length;
}

export function testRunner(name: string, subject: () => RunnerSubject): void {
  interface Running {
    readonly said: Recorded;
    readonly session: RunnerSession;
    readonly request: RunnerRequest;
    /** Waits for the end, and checks what holds for every end. */
    end(): Promise<RunnerEnd | undefined>;
  }

  function start(settings: RunnerSettings, more: Partial<RunnerRequest> = {}): Running {
    const { runner } = subject();
    const before = ownProcesses();
    const request = requestFor(settings, more);
    const said = record();
    const session = runner.start(request, said.events);
    onTestFinished(() => session.stop());
    return {
      said,
      session,
      request,
      async end() {
        await until(() => said.ends.length > 0);
        expect(processesWith(secondsOf(request))).toEqual([]);
        expect(ownProcesses()).toBe(before);
        const stopped = session.stop();
        expect(session.stop()).toBe(stopped);
        await stopped;
        session.tell({ type: "steer", text: "too late" });
        await sleep(20);
        expect(said.ends).toHaveLength(1);
        expect(said.late).toEqual([]);
        return said.ends[0];
      },
    };
  }

  /** A test of a behaviour; left out where the protocol cannot show it. */
  function behaves(behaviour: Behaviour, sentence: string, check: (settings: RunnerSettings) => Promise<void>): void {
    test(`${behaviour}: ${sentence}`, async (context) => {
      const settings = subject().settings(behaviour);
      if (settings === null) return context.skip(`${name} cannot show it`);
      await check(settings);
    });
  }

  describe(`${name}, by contract`, () => {
    behaves("answer", "a run ends ok with its result, progress and usage", async (settings) => {
      const { end, said, request } = start(settings);
      expect(await end()).toMatchObject({
        status: "ok",
        report: { text: `done: ${request.task}` },
        usage: { input: 20, output: 5 },
      });
      expect(said.progress).toEqual([{ text: "working", iterations: 1, usage: { input: 10, output: 2 } }]);
    });

    behaves("typed", "data come with the result", async (settings) => {
      const schema = { type: "object", properties: { words: { type: "integer" } } };
      expect(await start(settings, { outputSchema: schema }).end()).toMatchObject({
        status: "ok",
        report: { data: { words: 812 } },
      });
    });

    behaves("artifacts", "artifacts come with the result", async (settings) => {
      expect(await start(settings).end()).toMatchObject({ report: { artifacts: [{ kind: "path", value: "a.txt" }] } });
    });

    behaves("reported", "reports come in order, and an empty result leaves the newest to count", async (settings) => {
      const { end, said } = start(settings);
      const ended = await end();
      expect(ended).toMatchObject({ status: "ok" });
      expect(ended).not.toHaveProperty("report");
      expect(said.reports).toEqual([{ text: "first" }, { text: "second", artifacts: [{ kind: "note", value: "n" }] }]);
    });

    behaves(
      "missing",
      "a child that cannot be started is `runner-unavailable`, and `available` says why",
      async (settings) => {
        expect(await subject().runner.available(settings)).toMatch(/\w+ \w+ \w+/);
        expect(await start(settings).end()).toMatchObject({ status: "failed", code: "runner-unavailable" });
      },
    );

    test("settings of no trusted origin start nothing", async () => {
      const settings = subject().untrusted("stubborn");
      const { runner } = subject();
      expect(runner.check(settings)).toContain("trust");
      expect(await runner.available(settings)).toContain("trust");
      expect(runner.secrets?.(settings) ?? []).toEqual([]);
      const { end, said } = start(settings);
      const ended = await end();
      expect(ended).toMatchObject({ status: "failed", code: "runner-unavailable" });
      expect(JSON.stringify(ended)).toContain("trust");
      expect(said.progress).toEqual([]);
    });

    for (const [behaviour, code] of [
      ["bad-json", "envelope-json"],
      ["wrong-version", "envelope-version"],
      ["stranger", "envelope-json"],
      ["oversize", "envelope-size"],
    ] as const) {
      behaves(behaviour, `it is \`${code}\`, and the child is killed`, async (settings) => {
        expect(await start(settings).end()).toMatchObject({ status: "failed", code });
      });
    }

    behaves("endless", "output without end is `envelope-size`, and takes little memory", async (settings) => {
      const before = process.memoryUsage().rss;
      expect(await start(settings).end()).toMatchObject({ status: "failed", code: "envelope-size" });
      expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
    });

    test("silent: a child that is silent for too long is `runner-hung`", async (context) => {
      const settings = subject().settings("silent", true);
      if (settings === null) return context.skip(`${name} cannot show it`);
      expect(await start(settings).end()).toMatchObject({ status: "failed", code: "runner-hung" });
    });

    behaves("crash", "a child that dies is `runner-died`, with the processes that it left", async (settings) => {
      const { end, request } = start(settings);
      await until(() => processesWith(`sleep\0${secondsOf(request)}`).length > 0);
      expect(await end()).toMatchObject({ status: "failed", code: "runner-died" });
    });

    behaves("stubborn", "after `stop` and the grace nothing is left of a child that ignores it", async (settings) => {
      const { end, said, session, request } = start(settings);
      await until(() => said.progress.length > 0 && processesWith(`sleep\0${secondsOf(request)}`).length > 0);
      const asked = performance.now();
      await session.stop();
      expect(performance.now() - asked).toBeGreaterThan(900);
      expect(said.ends).toHaveLength(1);
      await end();
    });

    behaves(
      "obedient",
      "a child that ends at `stop` has its last result, and the grace is not waited for",
      async (settings) => {
        const limits = { timeoutSeconds: 120, iterations: 8, summaryBytes: 32_768, graceSeconds: 60 };
        const { end, said, session } = start(settings, { limits });
        await until(() => said.progress.length > 0);
        const asked = performance.now();
        await session.stop();
        expect(performance.now() - asked).toBeLessThan(30_000);
        expect(await end()).toMatchObject({ status: "ok", report: { text: "ended early" } });
      },
    );

    behaves("answer", "a session that is stopped at once ends once", async (settings) => {
      const { end, session } = start(settings);
      await session.stop();
      expect((await end())?.status).toMatch(/^(ok|failed)$/);
    });

    behaves("twice", "the first result counts, and what comes after it changes nothing", async (settings) => {
      const { end, said } = start(settings);
      expect(await end()).toMatchObject({ status: "ok", report: { text: "the first" } });
      expect(said.reports).toEqual([]);
    });

    behaves("answer", "two at once do not hear each other", async (settings) => {
      const both = [start(settings), start(settings)];
      await until(() => both.every(({ said }) => said.ends.length > 0));
      for (const { end, request } of both)
        expect(await end()).toMatchObject({ status: "ok", report: { text: `done: ${request.task}` } });
    });

    behaves("ask", "a question waits for its answer, which may come late", async (settings) => {
      const { end, said, session } = start(settings);
      await until(() => said.questions.length > 0);
      expect(said.questions).toEqual([{ id: "q1", text: "Which colour?", choices: ["red", "blue"] }]);
      await sleep(1_500);
      expect(said.ends).toEqual([]);
      session.tell({ type: "answer", question: "q1", text: "blue" });
      expect(await end()).toMatchObject({ status: "ok", report: { text: "answer q1: blue" } });
    });

    behaves("ask", "a user who declines to answer is told to the child", async (settings) => {
      const { end, said, session } = start(settings);
      await until(() => said.questions.length > 0);
      session.tell({ type: "answer", question: "q1", text: null });
      expect(await end()).toMatchObject({ report: { text: "answer q1: undefined" } });
    });

    behaves("steered", "words for a child that works reach it", async (settings) => {
      const { end, said, session } = start(settings);
      await until(() => said.progress.length > 0);
      session.tell({ type: "steer", text: "go left" });
      expect(await end()).toMatchObject({ report: { text: "told: go left" } });
    });

    behaves("mend", "a refused report is told to the child, which reports again", async (settings) => {
      const { end, said, session } = start(settings);
      await until(() => said.reports.length === 1);
      session.tell({ type: "report-refused", problem: "`words` must be a number" });
      await until(() => said.reports.length === 2);
      session.tell({ type: "report-accepted" });
      expect(await end()).toMatchObject({ report: { text: "then report-accepted", data: { words: 3 } } });
      expect(said.reports[1]).toEqual({ text: "report-refused: `words` must be a number", data: { words: 3 } });
    });

    behaves(
      "stubborn",
      "when Errand is killed, its child ends; `gone` waits for that, and `resume` goes on",
      async (settings) => {
        const { runner, startOwner } = subject();
        const request = requestFor(settings);
        const seconds = secondsOf(request);
        const owner = startOwner("stubborn", request);
        onTestFinished(() => kill(owner));
        await until(() => processesWith(`sleep\0${seconds}`).length > 0);
        kill(owner);
        await runner.gone({ tree: request.tree, run: request.run, attempts: 1, settings });
        expect(processesWith(seconds)).toEqual([]);
        if (runner.resume === undefined) return;
        const again = subject().settings("answer");
        if (again === null) return;
        const said = record();
        runner.resume({ ...request, settings: again, attempt: 2 }, request.run, said.events);
        await until(() => said.ends.length > 0);
        expect(said.ends).toMatchObject([{ status: "ok" }]);
      },
    );

    behaves(
      "stubborn",
      "`gone` leaves sessions of other runs and of the same run in another tree alone",
      async (settings) => {
        const { runner } = subject();
        const { said, session, request, end } = start(settings);
        await until(() => said.progress.length > 0 && processesWith(`sleep\0${secondsOf(request)}`).length > 0);
        await runner.gone({ tree: "fork", run: request.run, attempts: 1, settings });
        await runner.gone({ tree: request.tree, run: "other", attempts: 1, settings });
        expect(processesWith(`sleep\0${secondsOf(request)}`).length).toBeGreaterThan(0);
        await session.stop();
        await end();
      },
    );
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
