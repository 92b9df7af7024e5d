/**
 * `beforeDelegation` in a simulation: it allows, refuses, rewrites, throws, is slow, or never answers. What it let
 * through is recorded outside of the process: no run may have another task.
 */

import type { BeforeDelegation, DelegationCall, DelegationDecision } from "../../src/index.ts";
import type { Outside } from "./outside.ts";
import type { Random } from "./random.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";

interface HookParts {
  readonly random: Random;
  readonly world: SimulatedWorld;
  readonly outside: Outside;
  readonly count: (what: string) => void;
  /** Checks the data that a tree's tools and hook are given. */
  readonly onData: (tree: string, data: unknown) => void;
  /** The hook keeps its caller waiting until this time. */
  readonly onWait: (until: number) => void;
}

/** The time that the hook has, and a shorter one. */
const MOST_MS = 5_000;
const SLOW_MS = 3_000;

export function createDelegationHook(parts: HookParts, life: Life): BeforeDelegation {
  const { random, world, outside, count } = parts;
  const waits = (): Promise<undefined> => new Promise(() => undefined);

  function allow(task: string): void {
    outside.allowed.add(task);
  }

  function after(milliseconds: number, call: DelegationCall): Promise<undefined> {
    parts.onWait(world.now + milliseconds);
    return new Promise((resolve) => {
      const answer = (): void => {
        allow(call.task);
        resolve(undefined);
      };
      world.at(world.now + milliseconds, answer, life);
    });
  }

  return (call): DelegationDecision | undefined | Promise<undefined> => {
    if (life.ended) return waits();
    parts.onData(call.tree, call.data);
    const does = random.weighted([
      [60, "allows"],
      [12, "refuses"],
      [16, "rewrites"],
      [6, "throws"],
      [4, "is slow"],
      [3, "hangs"],
    ] as const);
    count(`hook ${does}`);
    switch (does) {
      case "allows":
        allow(call.task);
        return undefined;
      case "refuses":
        return { refuse: "not now" };
      case "rewrites": {
        const task = `${call.task} carefully`;
        allow(task);
        return { task };
      }
      case "throws":
        throw new Error("the hook is broken");
      case "is slow":
        return after(SLOW_MS, call);
      case "hangs":
        parts.onWait(world.now + MOST_MS);
        return waits();
    }
  };
}
