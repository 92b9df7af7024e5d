/** I29: nothing runs that the program's `beforeDelegation` did not let through. */

import { SKILL_TASK } from "../../../src/core/delegation/spawn-tools.ts";
import { bodyRead, headRead } from "../../../src/core/journal/row.ts";
import type { JournalRow } from "../../../src/core/journal/journal.ts";
import { type Json, jsonObjectIs } from "../../../src/core/values/json.ts";
import { replyPartsOf } from "../../../src/core/values/message.ts";
import type { WatchedTree } from "./watched-tree.ts";
import { demand } from "./violation.ts";

export function checkDelegated(tree: Pick<WatchedTree, "rows">, allowed: ReadonlySet<string>): void {
  for (const row of tree.rows)
    for (const task of tasksOf(row))
      demand("I29", allowed.has(task), () => `row ${row.seq} runs the task "${task}", which the hook did not allow`);
}

/** The tasks of the runs that a row created. None if its texts were erased. */
function tasksOf(row: JournalRow): readonly string[] {
  const created = (headRead(row.head).events ?? []).flatMap((event) =>
    event.type === "run-created" ? event.call : [],
  );
  const [given] = created.length === 0 ? [] : bodyRead(row.body).texts;
  if (given === undefined || given === null) return [];
  return created.flatMap((call) => {
    const args = call === null ? given : argumentsOf(given, call);
    if (!jsonObjectIs(args)) return [];
    return typeof args["task"] === "string" ? args["task"] : SKILL_TASK;
  });
}

/** If two calls have the same id, the first counts. */
function argumentsOf(reply: Json, call: string): Json | undefined {
  const part = replyPartsOf(reply).find((one) => one.type === "tool-call" && one.id === call);
  return part?.type === "tool-call" ? part.input : undefined;
}
