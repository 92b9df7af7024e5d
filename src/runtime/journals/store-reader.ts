/** Answers of delegation tools that stand in the store: lists and results of runs that have left the state. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import type { ToolOutput } from "../../contracts/tool.ts";
import type { Effect } from "../../core/effect.ts";
import type { AgentNumber, TreeId } from "../../core/ids.ts";
import type { Sha256 } from "../../core/journal.ts";
import { type Json, jsonObjectIs } from "../../core/json.ts";
import { erasedBodies } from "../../core/runs/erasure.ts";
import type { Submission } from "../steps/tree-commit.ts";
import { runResult, runRows } from "./run-result.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

export interface StoreReader {
  answer(loaded: LoadedTree, effect: Extract<Effect, { type: "read-store" }>, input: Json): Promise<ToolOutput>;
  erase(loaded: LoadedTree, effect: Extract<Effect, { type: "erase-texts" }>): Promise<Submission>;
}

const MAX_RUNS = 10_000;
const READ_BYTES = 32_768;

export function createStoreReader(store: Store, sha256: Sha256, now: () => number): StoreReader {
  /** The runs below an agent, in spawn order. */
  async function below(tree: TreeId, agent: AgentNumber): Promise<StoredRun[]> {
    const runs = await store.runs({ tree, limit: MAX_RUNS });
    const within = new Set([agent]);
    return runs.filter((run) => {
      if (!within.has(run.parent)) return false;
      within.add(run.number);
      return true;
    });
  }

  async function list(loaded: LoadedTree, agent: AgentNumber, state: Json | undefined): Promise<ToolOutput> {
    const runs = await below(loaded.id, agent);
    const rows = runs
      .filter((run) => state === undefined || run.state === state)
      .map((run) => ({
        run_id: run.id,
        name: run.name,
        state: run.state,
        ...(run.status === null ? {} : { status: run.status }),
        elapsed_ms: run.startedAt === null ? 0 : (run.endedAt ?? now()) - run.startedAt,
      }));
    return { text: JSON.stringify(rows), failed: false };
  }

  async function read(run: StoredRun, args: { readonly [name: string]: Json }): Promise<ToolOutput> {
    if (run.endedSeq === null) return failed("read_result: that run has not ended; you will be told when it has");
    const bytes = new TextEncoder().encode((await runResult(store, run)).whole);
    const offset = typeof args["offset"] === "number" ? args["offset"] : 0;
    const limit = Math.min(typeof args["limit"] === "number" ? args["limit"] : READ_BYTES, READ_BYTES);
    const end = characterEnd(bytes, Math.min(bytes.length, offset + limit));
    const text = new TextDecoder().decode(bytes.subarray(Math.min(offset, bytes.length), end));
    return {
      text: JSON.stringify({ text, offset, bytes: bytes.length, ...(end < bytes.length ? { next_offset: end } : {}) }),
      failed: false,
    };
  }

  return {
    async answer(loaded, effect, input) {
      const args = jsonObjectIs(input) ? input : {};
      if (effect.name === "list_runs") return list(loaded, effect.agent, args["state"]);
      const run = (await below(loaded.id, effect.agent)).find((known) => known.id === args["run_id"]);
      if (run === undefined) return failed(`${effect.name}: no such run below you; list_runs names them`);
      if (effect.name === "read_result") return read(run, args);
      if (effect.name === "cancel_run")
        return { text: JSON.stringify({ status: "already_ended", cancelled: 0 }), failed: false };
      return failed(`${effect.name}: that run has ended; start another one`);
    },
    async erase(loaded, effect) {
      const runs = await store.runs({ tree: loaded.id, limit: MAX_RUNS });
      const run = runs.find((known) => known.number === effect.run);
      const erased =
        run === undefined ? [] : erasedBodies(run.number, run.report ?? "missing", await runRows(store, run));
      const rows = erased.map(({ seq, body }) => ({ seq, hash: sha256(body) }));
      return { tree: loaded.id, input: { type: "texts-erased", effect: effect.key, rows }, texts: [], erased };
    },
  };
}

/** Moves an end back to where a UTF-8 character ends. */
function characterEnd(bytes: Uint8Array, end: number): number {
  let at = end;
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function failed(problem: string): ToolOutput {
  return { text: `Error: ${problem}`, failed: true };
}
