/**
 * Grants: a user allowed the same call for a whole conversation, or for a project.
 *
 * Invariants:
 *  1. A grant is made from a call that the user saw, never from words of the answer.
 *  2. A call matches a grant only if the same rule would be made from it: the same tool and the same path as written,
 *     or the same words in the same folder. A call that no rule can name exactly (a path that leads up, a pattern, a
 *     shell) has no grant.
 *  3. A grant satisfies `ask` and never `deny` (rule A9).
 */

import { type Json, jsonObjectIs } from "../values/json.ts";
import type { FileFacts, PermissionRule } from "./permissions.ts";

const WILD = /[*?[\]{}\\\0]/;
const LENGTH = 4_096;
/** A tree holds at most so many grants. Beyond them the user is asked each time. */
const GRANTS = 500;

interface Called {
  readonly name: string;
  readonly input: Json;
  readonly file?: FileFacts | undefined;
}

/** The rule that allows exactly this call's path, or its words and their folder; null if no rule can. */
export function exactRule({ name, input, file }: Called): PermissionRule | null {
  // A symlink may lead elsewhere next time, and a file with several names is not named by one of them.
  if (!jsonObjectIs(input) || file?.real !== undefined || file?.linked === true) return null;
  const { argv, path, folder, shell } = input;
  if (argv !== undefined) {
    const words = wordsOf(argv);
    const where = exactPath(folder ?? ".");
    const plain = shell === undefined || shell === null || shell === false;
    if (words === null || where === null || !plain || path !== undefined) return null;
    return { decision: "allow", tool: name, path: where, command: words };
  }
  const where = path === undefined ? null : exactPath(path);
  return where === null || where === "." ? null : { decision: "allow", tool: name, path: where };
}

export function callGranted(grants: readonly PermissionRule[], call: Called): boolean {
  if (grants.length === 0) return false;
  const rule = exactRule(call);
  return rule !== null && grants.some((grant) => sameRule(grant, rule));
}

export function withGrant(grants: readonly PermissionRule[], grant: PermissionRule): readonly PermissionRule[] {
  if (grants.length >= GRANTS || grants.some((known) => sameRule(known, grant))) return grants;
  return [...grants, grant];
}

function sameRule(a: PermissionRule, b: PermissionRule): boolean {
  return (
    a.tool === b.tool &&
    a.path === b.path &&
    a.command?.length === b.command?.length &&
    (a.command ?? []).every((word, index) => word === b.command?.[index])
  );
}

/** A pattern that matches only this path. Without a slash it would match a name at any depth. */
function exactPath(path: Json): string | null {
  if (typeof path !== "string" || path === "" || path.length > LENGTH) return null;
  if (path.startsWith("/") || WILD.test(path)) return null;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return null;
  return names.length === 0 ? "." : names.length === 1 ? `./${names.join("/")}` : names.join("/");
}

/** The words of a command; null for none, or if the last is `*`, which as a rule would allow more words. */
function wordsOf(argv: Json): readonly string[] | null {
  if (!Array.isArray(argv) || argv.length === 0) return null;
  const words = argv.filter((word) => typeof word === "string").filter((word) => word !== "");
  const length = words.reduce((sum, word) => sum + word.length, 0);
  return words.length < argv.length || length > LENGTH || words.at(-1) === "*" ? null : words;
}
