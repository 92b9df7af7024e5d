/** Numbers as people read them: time, tokens, money, counts. */

import { durationLabel } from "../../core/text/index.ts";

/** With tenths below ten seconds, where whole ones would say nothing. */
export function elapsedLabel(ms: number): string {
  const tenths = Math.round(Math.max(0, ms) / 100);
  return tenths < 100 ? `${(tenths / 10).toFixed(1)}s` : durationLabel(ms);
}

export function tokensLabel(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  if (tokens < 999_950) return `${(tokens / 1_000).toFixed(1)}k`;
  return `${(tokens / 1_000_000).toFixed(2)}M`;
}

/** Money comes in micro-dollars. */
export function costLabel(cost: number): string {
  const dollars = cost / 1_000_000;
  return `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

export function countLabel(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
