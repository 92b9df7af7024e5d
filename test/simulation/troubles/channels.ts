/** Channels that throw, are slow, or never answer. */

import type { Delivery } from "../outside.ts";
import type { Life, SimulatedWorld } from "../simulated-world.ts";
import { oddThrow } from "./odd-values.ts";
import type { Troubles } from "./troubles.ts";

interface TroubledDelivery {
  readonly troubles: Troubles;
  readonly world: SimulatedWorld;
  readonly life: Life;
  readonly count: (what: string) => void;
  readonly delivery: Pick<Delivery, "slow">;
  readonly take: () => void;
  readonly reject: (error: unknown) => void;
}

const SLOW_MS = [40_000, 300_000] as const;

/** True if the channel has such a trouble with the message. */
export function deliveryTrouble({ troubles, world, life, count, delivery, take, reject }: TroubledDelivery): boolean {
  if (troubles.strikes("throwing-channel", 50)) {
    count("trouble throwing-channel");
    const thrown = oddThrow(troubles.random);
    if (troubles.random.percent(50)) throw thrown;
    reject(thrown);
    return true;
  }
  if (troubles.strikes("slow-channel", 50)) {
    count("trouble slow-channel");
    delivery.slow = true;
    world.at(world.now + troubles.random.pick(SLOW_MS), take, life);
    return true;
  }
  if (!troubles.strikes("hanging-channel", 30)) return false;
  count("trouble hanging-channel");
  return true;
}
