/**
 * Ids. Outside a tree, an agent and a run have a UUIDv7. Inside, they have a small number, which keeps the journal
 * short and readable: the root agent is 0, and the n-th run of the tree and its child are both n.
 *
 * Invariants:
 *  1. An id is a pure function of the step's time, the step's seed and its number within the step.
 *  2. The ids of one step differ, and sort in the order in which they were taken.
 */

declare const kind: unique symbol;

/**
 * A tree is named by its root agent: the two ids are the same string. Any string is taken for one, but none that is
 * known to be another kind of id.
 */
export type TreeId = string & { readonly [kind]?: "tree" };
/** The id under which a message was posted; unique in its tree for the tree's life. */
export type PostId = string & { readonly [kind]?: "post" };

/** `SEQ.NUMBER`: the step that made an effect, a message or an announcement, and its number within that step. */
export type StepKey = string & { readonly [kind]?: "step-key" };

/** An agent's number in its tree (root 0). A child and its run have the same one. */
export type AgentNumber = number;
/** A run's number in its tree, which its child has too. */
export type RunNumber = number;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function uuidIs(text: string): boolean {
  return UUID.test(text);
}

export function stepKey(seq: number, number: number): StepKey {
  return `${seq}.${number}` as StepKey;
}

/** The step that a key names. */
export function stepKeyRow(key: StepKey): number {
  return Number(key.slice(0, key.indexOf(".")));
}

/** How many hex digits of randomness a step is given: the 62 free bits of a UUIDv7, rounded up. */
export const SEED_DIGITS = 16;
/** How many hex digits of randomness a row's body begins with. */
export const SALT_DIGITS = 16;

/**
 * The `number`-th UUIDv7 of a step: its time, then the number in twelve bits, then the seed. Beyond 4,096 ids the
 * excess goes into the seed's low digits.
 */
export function uuidOf(at: number, seed: string, number: number): string {
  // In two halves, because small integers are converted faster.
  const time = hex(Math.floor(at / 0x1000000) % 0x1000000, 6) + hex(at % 0x1000000, 6);
  const sequence = hex(number & 0xfff, 3);
  const variant = ((parseInt(seed.slice(0, 1), 16) & 0x3) | 0x8).toString(16);
  const high = seed.slice(1, 4);
  const low = seed.slice(4, 12);
  const tail = hex((parseInt(seed.slice(12, 16), 16) + (number >>> 12)) & 0xffff, 4);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence}-${variant}${high}-${low}${tail}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** The seed as a number from 0 up to, but not including, 1. */
export function fractionOf(seed: string): number {
  return parseInt(seed.slice(0, 8), 16) / 0x1_0000_0000;
}

/** Turns a string that was checked at the edge into an id. */
export const asTreeId = (text: string): TreeId => text;
export const asPostId = (text: string): PostId => text;
export const asStepKey = (text: string): StepKey => text;
