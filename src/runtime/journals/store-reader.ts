/** Answers of delegation tools that stand in the store: lists and results of runs that have left the state. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import type { ToolOutput } from "../../contracts/tool.ts";
import type { Effect } from "../../core/effect.ts";
import type { AgentNumber, TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { JournalRow } from "../../core/journal/journal.ts";
import { erasedBodies } from "../../core/runs/erasure.ts";
import { characterEnd } from "../effects/tool-results.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { Clock } from "../clock.ts";
import { callResult } from "./call-result.ts";
import { runResult } from "./run-result.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

export interface StoreReader {
  answer(loaded: LoadedTree, effect: Extract<Effect, { type: "read-store" }>, input: Json): Promise<ToolOutput>;
  erase(loaded: LoadedTree, effect: Extract<Effect, { type: "erase-texts" }>): Promise<Submission>;
}

type Arguments = { readonly [name: string]: Json };

const MAX_RUNS = 10_000;
const READ_BYTES = 32_768;
const ROWS_AT_A_TIME = 500;

export function createStoreReader(store: Store, sha256: Sha256, clock: Clock): StoreReader {
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

  /** The rows of the tree between the run's creation and its end. */
  async function rowsOf(run: StoredRun): Promise<JournalRow[]> {
    const rows: JournalRow[] = [];
    const end = run.endedSeq ?? 0;
    for (let from = run.createdSeq; from <= end;) {
      const page = await store.rows(run.tree, from, Math.min(ROWS_AT_A_TIME, end - from + 1));
      const last = page.at(-1);
      if (last === undefined) break;
      rows.push(...page);
      from = last.seq + 1;
    }
    return rows;
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
        elapsed_ms: run.startedAt === null ? 0 : (run.endedAt ?? clock.now()) - run.startedAt,
      }));
    return { text: JSON.stringify(rows), failed: false };
  }

  async function readRun(run: StoredRun, args: Arguments): Promise<ToolOutput> {
    if (run.endedSeq === null) return failed("read_result: that run has not ended; you will be told when it has");
    return piece((await runResult(store, run)).whole, args);
  }

  async function readCall(tree: TreeId, agent: AgentNumber, args: Arguments): Promise<ToolOutput> {
    const { call_id: handle } = args;
    const text = await callResult(store, tree, typeof handle === "string" ? handle : "", async (owner) => {
      return owner === agent || (await below(tree, agent)).some((run) => run.number === owner);
    });
    if (text === "unknown")
      return failed("read_result: no result of yours has that call_id; the note before a result that was cut names it");
    return text === "erased" ? failed("read_result: that result was erased with its run") : piece(text.whole, args);
  }

  return {
    async answer(loaded, effect, input) {
      const args = jsonObjectIs(input) ? input : {};
      if (effect.name === "list_runs") return list(loaded, effect.agent, args["state"]);
      if (effect.name === "read_result" && args["call_id"] !== undefined)
        return readCall(loaded.id, effect.agent, args);
      const run = (await below(loaded.id, effect.agent)).find((known) => known.id === args["run_id"]);
      if (run === undefined) return failed(`${effect.name}: no such run below you; list_runs names them`);
      if (effect.name === "read_result") return readRun(run, args);
      if (effect.name === "cancel_run")
        return { text: JSON.stringify({ status: "already_ended", cancelled: 0 }), failed: false };
      return failed(`${effect.name}: that run has ended; start another one`);
    },
    async erase(loaded, effect) {
      const runs = await store.runs({ tree: loaded.id, limit: MAX_RUNS });
      const run = runs.find((known) => known.number === effect.run);
      const erased = run === undefined ? [] : erasedBodies(run.number, await rowsOf(run));
      const rows = erased.map(({ seq, body }) => ({ seq, hash: sha256(body) }));
      return { tree: loaded.id, input: { type: "texts-erased", effect: effect.key, rows }, texts: [], erased };
    },
  };
}

/** A range of a text, in bytes. As JSON it takes at most twice READ_BYTES: text that must be escaped comes in smaller pieces. */
function piece(whole: string, args: Arguments): ToolOutput {
  const bytes = Buffer.from(whole);
  const offset = typeof args["offset"] === "number" ? args["offset"] : 0;
  let limit = Math.min(typeof args["limit"] === "number" ? args["limit"] : READ_BYTES, READ_BYTES);
  for (;;) {
    const end = pieceEnd(bytes, offset, limit);
    const text = bytes.toString("utf8", Math.min(offset, bytes.length), end);
    const next = end < bytes.length ? { next_offset: end } : {};
    const answer = JSON.stringify({ text, offset, bytes: bytes.length, ...next });
    if (answer.length <= 2 * READ_BYTES) return { text: answer, failed: false };
    limit = Math.floor(limit / 2);
  }
}

/** A piece has at least one character, so that whoever reads on comes to the end. */
function pieceEnd(bytes: Uint8Array, offset: number, limit: number): number {
  for (let most = limit; ; most += 1) {
    const end = characterEnd(bytes, offset + most);
    if (end > offset || end === bytes.length) return end;
  }
}

function failed(problem: string): ToolOutput {
  return { text: `Error: ${problem}`, failed: true };
}
