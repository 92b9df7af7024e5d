/** The last line of the demonstration counts the facts of the journal. */

import { expect, test } from "vitest";
import type { Fact } from "../../../core/event.ts";
import { countRuns, type DemoProof, proofLine, type RunCount } from "./prove-demo.ts";

function created(run: number): Fact {
  const names = { id: `run-${run}`, agent: `agent-${run}`, mode: "background", definition: "worker" } as const;
  return { type: "run-created", run, parent: 0, ...names, call: null, iterations: 1, timeoutMs: 1, size: 1 };
}

const ended = (run: number): Fact => ({ type: "run-ended", run, status: "ok", report: "tool" });
const told = (...placed: readonly number[]): Fact => ({ type: "turn-started", agent: 0, take: [], placed });

const counted = (...facts: readonly Fact[]): RunCount => countRuns(facts);

test("runs that ended once and were told once are no problem, awaited runs included", () => {
  const awaited: Fact = { type: "tool-answered", agent: 0, call: "c", run: 2, size: 0 };
  expect(counted(created(1), created(2), ended(2), awaited, ended(1), told(1))).toEqual({
    spawned: 2,
    ended: 2,
    toldOnce: 2,
    problems: [],
  });
});

test.each([
  ["never ended", [created(1), told(1)], "run 1 ended 0 times"],
  ["ended twice", [created(1), ended(1), ended(1), told(1)], "run 1 ended 2 times"],
  ["never told", [created(1), ended(1)], "run 1 was told 0 times"],
  ["told twice", [created(1), ended(1), told(1), told(1)], "run 1 was told 2 times"],
  ["told twice in one message", [created(1), ended(1), told(1, 1)], "run 1 was told 2 times"],
  ["never spawned", [ended(1), told(1)], "run 1 was spawned 0 times"],
] as const)("a run that was %s is not counted and is named", (_what, facts, problem) => {
  const { spawned, ended: ends, toldOnce, problems } = counted(...facts);
  expect(Math.min(spawned, ends, toldOnce)).toBe(0);
  expect(problems).toEqual([problem]);
});

test("a journal without runs proves nothing", () => {
  expect(counted().problems).toEqual(["no run was spawned"]);
});

test("the line says what was counted, and what the replay found", () => {
  const proof: DemoProof = {
    killedAt: 7,
    spawned: 4,
    ended: 3,
    toldOnce: 2,
    rows: 9,
    verdict: "proven",
    problems: [],
  };
  expect(proofLine(proof)).toBe("killed at row 7 · 4 spawned · 3 ended · 2 told once · replay identical (9 rows)");
  expect(proofLine({ ...proof, verdict: "broken at row 8 (hash)" })).toContain(" · replay broken at row 8 (hash)");
});
