/**
 * Beginning effects: at once after the commit that decided them, or later, when that commit was in doubt or this process was. What was decided
 * here and never begun is begun, not repeated.
 */

import type { ContextRequest } from "../../core/context/request.ts";
import type { Effect } from "../../core/effect.ts";
import type { StepKey, TreeId } from "../../core/values/ids.ts";
import type { Stepped } from "../../core/tree.ts";
import type { EffectRunner } from "./effect-runner.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";

type Requests = ReadonlyMap<StepKey, ContextRequest>;

interface Held {
  readonly effects: readonly Effect[];
  readonly requests: Requests;
}

export interface Beginnings {
  begin(loaded: LoadedTree, effect: Effect, requests: Requests): void;
  /** Keeps what these steps decided until their tree is loaded. */
  hold(tree: TreeId, steps: readonly Pick<Stepped, "decision" | "requests">[]): void;
  holds(tree: TreeId): boolean;
  /** Begins what was kept and is still open under the same attempt. */
  beginHeld(loaded: LoadedTree): void;
  forget(tree: TreeId): void;
}

/** `alive` is false while others may have taken this process for dead: until it knows that they did not, it begins nothing. */
export function createBeginnings(effects: Pick<EffectRunner, "start">, alive: () => boolean): Beginnings {
  const held = new Map<TreeId, Held>();

  function add(tree: TreeId, more: Held): void {
    const earlier = held.get(tree);
    held.set(tree, {
      effects: [...(earlier?.effects ?? []), ...more.effects],
      requests: new Map([...(earlier?.requests ?? []), ...more.requests]),
    });
  }

  function begin(loaded: LoadedTree, effect: Effect, requests: Requests): void {
    if (effect.type === "abort" || alive()) effects.start(loaded, effect, requests);
    else add(loaded.id, { effects: [effect], requests });
  }

  return {
    begin,
    hold: (tree, steps) =>
      add(tree, {
        effects: steps.flatMap((step) => step.decision.effects),
        requests: new Map(steps.flatMap((step) => [...step.requests])),
      }),
    holds: (tree) => held.has(tree),
    beginHeld(loaded) {
      const kept = held.get(loaded.id);
      held.delete(loaded.id);
      for (const effect of kept?.effects ?? []) {
        if (effect.type === "abort") continue;
        const open = loaded.tree.state.effects.get(effect.key);
        if (open?.attempt === effect.attempt) begin(loaded, effect, kept?.requests ?? new Map());
      }
    },
    forget: (tree) => void held.delete(tree),
  };
}
