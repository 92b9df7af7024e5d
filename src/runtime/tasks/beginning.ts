/**
 * How tasks and conversations begin: under a new id, or under one from a key of the caller's. What was begun under a
 * key before is found again, and refused if its content differs.
 */

import type { Store } from "../../contracts/store.ts";
import { bodyRead } from "../../core/journal/row.ts";
import { canonicalJson } from "../../core/text/canonical-json.ts";
import type { Json } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import { plainJson } from "../../plain-json.ts";
import type { PostInput } from "../messages/mail.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { runRefused } from "../runs.ts";
import type { Runtime } from "../runtime.ts";
import type { Opening } from "../trees/tree-opener.ts";

export interface Beginning extends Omit<Opening, "data"> {
  readonly keyed: boolean;
  /** The caller's data for the tools of the tree, as it was given. */
  readonly data: unknown;
  /** Without it the tree is opened without a message. */
  readonly first?: { readonly input: PostInput; readonly text: Json };
}

interface BeginningParts {
  readonly runtime: Pick<Runtime, "open" | "start" | "post">;
  readonly store: Store;
  readonly redactor: Redactor;
}

/** Opens a tree under an id from a key, with its first input, or finds the one that was opened under it before. */
export type Begin = (beginning: Beginning) => Promise<void>;

export function createBeginning({ runtime, store, redactor }: BeginningParts): Begin {
  /** A tree that was opened under the same key is the same only if it has the same agent and data. */
  async function requireSame({ tree, definition, kind, data }: Opening): Promise<void> {
    const known = await store.tree(tree);
    if (known === null) return;
    if (known.agent !== definition || known.kind !== kind) throw keyReused(`for an agent "${known.agent}"`);
    if (known.status === "expired") throw keyExpired();
    const [row] = await store.rows(tree, 0, 1);
    const recorded = bodyRead(row?.body ?? null).texts[0] ?? null;
    if (canonicalJson(recorded) !== canonicalJson(redactor.json(data))) throw keyReused("with other data");
  }

  return async ({ keyed, first, data: given, ...rest }) => {
    const opening = { ...rest, data: dataOf(given) };
    const { tree } = opening;
    if (!keyed || (await store.tree(tree)) === null) {
      try {
        const rejected = first === undefined ? await runtime.open(opening) : await runtime.start(opening, first);
        if (typeof rejected === "string") throw runRefused(rejected);
      } catch (error) {
        const raced = error instanceof ErrandError && error.code === "commit-conflict";
        if (!keyed || !raced || (await store.tree(tree)) === null) throw error;
      }
    }
    if (!keyed) return;
    // Another caller may have opened the tree under this key at the same time.
    await requireSame(opening);
    if (first === undefined) return;
    const rejected = await runtime.post(tree, first.input, [first.text]);
    if (rejected !== null) throw runRefused(rejected);
  };
}

/** In bytes of JSON. Data are read with the tree, and copied for every call of a tool. */
const MOST_DATA = 65_536;

function dataOf(given: unknown): Json {
  const plain = plainJson(given ?? null);
  if ("problem" in plain)
    throw new ErrandError("usage", `The option \`data\` is not JSON: ${plain.problem}.`, {
      remedy: "Give what JSON can hold, such as an id, by which your tools find the rest.",
    });
  const bytes = Buffer.byteLength(JSON.stringify(plain.json));
  if (bytes > MOST_DATA)
    throw new ErrandError("usage", `The option \`data\` has ${bytes} bytes, more than ${MOST_DATA}.`, {
      remedy: "Give an id, by which your tools find the rest.",
    });
  return plain.json;
}

export function keyExpired(): ErrandError {
  return new ErrandError("tree-unknown", "The work under this key has expired; only its record is left.", {
    remedy: "Use a new key to do it again; `retentionDays` says how long work is kept.",
  });
}

export function keyReused(how: string): ErrandError {
  return new ErrandError("id-reused", `The key was used before, ${how}.`, { remedy: "Use a new key for other work." });
}
