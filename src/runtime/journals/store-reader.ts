/** Answers delegation tools from the store: lists and results of runs that are not in the state any more. */

import type { Store, StoredRun } from "../../contracts/store.ts";
import type { ToolOutput } from "../../contracts/tool.ts";
import type { Effect } from "../../core/effect.ts";
import type { AgentNumber, TreeId } from "../../core/values/ids.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { characterEnd } from "../effects/tool-results.ts";
import type { Clock } from "../clock.ts";
import { callResult } from "./call-result.ts";
import { runResult } from "./run-result.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

export interface StoreReader {
  answer(loaded: LoadedTree, effect: Extract<Effect, { type: "read-store" }>, input: Json): Promise<ToolOutput>;
}

type Arguments = { readonly [name: string]: Json };

const READ_BYTES = 32_768;

export function createStoreReader(store: Store, clock: Clock): StoreReader {
  /** The runs below an agent, in spawn order. */
  async function below(tree: TreeId, agent: AgentNumber): Promise<StoredRun[]> {
    const runs = await store.runs({ tree, limit: Number.MAX_SAFE_INTEGER });
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
  };
}

/**
 * A range of a text, in bytes. Its JSON has at most twice READ_BYTES: text with many escapes comes in smaller pieces.
 */
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

/** A piece has at least one character, so that a model that reads on reaches the end. */
function pieceEnd(bytes: Uint8Array, offset: number, limit: number): number {
  for (let most = limit; ; most += 1) {
    const end = characterEnd(bytes, offset + most);
    if (end > offset || end === bytes.length) return end;
  }
}

function failed(problem: string): ToolOutput {
  return { text: `Error: ${problem}`, failed: true };
}
