/** The calls of models and tools that a process has under way: neither answered nor aborted. */

import type { Life } from "./simulated-world.ts";

export interface OpenCall {
  readonly what: string;
  /** The id of the agent that it serves; empty where nobody can tell. */
  readonly agent: string;
}

export interface CallsUnderWay {
  readonly open: Set<OpenCall>;
  /** Model calls ever made. */
  models: number;
}

export function createCallsUnderWay(): CallsUnderWay {
  return { open: new Set(), models: 0 };
}

/**
 * Enters a call until it is answered or aborted. The function it gives says that it is, and whether this was the first
 * to say so.
 */
export function enterCall({ open }: CallsUnderWay, call: OpenCall): () => boolean {
  open.add(call);
  return () => open.delete(call);
}

/** Told what a process does that was stopped, and replaced meanwhile. */
export type OnStray = (what: string) => void;

/** True if nobody hears this process any more. What it does though it was replaced is told. */
export function unheard(life: Life, what: string, onStray: OnStray): boolean {
  if (life.awake) onStray(what);
  return life.ended;
}
