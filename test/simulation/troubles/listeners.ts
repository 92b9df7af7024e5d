/** Listeners that throw between others that do not. The others must still be called. */

import type { Errand } from "../../../src/index.ts";
import { demand } from "../invariants/violation.ts";
import { oddThrow } from "./odd-values.ts";
import type { Troubles } from "./troubles.ts";

export interface Heard {
  /** How often each good listener was called in one life. */
  first: number;
  bad: number;
  last: number;
}

/** Adds a good listener, a bad one and a good one, for texts and for delegations. */
export function listenBadly(errand: Errand, troubles: Troubles, count: (what: string) => void): readonly Heard[] {
  const throwing = troubles.kinds.has("throwing-listener");
  if (!throwing && !troubles.kinds.has("rejecting-listener")) return [];
  return [errand.onText, errand.onDelegation].map((listen) => {
    const heard: Heard = { first: 0, bad: 0, last: 0 };
    listen(() => void (heard.first += 1));
    listen(() => {
      heard.bad += 1;
      count(`trouble ${throwing ? "throwing-listener" : "rejecting-listener"}`);
      const thrown = oddThrow(troubles.random);
      if (!throwing) return Promise.reject(thrown) as unknown as void;
      throw thrown;
    });
    listen(() => void (heard.last += 1));
    return heard;
  });
}

/** `listeners`: each is called as often as the others. */
export function checkHeard({ first, bad, last }: Heard): void {
  demand(
    "listeners",
    first === bad && bad === last,
    () => `of three listeners the first was told ${first} times, the one that throws ${bad}, the last ${last}`,
  );
}
