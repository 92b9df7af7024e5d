/** Numbers as people read them: durations, dates, tokens, money, counts. Dates are in UTC, wherever a log is read. */

import { durationLabel } from "../core/text/index.ts";

const DAY_MS = 86_400_000;

/** Shows tenths of a second below ten seconds. */
export function elapsedLabel(ms: number): string {
  const tenths = Math.round(Math.max(0, ms) / 100);
  return tenths < 100 ? `${(tenths / 10).toFixed(1)}s` : durationLabel(ms);
}

export function tokensLabel(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  if (tokens < 999_950) return `${(tokens / 1_000).toFixed(1)}k`;
  return `${(tokens / 1_000_000).toFixed(2)}M`;
}

/** `cost` is in micro-dollars. */
export function costLabel(cost: number): string {
  const dollars = cost / 1_000_000;
  return `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;
}

export function countLabel(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** `2026-01-31 12:00:00Z` */
export function dateLabel(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** `12:00:00.000` */
export function clockLabel(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

export function agoLabel(at: number, now: number): string {
  const ms = Math.max(0, now - at);
  return ms < 2 * DAY_MS ? `${elapsedLabel(ms)} ago` : `${Math.floor(ms / DAY_MS)} days ago`;
}
