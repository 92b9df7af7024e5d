/** The part of the store's conformance suite about runs, and about replacing what the projections say. */

import { describe, expect, test } from "vitest";
import type { RunQuery } from "../../src/contracts/store.ts";
import { asPostId } from "../../src/core/values/ids.ts";
import type { DeliveryState, ReportKind, RunState, RunStatus } from "../../src/core/journal/journal.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { birth, commitOf, part, sampleMail, sampleRun, sha256, treeNumber } from "./store-samples.ts";

const [one, two] = [treeNumber(1), treeNumber(2)];
const STATES: readonly RunState[] = ["queued", "running", "waiting", "needs_input", "ended"];
const STATUSES: readonly (RunStatus | null)[] = ["ok", "error", "timeout", "cancelled", "interrupted", null];
const REPORTS: readonly (ReportKind | null)[] = ["tool", "tag", "salvaged", "missing", null];
const DELIVERIES: readonly DeliveryState[] = ["open", "pending", "placed", "undeliverable"];

export function describeProjections(subject: () => StoreUnderTest): void {
  describe("runs", () => {
    test("if a fork and its origin have a run of the same id, the id finds the run of the older tree", async () => {
      const { store } = subject();
      const run = sampleRun(1);
      await store.commit(commitOf(birth(one, { runs: [run] })));
      await store.commit(commitOf(birth(two, { runs: [{ ...run, state: "ended" }] })));
      expect(await store.run(run.id)).toMatchObject({ tree: one, state: run.state });
      expect(await store.runOfAgent(run.agent)).toMatchObject({ tree: one });
      expect(await store.runs({ tree: two, limit: 9 })).toMatchObject([{ id: run.id, tree: two, state: "ended" }]);
    });

    test("a patch of all columns makes a run, and a later one changes the columns that it holds", async () => {
      const { store } = subject();
      const run = sampleRun(1, { deadline: 9_000, group: "batch" });
      await store.commit(commitOf(birth(one, { runs: [run] })));
      expect(await store.run(run.id)).toEqual({ ...run, tree: one });
      const started = { number: 1, state: "running", startedAt: 1_800_000_000_000 } as const;
      await store.commit(commitOf(part(one, 2, 2, { runs: [started] })));
      await store.commit(commitOf(part(one, 3, 3, { runs: [{ number: 1, state: "waiting", startedAt: 5 }, started] })));
      const ended = {
        number: 1,
        state: "ended",
        status: "ok",
        deadline: null,
        nudged: true,
        tokens: 12,
        cost: 34_567_890_123,
        endedSeq: 3,
      } as const;
      await store.commit(commitOf(part(one, 4, 4, { runs: [ended] })));
      expect(await store.runOfAgent(run.agent)).toEqual({ ...run, ...started, ...ended, tree: one });
      const other = sampleRun(1, { id: sampleRun(7).id, agent: sampleRun(7).agent });
      await store.commit(commitOf(part(one, 5, 5, { runs: [other] })));
      expect(await store.run(other.id)).toEqual({ ...other, tree: one });
      expect(await store.run(run.id)).toBeNull();
      expect(await store.runOfAgent(run.agent)).toBeNull();
    });

    test("every value of every column comes back", async () => {
      const { store } = subject();
      const runs = Array.from({ length: 12 }, (_, index) =>
        sampleRun(index + 1, {
          mode: index % 2 === 0 ? "awaited" : "background",
          cleanup: index % 3 === 0 ? "keep" : "delete",
          state: STATES[index % STATES.length] ?? "ended",
          status: STATUSES[index % STATUSES.length] ?? null,
          report: REPORTS[index % REPORTS.length] ?? null,
          delivery: DELIVERIES[index % DELIVERIES.length] ?? "open",
        }),
      );
      await store.commit(commitOf(birth(one, { runs })));
      expect(await store.runs({ tree: one, limit: 99 })).toEqual(runs.map((run) => ({ ...run, tree: one })));
    });

    test("one commit may make a run and change it", async () => {
      const { store } = subject();
      await store.commit(commitOf(birth(one, { runs: [sampleRun(1), { number: 1, state: "running" }] })));
      expect(await store.run(sampleRun(1).id)).toMatchObject({ state: "running" });
    });

    test("a patch that lacks columns is refused with its commit when there is no such run [1]", async () => {
      const { store } = subject();
      const refused = store.commit(commitOf(birth(one, { runs: [sampleRun(1), { number: 2, state: "running" }] })));
      await expect(refused).rejects.toMatchObject({ code: "run-unknown" });
      expect(await store.tree(one)).toBeNull();
      expect(await store.run(sampleRun(1).id)).toBeNull();
    });

    test("runs are listed in spawn order within a tree, newest tree first", async () => {
      const { store } = subject();
      const first = [sampleRun(10), sampleRun(2, { state: "ended" }), sampleRun(3, { state: "running" })];
      const second = [sampleRun(21, { state: "running" }), sampleRun(22, { state: "ended" })];
      await store.commit(commitOf(birth(one, { runs: first }), birth(two, { runs: second })));
      const listed = async (query: RunQuery) => (await store.runs(query)).map(({ number }) => number);
      expect(await listed({ limit: 99 })).toEqual([21, 22, 2, 3, 10]);
      expect(await listed({ limit: 3 })).toEqual([21, 22, 2]);
      expect(await listed({ limit: 2 })).toEqual([21, 22]);
      expect(await listed({ limit: 99, tree: one })).toEqual([2, 3, 10]);
      expect(await listed({ limit: 99, state: "running" })).toEqual([21, 3]);
      expect(await listed({ limit: 99, state: "ended" })).toEqual([22, 2]);
      expect(await listed({ limit: 99, tree: one, state: "ended" })).toEqual([2]);
      expect(await listed({ limit: 99, tree: treeNumber(9) })).toEqual([]);
      expect(await store.run("unknown")).toBeNull();
      expect(await store.runOfAgent("unknown")).toBeNull();
    });
  });

  describe("replacing projections", () => {
    test("runs and taken posts become what is given, and mail still waits", async () => {
      const { store } = subject();
      const post = (id: string, seq: number) => ({ id: asPostId(id), hash: sha256("hello"), seq, endedSeq: seq });
      await store.commit(commitOf(birth(one, { runs: [sampleRun(1), sampleRun(2)], posts: [post("old", 1)] })));
      await store.commit(commitOf(birth(two, { runs: [sampleRun(5)], posts: [post("elsewhere", 1)] })));
      await store.putMail(sampleMail(one, "waiting"));
      await store.putMail(sampleMail(one, "taken"));
      const runs = [sampleRun(2, { state: "ended" }), sampleRun(3)];
      await store.replaceProjections(one, { runs, posts: [post("new", 1), post("taken", 1)] });
      expect(await store.runs({ tree: one, limit: 9 })).toEqual(runs.map((run) => ({ ...run, tree: one })));
      expect(await store.run(sampleRun(1).id)).toBeNull();
      expect(await store.run(sampleRun(5).id)).not.toBeNull();
      expect(await store.post(one, asPostId("old"))).toBeNull();
      expect(await store.post(one, asPostId("new"))).toEqual(post("new", 1));
      expect(await store.post(two, asPostId("elsewhere"))).toEqual(post("elsewhere", 1));
      expect(await store.pendingMail(9)).toEqual([sampleMail(one, "waiting")]);
      await expect(store.replaceProjections(treeNumber(9), { runs: [], posts: [] })).rejects.toMatchObject({
        code: "tree-unknown",
      });
    });
  });
}
