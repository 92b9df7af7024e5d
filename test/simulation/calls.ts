/** The open calls of a process to models and tools: neither answered nor aborted. */

import type { Life } from "./simulated-world.ts";

export interface OpenCall {
  readonly what: string;
  /** The id of the calling agent; empty if it is not known. */
  readonly agent: string;
}

export interface CallsUnderWay {
  readonly open: Set<OpenCall>;
  /** All model calls so far. */
  models: number;
}

export function createCallsUnderWay(): CallsUnderWay {
  return { open: new Set(), models: 0 };
}

/**
 * Records a call until it is answered or aborted. The returned function ends it, and returns true only the first time.
 */
export function enterCall({ open }: CallsUnderWay, call: OpenCall): () => boolean {
  open.add(call);
  return () => open.delete(call);
}

/** Called when a paused process acts although another one has replaced it. */
export type OnStray = (what: string) => void;

/** True if the process has ended, so that its action has no effect. The action of a replaced process is reported. */
export function unheard(life: Life, what: string, onStray: OnStray): boolean {
  if (life.awake) onStray(what);
  return life.ended;
}
