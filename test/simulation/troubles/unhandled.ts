/** `unhandled`: no rejection is left without somebody who takes it, and nothing is thrown where nobody can catch it. */

import type { EventEmitter } from "node:events";
import { Violation } from "../invariants/violation.ts";
import type { Watch } from "../watch.ts";

/** Looks out for them until the function it gives is called: Node tells of a rejection when it turns its event loop. */
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
