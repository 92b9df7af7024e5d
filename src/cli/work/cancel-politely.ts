/** Ends the turn and every run of a tree, and waits a moment until that is done. */

import type { Agent } from "../../runtime/agent.ts";
import type { Host } from "../host.ts";
import { treeAtRest } from "../../view/tree-model.ts";
import type { Following } from "./follow-tree.ts";

const WITHIN_MS = 5_000;
/** Runs that were cancelled may be announced to their parent, which begins another turn. */
const CANCELS = 3;

interface Cancelled {
  readonly agent: Agent;
  readonly following: Following;
  readonly host: Host;
}

export async function cancelPolitely({ agent, following, host }: Cancelled): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancelTimer = host.world.after(WITHIN_MS, late.resolve);
  const cancelled = async (): Promise<void> => {
    for (let times = 0; times < CANCELS && !treeAtRest(following.model); times += 1) {
      await agent.cancel();
      // The event is committed now; following sees it in a later turn of the event loop.
      await new Promise<void>((resolve) => host.world.soon(resolve));
    }
  };
  await Promise.race([cancelled(), late.promise]);
  cancelTimer();
}
