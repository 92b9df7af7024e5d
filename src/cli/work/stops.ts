/**
 * What can stop a command before its work is done: a signal, the time it was given, a failure that nobody waits for. The first one
 * counts. A second Ctrl-C leaves at once.
 */

import type { ErrandError } from "../../errors.ts";
import { EXIT } from "../exit-code.ts";
import type { Host } from "../host.ts";

export type Stop =
  | { readonly type: "signal"; readonly signal: "SIGINT" | "SIGTERM" | "SIGHUP" }
  | { readonly type: "timeout" }
  | { readonly type: "failure"; readonly error: ErrandError };

export interface Stops {
  /** Resolves with the first one. */
  readonly first: Promise<Stop>;
  readonly onFailure: (error: ErrandError) => void;
  close(): void;
}

export function watchStops(host: Host, timeoutMs: number | null): Stops {
  const { promise, resolve } = Promise.withResolvers<Stop>();
  let interrupted = false;
  const offs = [
    host.onSignal("SIGINT", () => {
      if (interrupted) host.leave(EXIT.interrupted);
      interrupted = true;
      resolve({ type: "signal", signal: "SIGINT" });
    }),
    ...(["SIGTERM", "SIGHUP"] as const).map((signal) =>
      host.onSignal(signal, () => resolve({ type: "signal", signal })),
    ),
    ...(timeoutMs === null ? [] : [host.world.after(timeoutMs, () => resolve({ type: "timeout" }))]),
  ];
  return {
    first: promise,
    onFailure: (error) => resolve({ type: "failure", error }),
    close() {
      for (const off of offs) off();
    },
  };
}
