/**
 * Seeded randomness: the only source of everything that the code under test does not decide. The same seed gives the
 * same numbers.
 */

export interface Random {
  /** An integer from 0 to `count` - 1. */
  below(count: number): number;
  /** True with this probability in percent. */
  percent(share: number): boolean;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  /** A value by its weight. */
  weighted<Value>(values: readonly (readonly [number, Value])[]): Value;
  /** This number of hexadecimal digits. */
  hex(digits: number): string;
  /** A new source; its draws do not affect this one. */
  fork(): Random;
}

export function createRandom(seed: number): Random {
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let d = seed >>> 0;

  /** sfc32. */
  function next(): number {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
  for (let warm = 0; warm < 12; warm += 1) next();

  const below = (count: number): number => Math.floor((next() / 0x1_0000_0000) * count);
  return {
    below,
    percent: (share) => below(1_000) < share * 10,
    pick: (values) => values[below(values.length)] ?? values[0],
    weighted(values) {
      let left = below(values.reduce((sum, [weight]) => sum + weight, 0));
      for (const [weight, value] of values) {
        if (left < weight) return value;
        left -= weight;
      }
      throw new Error("Nothing to choose from.");
    },
    hex(digits) {
      let text = "";
      while (text.length < digits) text += next().toString(16).padStart(8, "0");
      return text.slice(0, digits);
    },
    fork: () => createRandom(next()),
  };
}
