/** The events and facts of a tree. */

import type { Errand, Fact, TreeEvent } from "../../src/index.ts";
import { eventsUntil } from "./test-errand.ts";

/** Every event that the tree has committed until now. */
export async function eventsNow(errand: Errand, tree: string): Promise<TreeEvent[]> {
  const last = (await errand.listTrees({ limit: 1_000 })).find((known) => known.id === tree)?.nextSeq ?? 1;
  return last === 1 ? [] : eventsUntil(errand, tree, (event) => event.seq >= last - 1);
}

/** Reads events until the tree has so many facts of a type. */
export function eventsUntilFacts(errand: Errand, tree: string, type: Fact["type"], count = 1): Promise<TreeEvent[]> {
  let seen = 0;
  return eventsUntil(errand, tree, (event) => {
    seen += factsOfType(event.facts, type).length;
    return seen >= count;
  });
}

export function allFacts(events: readonly TreeEvent[]): Fact[] {
  return events.flatMap((event) => event.facts);
}

export function factsOfType<Type extends Fact["type"]>(
  facts: readonly Fact[],
  type: Type,
): Extract<Fact, { type: Type }>[] {
  return facts.filter((fact): fact is Extract<Fact, { type: Type }> => fact.type === type);
}

/** The facts of a type, without those of inputs that were rejected. */
export function acceptedFacts<Type extends Fact["type"]>(
  events: readonly TreeEvent[],
  type: Type,
): Extract<Fact, { type: Type }>[] {
  return factsOfType(allFacts(events.filter((event) => event.rejected === null)), type);
}
