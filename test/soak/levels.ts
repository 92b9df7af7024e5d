/** Heap and descriptors over time: flat, or growing. */

export interface Level {
  readonly at: number;
  readonly heap: number;
  readonly descriptors: number;
  readonly trees: number;
}

export interface Growth {
  readonly from: number;
  readonly to: number;
  readonly flat: boolean;
}

/** Growth that is still flat: a tenth, or so much. */
const SHARE = 0.1;
export const HEAP_SLACK = 4_000_000;
export const DESCRIPTOR_SLACK = 5;

/** The median of the first third against that of the last. Fewer than six levels say nothing. */
export function growthOf(values: readonly number[], slack: number): Growth {
  const third = Math.floor(values.length / 3);
  const from = median(values.slice(0, third));
  const to = median(values.slice(values.length - third));
  return { from, to, flat: third < 2 || to - from <= Math.max(from * SHARE, slack) };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
