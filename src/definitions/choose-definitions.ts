/**
 * Chooses among definitions of the same name. Pure.
 *
 * Invariants:
 *  1. The first usable definition is used. Later ones are shadowed, and name the file that shadows them.
 *  2. A definition that must not be used yet does not block its name: the next one is used instead.
 */

import type { Warning } from "./fields.ts";

export interface Candidate {
  readonly path: string;
  /** Null if the file gives no definition. */
  readonly found: { readonly name: string } | null;
  readonly warnings: readonly Warning[];
}

export interface Choice {
  readonly state: "used" | "shadowed" | "untrusted" | "no-model" | "unusable";
  /** The definition that is used instead of a shadowed one. */
  readonly shadowedBy: string | null;
  /** Why a definition that could be used is not; null if it is used. */
  readonly objection: string | null;
}

/** Why a definition must not be used. */
export interface Objection {
  readonly state: "untrusted" | "no-model";
  readonly text: string;
}

/** `candidates` are in the order of precedence. `takenBy` names what else has a name. */
export function chooseDefinitions<One extends Candidate>(
  candidates: readonly One[],
  takenBy: (name: string) => string | null,
  objectionTo: (candidate: One) => Objection | null,
): (One & Choice)[] {
  const winners = new Map<string, string>();
  return candidates.map((candidate) => {
    if (candidate.found === null) return { ...candidate, state: "unusable", shadowedBy: null, objection: null };
    const { name } = candidate.found;
    const shadowedBy = winners.get(name) ?? takenBy(name);
    const reason =
      shadowedBy === null
        ? objectionTo(candidate)
        : ({ state: "shadowed", text: `"${name}" is already given by ${shadowedBy}` } as const);
    if (reason === null) {
      winners.set(name, candidate.path);
      return { ...candidate, state: "used", shadowedBy, objection: null };
    }
    const warning: Warning = { text: `it was left out: ${reason.text}`, line: null };
    const warnings = [...candidate.warnings, warning];
    return { ...candidate, state: reason.state, shadowedBy, objection: reason.text, warnings };
  });
}
