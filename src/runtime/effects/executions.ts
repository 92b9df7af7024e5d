/**
 * Effects that this process executes now, by tree.
 *
 * Invariants:
 *  1. An effect is executed once for each attempt. Starting it again aborts the earlier execution. It counts as
 *     executing from then on, also while it waits for its turn (pace.ts).
 *  2. An aborted effect submits nothing, except what its model call used, and that a late reply or a late result of an
 *     outside child came, without its text: the kernel has gone on without it.
 *  3. No rejection is unhandled. An effect that fails in a way that becomes no input stays open, and is started again
 *     by the next process that loads the tree.
 */

import type { Input } from "../../core/event.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { World } from "../../contracts/world.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import { createPace } from "./pace.ts";

export interface Executions {
  /** Executes an effect and submits what comes back, unless no more effects are started. */
  execute(
    tree: TreeId,
    effect: { readonly key: StepKey; readonly attempt: number },
    work: (signal: AbortSignal) => Promise<Submission>,
  ): void;
  abort(tree: TreeId, key: StepKey): void;
  /** Aborts effects of the tree that are not open in it any more, or are open under another attempt. */
  abortClosed(loaded: LoadedTree): void;
  abortTree(tree: TreeId): void;
  /** Aborts all effects and starts no more. They stay open in the store. */
  abortAll(): void;
  executing(tree: TreeId, key: StepKey): boolean;
  /** How many effects of the tree are being executed. */
  count(tree: TreeId): number;
  /** Starts no more effects, and resolves when the running ones have ended. */
  drain(): Promise<void>;
}

/** True for a result of an outside child. That it was stopped is none. */
function resultIs(input: Input): boolean {
  return input.type === "runner-ended" && (input.status === "ok" || input.status === "error");
}

interface ExecutionsParts {
  readonly world: Pick<World, "monotonic" | "soon">;
  readonly submit: (submission: Submission) => void;
  readonly onFailure: (error: unknown) => void;
}

interface Execution {
  readonly controller: AbortController;
  readonly attempt: number;
}

export function createExecutions({ world, submit, onFailure }: ExecutionsParts): Executions {
  const pace = createPace(world);
  const running = new Map<TreeId, Map<StepKey, Execution>>();
  let draining = false;
  const idlers: (() => void)[] = [];

  function remove(tree: TreeId, key: StepKey): void {
    const mine = running.get(tree);
    mine?.delete(key);
    if (mine?.size === 0) running.delete(tree);
    if (running.size === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  function abort(tree: TreeId, key: StepKey): void {
    running.get(tree)?.get(key)?.controller.abort();
    remove(tree, key);
  }

  /** What an aborted effect still says. */
  function submitAborted({ tree, input }: Submission): void {
    if (draining) return;
    if (input.type === "model-replied" || resultIs(input)) submit({ tree, input, texts: [] });
    if ((input.type !== "model-replied" && input.type !== "model-failed") || input.usage === null) return;
    const { effect, attempt, usage } = input;
    submit({ tree, input: { type: "usage-learnt", effect, attempt, usage }, texts: [] });
  }

  return {
    execute(tree, { key, attempt }, work) {
      if (draining) return;
      const controller = new AbortController();
      const { signal } = controller;
      const mine = running.get(tree) ?? new Map<StepKey, Execution>();
      mine.get(key)?.controller.abort();
      running.set(tree, mine.set(key, { controller, attempt }));
      pace.start(() => {
        if (signal.aborted) return;
        void work(signal)
          .catch((error: unknown) => {
            if (!signal.aborted) onFailure(error);
            return null;
          })
          .then((submission) => {
            const current = mine.get(key)?.controller === controller;
            if (current) remove(tree, key);
            if (submission === null) return;
            if (!current) submitAborted(submission);
            else if (!signal.aborted) submit(submission);
          });
      });
    },
    abort,
    abortClosed({ id, tree }) {
      for (const [key, { attempt }] of running.get(id) ?? []) {
        if (tree.state.effects.get(key)?.attempt !== attempt) abort(id, key);
      }
    },
    abortTree(tree) {
      for (const key of running.get(tree)?.keys() ?? []) abort(tree, key);
    },
    abortAll() {
      draining = true;
      for (const [tree, mine] of running) for (const key of mine.keys()) abort(tree, key);
    },
    executing: (tree, key) => running.get(tree)?.has(key) === true,
    count: (tree) => running.get(tree)?.size ?? 0,
    drain() {
      draining = true;
      return running.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve));
    },
  };
}
