/**
 * The last line of the demonstration: what its journal proves. This code does not know what was planned.
 *
 * Invariants:
 *  1. Every number is counted in the journal on disk: facts for the runs, a replay for the rows.
 *  2. A run counts as ended, or as told to its parent, if the journal has exactly one such fact.
 *  3. The rows before the kill are those that were there when the process was killed.
 */

import type { Store, TreeRecord } from "../../../contracts/store.ts";
import type { Fact } from "../../../core/event.ts";
import { storedRows } from "../../../runtime/journals/stored-rows.ts";
import { proveStored } from "../../../runtime/journals/prove-journal.ts";
import { readEvent } from "../../store/read-tree.ts";
import { countLabel } from "../../../view/amounts.ts";
import type { RowMark } from "./journal-watch.ts";

export interface DemoProof {
  readonly killedAt: number;
  readonly spawned: number;
  readonly ended: number;
  readonly toldOnce: number;
  readonly rows: number;
  /** `proven`, or what the replay found. */
  readonly verdict: string;
  /** Violations of the promise; empty if it was kept. */
  readonly problems: readonly string[];
}

export async function proveDemo(store: Store, tree: TreeRecord, killed: RowMark): Promise<DemoProof> {
  const { report, verdict } = await proveStored(store, tree, () => undefined);
  const counted: Fact[] = [];
  const problems: string[] = [];
  for await (const row of storedRows(store, tree.id)) {
    if (row.seq === killed.seq && row.hash !== killed.hash)
      problems.push(`row ${row.seq} is not what it was at the kill`);
    const { rejected, facts } = readEvent(tree.id, row);
    if (rejected === null) counted.push(...facts);
  }
  if (report.rows <= killed.seq) problems.push("no row was written after the kill");
  if (verdict !== "proven") problems.push(`the replay is ${verdict}`);
  const { problems: broken, ...runs } = countRuns(counted);
  return { killedAt: killed.seq, ...runs, rows: report.rows, verdict, problems: [...broken, ...problems] };
}

export function proofLine({ killedAt, spawned, ended, toldOnce, rows, verdict }: DemoProof): string {
  const replay = verdict === "proven" ? `replay identical (${countLabel(rows, "row")})` : `replay ${verdict}`;
  return `killed at row ${killedAt} · ${spawned} spawned · ${ended} ended · ${toldOnce} told once · ${replay}`;
}

export type RunCount = Pick<DemoProof, "spawned" | "ended" | "toldOnce" | "problems">;

interface Counts {
  spawned: number;
  ended: number;
  told: number;
}

export function countRuns(facts: readonly Fact[]): RunCount {
  const runs = new Map<number, Counts>();
  const count = (run: number, what: keyof Counts): void => {
    const counts = runs.get(run) ?? { spawned: 0, ended: 0, told: 0 };
    counts[what] += 1;
    runs.set(run, counts);
  };
  for (const fact of facts) {
    if (fact.type === "run-created") count(fact.run, "spawned");
    else if (fact.type === "run-ended") count(fact.run, "ended");
    // The announcement delivers the end of a background run; the result of its call delivers that of an awaited one.
    else if (fact.type === "turn-started") for (const run of fact.placed ?? []) count(run, "told");
    else if (fact.type === "tool-answered" && fact.run !== undefined) count(fact.run, "told");
  }
  const once = (what: keyof Counts): number => [...runs.values()].filter((counts) => counts[what] === 1).length;
  const problems = [...runs].flatMap(([run, { spawned, ended, told }]) => [
    ...(spawned === 1 ? [] : [`run ${run} was spawned ${countLabel(spawned, "time")}`]),
    ...(ended === 1 ? [] : [`run ${run} ended ${countLabel(ended, "time")}`]),
    ...(told === 1 ? [] : [`run ${run} was told ${countLabel(told, "time")}`]),
  ]);
  if (runs.size === 0) problems.push("no run was spawned");
  return { spawned: once("spawned"), ended: once("ended"), toldOnce: once("told"), problems };
}
