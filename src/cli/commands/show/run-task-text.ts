/** Reads the task of a run from the journal row that created it. */

import type { Store, StoredRun } from "../../../contracts/store.ts";
import { type Json, jsonObjectIs } from "../../../core/values/json.ts";
import { readEvent } from "../../store/read-tree.ts";
import { callArguments } from "../../../view/call-about.ts";

export interface RunTask {
  /** Null if the text was erased. */
  readonly task: string | null;
  readonly context: string | null;
  readonly files: readonly string[];
}

export async function readRunTask(store: Store, run: StoredRun): Promise<RunTask> {
  const [row] = await store.rows(run.tree, run.createdSeq, 1);
  const event = row === undefined ? null : readEvent(run.tree, row);
  const created = event?.facts.find((fact) => fact.type === "run-created" && fact.run === run.number);
  if (event === null || created?.type !== "run-created") return { task: null, context: null, files: [] };
  const asked = created.call === null ? event.texts[0] : callArguments(event.texts, created.call);
  const args: { readonly [name: string]: Json } = jsonObjectIs(asked) ? asked : {};
  const files = Array.isArray(args["files"]) ? args["files"] : [];
  return {
    task: textOrNull(args["task"]),
    context: textOrNull(args["context"]),
    files: files.filter((file): file is string => typeof file === "string"),
  };
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}
