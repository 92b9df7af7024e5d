/**
 * Numbers in the options of a program. Trees are opened with them, so an odd one would be found in every conversation.
 */

import type { LimitChoices } from "../core/values/limits.ts";
import { ErrandError } from "../errors.ts";

interface Numbers {
  readonly limits?: LimitChoices;
  readonly caps?: LimitChoices;
  readonly slots?: number;
  readonly retentionDays?: number | null;
}

/** As many seconds, in milliseconds, are still exact. */
const MOST = 1_000_000_000_000;

export function requireNumbers({ limits, caps, slots, retentionDays }: Numbers): void {
  for (const [group, choices] of Object.entries({ limits, caps }))
    for (const [name, value] of Object.entries(choices ?? {}))
      if (value !== null) requireWhole(`${group}.${name}`, value, "a whole number from 0, or null");
  requireWhole("slots", slots, "a whole number from 0");
  if (retentionDays === undefined || retentionDays === null) return;
  if (!Number.isFinite(retentionDays) || retentionDays < 0)
    throw refused("retentionDays", retentionDays, "a number from 0, or null");
}

function requireWhole(name: string, value: unknown, wanted: string): void {
  if (value !== undefined && !wholeFrom(0, value)) throw refused(name, value, wanted);
}

/** True for a whole number from `least` that is not absurdly large. */
export function wholeFrom(least: number, value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= MOST;
}

function refused(name: string, value: unknown, wanted: string): ErrandError {
  const shown = typeof value === "number" ? String(value) : `of the type ${typeof value}`;
  return new ErrandError("usage", `The option ${name} is ${shown}; it must be ${wanted}.`, {
    remedy: "Correct it where createErrand is called.",
  });
}
