/** Points in time as people read them. Always UTC: a log is read where it is sent to. */

import { elapsedLabel } from "./amounts.ts";

/** `2026-01-31 12:00:00Z` */
export function dateLabel(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** `12:00:00.000` */
export function clockLabel(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

const DAY_MS = 86_400_000;

export function agoLabel(at: number, now: number): string {
  const ms = Math.max(0, now - at);
  return ms < 2 * DAY_MS ? `${elapsedLabel(ms)} ago` : `${Math.floor(ms / DAY_MS)} days ago`;
}
