/**
 * What holds a store up from outside: a lock of another program, a server that is away. A person is told once when it lasts, and once when it
 * is over.
 */

import type { CancelTimer, World } from "../contracts/world.ts";
import { ErrandError } from "../errors.ts";

/** `over`: the store works again. */
export type TroubleListener = (notice: ErrandError, over: boolean) => void;

export interface Troubles {
  /** A try of this work failed, and is to be made again. */
  met(work: string, error: unknown): void;
  /** This work is done, or failed for another reason. */
  over(work: string): void;
  onDelay(listener: TroubleListener): void;
  close(): void;
}

/** Shorter ones are nothing that a person could do something about in time. */
const LASTING_MS = 5_000;

export function createTroubles(world: World): Troubles {
  const open = new Map<string, number>();
  const listeners: TroubleListener[] = [];
  let told: { readonly notice: ErrandError; readonly since: number } | null = null;
  let newest: ErrandError | null = null;
  let timer: CancelTimer | null = null;

  function tell(): void {
    timer = null;
    if (newest === null || open.size === 0 || told !== null) return;
    told = { notice: newest, since: Math.min(...open.values()) };
    for (const listener of listeners) listener(newest, false);
  }

  function ended(): void {
    timer?.();
    timer = null;
    if (told === null) return;
    const { notice, since } = told;
    told = null;
    const seconds = Math.round((world.monotonic() - since) / 1_000);
    const message = `The store works again after ${seconds} s. What waited goes on.`;
    for (const listener of listeners)
      listener(new ErrandError(notice.code, message, { details: { over: true } }), true);
  }

  return {
    met(work, error) {
      if (!(error instanceof ErrandError)) return;
      newest = error;
      if (!open.has(work)) open.set(work, world.monotonic());
      if (told === null) timer ??= world.after(LASTING_MS, tell);
    },
    over(work) {
      if (open.delete(work) && open.size === 0) ended();
    },
    onDelay: (listener) => void listeners.push(listener),
    close() {
      timer?.();
      timer = null;
      open.clear();
    },
  };
}
