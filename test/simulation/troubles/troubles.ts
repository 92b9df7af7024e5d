/**
 * The troubles of a simulation: what models, tools, listeners, channels and the store may do wrong beside the faults of
 * the plan. A seed has each of them by its weight. They draw from a source of their own, so that a seed without any
 * does what it did before they were known.
 */

import type { ErrorCode } from "../../../src/errors.ts";
import type { Random } from "../random.ts";

/** How many of a thousand seeds have it. */
export const TROUBLE_WEIGHTS = {
  /** A model says that it used 10.3 tokens, 1e19, a negative number, NaN, a text. */
  "odd-usage": 50,
  /** A failed model call is to be retried after NaN, a negative or a huge number of milliseconds. */
  "odd-retry": 40,
  /** Replies with unknown parts, arguments that are no JSON, no parts at all. */
  "odd-reply": 50,
  /** Results of tools with functions, cycles, BigInt, exotic prototypes, getters that throw. */
  "odd-result": 50,
  /** Tools and models throw null, an object without prototype, a symbol. */
  "odd-throw": 50,
  /** A tool changes the arguments it was given. */
  "changed-arguments": 40,
  /** The store refuses commits as busy for a long stretch. */
  "locked-commits": 40,
  /** The store refuses reads and commits as busy for a long stretch. */
  "locked-store": 40,
  /** Commits and reads wait for a long stretch, and then succeed. */
  "waiting-store": 30,
  /** The disk is full for a long stretch. */
  "full-disk": 40,
  /** The rows of one tree cannot be written. */
  "unwritable-row": 40,
  /** Listeners throw. */
  "throwing-listener": 40,
  /** Listeners are async functions that reject. */
  "rejecting-listener": 20,
  /** Channels throw at once, or reject with something exotic. */
  "throwing-channel": 40,
  /** Channels take minutes. */
  "slow-channel": 30,
  /** Channels never answer, until another one is attached. */
  "hanging-channel": 40,
  /** A child's model streams for ever, until it is aborted. */
  "endless-reply": 40,
  /** A root's model streams for ever, until it is aborted. */
  "endless-root-reply": 30,
} as const;

export type Trouble = keyof typeof TROUBLE_WEIGHTS;

export const TROUBLES = Object.keys(TROUBLE_WEIGHTS) as readonly Trouble[];

/** What a process reports because of a trouble. */
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
  /** True once everything heals: none of them strikes any more. */
  healed: boolean;
  /** True so many times in a hundred, if the seed has this trouble and nothing is healed yet. */
  strikes(trouble: Trouble, share: number): boolean;
}

/** `forced`: the seed has just these. */
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
