/**
 * The last line of the demonstration: what the journal proves. Nothing here knows what was planned.
 *
 * Invariants:
 *  1. Every number is counted in the journal as it stands on disk: facts for the runs, a replay for the rows.
 *  2. A run counts as ended, or as told, if the journal says so exactly once; also twice is wrong.
 *  3. The rows before the kill must be those that were there at the kill.
 */

import type { Store, TreeRecord } from "../../../contracts/store.ts";
import type { Fact } from "../../../core/event.ts";
import { storedRows } from "../../../runtime/journals/replay-tree.ts";
import { proveStored } from "../../../runtime/journals/prove-journal.ts";
import { readEvent } from "../../store/read-tree.ts";
import { countLabel } from "../../../view/amounts.ts";
import type { RowPlace } from "./journal-watch.ts";

export interface DemoProof {
  readonly killedAt: number;
  readonly spawned: number;
  readonly ended: number;
  readonly toldOnce: number;
  readonly rows: number;
  /** `proven`, or what the replay found. */
  readonly verdict: string;
  /** What breaks the promise; empty if it was kept. */
  readonly problems: readonly string[];
}

export async function proveDemo(store: Store, tree: TreeRecord, killed: RowPlace): Promise<DemoProof> {
  const { report, verdict } = await proveStored(store, tree, () => undefined);
  const count = createRunCount();
  const problems: string[] = [];
  for await (const row of storedRows(store, tree.id)) {
    if (row.seq === killed.seq && row.hash !== killed.hash)
      problems.push(`row ${row.seq} is not what it was at the kill`);
    const { late, facts } = readEvent(tree.id, row);
    if (late === null) count.take(facts);
  }
  if (report.rows <= killed.seq) problems.push("no row was written after the kill");
  if (verdict !== "proven") problems.push(`the replay is ${verdict}`);
  const counted = count.result();
  return {
    killedAt: killed.seq,
    spawned: counted.spawned,
    ended: counted.ended,
    toldOnce: counted.toldOnce,
    rows: report.rows,
    verdict,
    problems: [...counted.problems, ...problems],
  };
}

export function proofLine({ killedAt, spawned, ended, toldOnce, rows, verdict }: DemoProof): string {
  const replay = verdict === "proven" ? `replay identical (${countLabel(rows, "row")})` : `replay ${verdict}`;
  return [`killed at row ${killedAt}`, `${spawned} spawned`, `${ended} ended`, `${toldOnce} told once`, replay].join(
    " · ",
  );
}

export interface RunCount {
  /** The facts of one step. */
  take(facts: readonly Fact[]): void;
  result(): Pick<DemoProof, "spawned" | "ended" | "toldOnce" | "problems">;
}

interface Counted {
  spawned: number;
  ended: number;
  told: number;
}

export function createRunCount(): RunCount {
  const runs = new Map<number, Counted>();

  function countedOf(run: number): Counted {
    const known = runs.get(run) ?? { spawned: 0, ended: 0, told: 0 };
    runs.set(run, known);
    return known;
  }

  function takeFact(fact: Fact): void {
    switch (fact.type) {
      case "run-created":
        countedOf(fact.run).spawned += 1;
        break;
      case "run-ended":
        countedOf(fact.run).ended += 1;
        break;
      // A background run is told when its announcement is placed; an awaited one by the answer of its call.
      case "turn-started":
        for (const run of fact.placed ?? []) countedOf(run).told += 1;
        break;
      case "tool-answered":
        if (fact.run !== undefined) countedOf(fact.run).told += 1;
        break;
      default:
    }
  }

  return {
    take: (facts) => facts.forEach(takeFact),
    result() {
      const all = [...runs.entries()];
      const once = (column: keyof Counted): number => all.filter(([, counted]) => counted[column] === 1).length;
      const problems = all.flatMap(([run, { spawned, ended, told }]) => [
        ...(spawned === 1 ? [] : [`run ${run} was spawned ${countLabel(spawned, "time")}`]),
        ...(ended === 1 ? [] : [`run ${run} ended ${countLabel(ended, "time")}`]),
        ...(told === 1 ? [] : [`run ${run} was told ${countLabel(told, "time")}`]),
      ]);
      const none = all.length === 0 ? ["no run was spawned"] : [];
      return {
        spawned: once("spawned"),
        ended: once("ended"),
        toldOnce: once("told"),
        problems: [...none, ...problems],
      };
    },
  };
}
