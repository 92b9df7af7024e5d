/**
 * Of several definitions of one name, which is used. Pure.
 *
 * Invariants:
 *  1. The first one that may be used is; those behind it are shadowed, and say by which.
 *  2. One that may not be used yet stands in nobody's way: the next of its name is used instead.
 */

import type { Warning } from "./agent-file.ts";

export interface Candidate {
  readonly path: string;
  /** What the file gives; null when it came to nothing. */
  readonly found: { readonly name: string } | null;
  readonly warnings: readonly Warning[];
}

export interface Chosen {
  readonly state: "used" | "shadowed" | "untrusted" | "no-model" | "unusable";
  /** What goes before it, when it is shadowed. */
  readonly shadowedBy: string | null;
}

/** Why a definition may not be used. */
export interface Objection {
  readonly state: "untrusted" | "no-model";
  readonly text: string;
}

/** `candidates` come nearest first; `taken` says by what else a name is given already. */
export function chooseDefinitions<One extends Candidate>(
  candidates: readonly One[],
  taken: (name: string) => string | null,
  objectionTo: (candidate: One) => Objection | null,
): (One & Chosen)[] {
  const winners = new Map<string, string>();
  return candidates.map((candidate) => {
    if (candidate.found === null) return { ...candidate, state: "unusable", shadowedBy: null };
    const { name } = candidate.found;
    const winner = winners.get(name) ?? taken(name);
    if (winner !== null)
      return leftOut(candidate, { state: "shadowed", text: `"${name}" is already given by ${winner}` }, winner);
    const objection = objectionTo(candidate);
    if (objection !== null) return leftOut(candidate, objection, null);
    winners.set(name, candidate.path);
    return { ...candidate, state: "used", shadowedBy: null };
  });
}

function leftOut<One extends Candidate>(
  candidate: One,
  { state, text }: { readonly state: Chosen["state"]; readonly text: string },
  shadowedBy: string | null,
): One & Chosen {
  const warning: Warning = { text: `it was left out: ${text}`, line: null };
  return { ...candidate, state, shadowedBy, warnings: [...candidate.warnings, warning] };
}
