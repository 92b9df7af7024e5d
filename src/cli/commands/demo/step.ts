/**
 * The steps that the demonstration shows. With `--json` each is a line, with `elapsedMs` since the beginning. What
 * agents do is read from the journal; `row` is its number there.
 */

import type { RunStatus } from "../../../core/journal/journal.ts";
import type { TreeEvent } from "../../../view/tree-event.ts";
import type { ReadableEvent } from "../../../view/readable-event.ts";
import type { TreeModel } from "../../../view/tree-model.ts";

export type Step =
  /** `errand` was started with these arguments. */
  | { readonly type: "process-started"; readonly pid: number; readonly args: readonly string[] }
  | { readonly type: "task-given"; readonly row: number; readonly text: string }
  | { readonly type: "spawned"; readonly row: number; readonly run: string; readonly name: string }
  | {
      readonly type: "ended";
      readonly row: number;
      readonly run: string;
      readonly name: string;
      readonly status: RunStatus;
      /** Milliseconds from its start to its end. */
      readonly took: number;
    }
  /** `row` is the last one that the process wrote. */
  | {
      readonly type: "process-killed";
      readonly row: number;
      readonly pid: number;
      readonly ended: number;
      readonly open: number;
    }
  /** Calls that the dead process had begun are made again. */
  | { readonly type: "calls-repeated"; readonly row: number; readonly calls: number }
  | { readonly type: "nudged"; readonly row: number; readonly name: string }
  /** Ended runs were placed in their parent's context. */
  | { readonly type: "told"; readonly row: number; readonly name: string; readonly runs: number };

/** The steps of one event; `changes` and `model` are what it was folded into. */
export function stepsOf(event: TreeEvent, changes: readonly ReadableEvent[], model: TreeModel): Step[] {
  const { seq: row } = event;
  if (event.rejected !== null) return [];
  const named = (agent: number): string => model.agents.get(agent)?.name ?? "";
  const told = event.facts.flatMap((fact): Step[] => {
    switch (fact.type) {
      case "message-posted": {
        const [text] = event.texts;
        return fact.kind === "user" && typeof text === "string" ? [{ type: "task-given", row, text }] : [];
      }
      case "effects-lost":
        return fact.effects.length === 0 ? [] : [{ type: "calls-repeated", row, calls: fact.effects.length }];
      case "nudge-given":
        return fact.about === "report" ? [{ type: "nudged", row, name: named(fact.agent) }] : [];
      case "turn-started":
        return fact.placed === undefined
          ? []
          : [{ type: "told", row, name: named(fact.agent), runs: fact.placed.length }];
      default:
        return [];
    }
  });
  const moved = changes.flatMap((change): Step[] => {
    if (change.type === "run-created") return [{ type: "spawned", row, run: change.run, name: change.name }];
    if (change.type !== "run-ended") return [];
    const { run, name, status, elapsedMs } = change;
    return [{ type: "ended", row, run, name, status, took: elapsedMs }];
  });
  return [...moved, ...told];
}
