/** `unhandled`: there is no unhandled rejection and no uncaught exception. */

import type { EventEmitter } from "node:events";
import { Violation } from "../invariants/violation.ts";
import type { Watch } from "../watch.ts";

/** Watches until the returned function is called. Node reports a rejection when its event loop turns. */
export function watchUnhandled(watch: Pick<Watch, "check">, source: EventEmitter = process): () => Promise<void> {
  const onUnhandled = (reason: unknown): void =>
    watch.check(() => {
      throw new Violation("unhandled", reason instanceof Error ? String(reason.stack) : typeof reason);
    });
  source.on("unhandledRejection", onUnhandled);
  source.on("uncaughtException", onUnhandled);
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
    source.off("unhandledRejection", onUnhandled);
    source.off("uncaughtException", onUnhandled);
  };
}
