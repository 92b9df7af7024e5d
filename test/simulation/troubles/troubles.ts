/**
 * The troubles of a simulation: what models, tools, listeners, channels and the store do wrong besides the faults of
 * the plan. Each has a weight. They draw from their own source, so that a new trouble does not change seeds without it.
 */

import type { ErrorCode } from "../../../src/errors.ts";
import type { Random } from "../random.ts";

/** The number of seeds in a thousand that have it. */
export const TROUBLE_WEIGHTS = {
  /** A model reports a usage of 10.3 tokens, 1e19, a negative number, NaN, or a text. */
  "odd-usage": 50,
  /** A failed model call is to be retried after NaN, a negative or a huge number of milliseconds. */
  "odd-retry": 40,
  /** Replies with unknown parts, arguments that are not JSON, or without parts. */
  "odd-reply": 50,
  /** Results of tools with functions, cycles, BigInt, exotic prototypes, getters that throw. */
  "odd-result": 50,
  /** Tools and models throw null, an object without prototype, a symbol. */
  "odd-throw": 50,
  /** A tool changes its arguments. */
  "changed-arguments": 40,
  /** The store refuses commits as busy for a long time. */
  "locked-commits": 40,
  /** The store refuses reads and commits as busy for a long time. */
  "locked-store": 40,
  /** Commits and reads wait for a long time, and then succeed. */
  "waiting-store": 30,
  /** The disk is full for a long time. */
  "full-disk": 40,
  /** The rows of one tree cannot be written. */
  "unwritable-row": 40,
  /** Listeners throw. */
  "throwing-listener": 40,
  /** Listeners are async functions that reject. */
  "rejecting-listener": 20,
  /** Channels throw at once, or reject with an exotic value. */
  "throwing-channel": 40,
  /** Channels take minutes. */
  "slow-channel": 30,
  /** Channels never answer, until another one is attached. */
  "hanging-channel": 40,
  /** A child's model streams without end until it is aborted. */
  "endless-reply": 40,
  /** A root's model streams without end until it is aborted. */
  "endless-root-reply": 30,
} as const;

export type Trouble = keyof typeof TROUBLE_WEIGHTS;

export const TROUBLES = Object.keys(TROUBLE_WEIGHTS) as readonly Trouble[];

/** The notice that a process reports because of a trouble. */
const REPORTED: Readonly<Partial<Record<Trouble, ErrorCode>>> = {
  "locked-commits": "duty-late",
  "locked-store": "duty-late",
  "waiting-store": "duty-late",
  "full-disk": "duty-late",
  "throwing-listener": "listener-failed",
  "rejecting-listener": "listener-failed",
};

export interface Troubles {
  readonly random: Random;
  readonly kinds: ReadonlySet<Trouble>;
  /** Codes of failures and notices that these troubles cause. */
  readonly foreseen: ReadonlySet<ErrorCode>;
  /** True once everything is healed: no trouble occurs any more. */
  healed: boolean;
  /** True with this probability in percent, if the seed has this trouble and nothing is healed yet. */
  strikes(trouble: Trouble, share: number): boolean;
}

/** `forced`: the seed has exactly these. */
export function drawTroubles(random: Random, forced?: readonly Trouble[]): Troubles {
  const drawn = TROUBLES.filter((kind) => random.below(1_000) < TROUBLE_WEIGHTS[kind]);
  const kinds = new Set(forced ?? drawn);
  const troubles: Troubles = {
    random,
    kinds,
    foreseen: new Set([...kinds].flatMap((kind) => REPORTED[kind] ?? [])),
    healed: false,
    strikes: (kind, share) => kinds.has(kind) && !troubles.healed && random.percent(share),
  };
  return troubles;
}
