/**
 * What can stop a command before its work is done: a signal, its timeout, a failure that no caller waits for. The first
 * one counts. A second Ctrl-C ends the process at once.
 */

import type { ErrandError } from "../../errors.ts";
import type { Agent } from "../../runtime/agent.ts";
import { treeAtRest } from "../../view/tree-model.ts";
import { EXIT } from "../exit-code.ts";
import type { Host } from "../host.ts";
import type { Following } from "./follow-tree.ts";

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

const CANCEL_WITHIN_MS = 5_000;
/** Cancelled runs may be announced to their parent, which starts another turn. */
const CANCELS = 3;

/** Cancels the turn and every run of a tree, and waits until that is done, but not for long. */
export async function cancelTree(agent: Agent, following: Following, { world }: Pick<Host, "world">): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stopTimer = world.after(CANCEL_WITHIN_MS, late.resolve);
  const cancelled = async (): Promise<void> => {
    for (let times = 0; times < CANCELS && !treeAtRest(following.model); times += 1) {
      await agent.cancel();
      // The event is committed now; following reads it a little later.
      await new Promise<void>((resolve) => world.soon(resolve));
    }
  };
  await Promise.race([cancelled(), late.promise]);
  stopTimer();
}
