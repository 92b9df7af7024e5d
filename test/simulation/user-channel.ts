/** The channel of a simulated user: takes messages at once or late, fails, and records what was delivered. */

import type { Channel } from "../../src/index.ts";
import { type OnStray, unheard } from "./calls.ts";
import { checkDelivery } from "./invariants/outside-checks.ts";
import type { Outside } from "./outside.ts";
import type { Random } from "./random.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";
import { deliveryTrouble } from "./troubles/channels.ts";
import type { Troubles } from "./troubles/troubles.ts";
import type { Watch } from "./watch.ts";

interface UserChannelParts {
  readonly random: Random;
  readonly world: SimulatedWorld;
  readonly watch: Watch;
  readonly outside: Outside;
  readonly count: (what: string) => void;
  readonly onStray: OnStray;
  readonly troubles: () => Troubles;
  /** True if this delivery fails. */
  readonly deaf: () => boolean;
}

export function createUserChannel(parts: UserChannelParts, life: Life): Channel {
  const { random, world, watch, outside, count } = parts;
  return {
    deliver(message) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      // A replaced process may repeat a message that it finds in the store, with the same id and marked as repeated.
      const stray = message.repeated ? () => undefined : parts.onStray;
      if (unheard(life, "tells the user something", stray)) return promise;
      const delivery = { id: message.id, text: message.text, repeated: message.repeated, taken: false, slow: false };
      watch.check(() => checkDelivery(outside, delivery));
      outside.deliveries.push(delivery);
      if (message.repeated) count("delivery repeated");
      const take = (): void => {
        delivery.taken = true;
        resolve();
      };
      if (deliveryTrouble({ troubles: parts.troubles(), world, life, count, delivery, take, reject })) return promise;
      const fails = parts.deaf();
      const answer = (): void => {
        if (fails) {
          count("delivery failed");
          return reject(new Error("nobody there"));
        }
        take();
      };
      world.at(world.now + random.pick([0, 0, 20, 500]), answer, life);
      return promise;
    },
  };
}
