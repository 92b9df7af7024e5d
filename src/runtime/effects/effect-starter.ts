/**
 * Starts effects after the commit that decided them. An effect is deferred if the outcome of that commit is unknown, or
 * while other workers may have taken this process for dead. A deferred effect was never started, so starting it later
 * is no repetition.
 */

import type { ContextRequest } from "../../core/context/request.ts";
import type { Effect } from "../../core/effect.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Stepped } from "../../core/tree.ts";
import type { EffectRunner } from "./effect-runner.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

type Requests = ReadonlyMap<StepKey, ContextRequest>;

interface Deferred {
  readonly effects: readonly Effect[];
  readonly requests: Requests;
}

export interface EffectStarter {
  start(loaded: LoadedTree, effect: Effect, requests: Requests): void;
  /** Defers what these steps decided until their tree is loaded. */
  defer(tree: TreeId, steps: readonly Pick<Stepped, "decision" | "requests">[]): void;
  hasDeferred(tree: TreeId): boolean;
  /** Starts deferred effects that are still open under the same attempt. */
  startDeferred(loaded: LoadedTree): void;
  /** This process stops running the tree: aborts its effects, and forgets deferred ones. */
  abandon(tree: TreeId): void;
}

/** `alive` is false while other workers may have taken this process for dead. */
export function createEffectStarter(effects: EffectRunner, alive: () => boolean): EffectStarter {
  const deferred = new Map<TreeId, Deferred>();

  function add(tree: TreeId, more: Deferred): void {
    const earlier = deferred.get(tree);
    deferred.set(tree, {
      effects: [...(earlier?.effects ?? []), ...more.effects],
      requests: new Map([...(earlier?.requests ?? []), ...more.requests]),
    });
  }

  function start(loaded: LoadedTree, effect: Effect, requests: Requests): void {
    if (effect.type === "abort" || alive()) effects.start(loaded, effect, requests);
    else add(loaded.id, { effects: [effect], requests });
  }

  return {
    start,
    defer: (tree, steps) =>
      add(tree, {
        effects: steps.flatMap((step) => step.decision.effects),
        requests: new Map(steps.flatMap((step) => [...step.requests])),
      }),
    hasDeferred: (tree) => deferred.has(tree),
    startDeferred(loaded) {
      const waiting = deferred.get(loaded.id);
      deferred.delete(loaded.id);
      for (const effect of waiting?.effects ?? []) {
        if (effect.type === "abort") continue;
        const open = loaded.tree.state.effects.get(effect.key);
        if (open?.attempt === effect.attempt) start(loaded, effect, waiting?.requests ?? new Map());
      }
    },
    abandon(tree) {
      effects.abortTree(tree);
      deferred.delete(tree);
    },
  };
}
