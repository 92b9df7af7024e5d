/**
 * A project in which one task was done: a store with one tree at rest, two runs of which ended. Made once for tests
 * that only look.
 */

import { projectFolder, records, runErrand } from "./errand-process.ts";

export interface WorkedProject {
  readonly folder: string;
  readonly tree: string;
  /** What lists call it. */
  readonly short: string;
  /** The ids of its runs. */
  readonly runs: readonly string[];
  remove(): void;
}

export async function workedProject(): Promise<WorkedProject> {
  const { folder, remove } = projectFolder();
  const { code, out, err } = await runErrand(["run", "--json", "what opens the store?"], { folder });
  if (code !== 0) throw new Error(`the task failed: ${err}`);
  const lines = records(out);
  const runs = lines.filter((line) => line["type"] === "run-created").map((line) => String(line["run"]));
  const tree = String(lines.at(-1)?.["tree"]);
  return { folder, remove, tree, short: tree.slice(-6), runs };
}

/** Asserts nothing: what a command that must fail said, as one line and a hint. */
export function saidOf(err: string): { readonly code: string; readonly message: string; readonly lines: number } {
  const lines = err.trimEnd().split("\n");
  const [, message = "", code = ""] = /^error: (.+) \(([a-z-]+)\)$/.exec(lines[0] ?? "") ?? [];
  return { code, message, lines: lines.length };
}
