/** The store and the world as one runtime sees them, until its life is ended: then both fall silent. */

import type { Store } from "../contracts/store.ts";
import type { CancelTimer, World } from "../contracts/world.ts";

export interface Lifetime {
  readonly store: Store;
  readonly world: World;
  /** From now on no call of the store settles and no timer fires, as if the process of this runtime were gone. */
  end(): void;
}

export function createLifetime(store: Store, world: World): Lifetime {
  let ended = false;
  const timers = new Set<CancelTimer>();
  const silence = new Promise<never>(() => undefined);

  /** The object with methods that fall silent; so do those of objects that it holds. */
  function mortal<Part extends object>(part: Part): Part {
    return new Proxy(part, {
      get(target, name): unknown {
        const member: unknown = Reflect.get(target, name);
        if (typeof member === "object" && member !== null) return mortal(member);
        if (typeof member !== "function") return member;
        return (...given: unknown[]): unknown => {
          if (ended) return silence;
          const result: unknown = Reflect.apply(member, target, given);
          return result instanceof Promise ? heard(result) : result;
        };
      },
    });
  }

  async function heard(result: Promise<unknown>): Promise<unknown> {
    try {
      return await result;
    } finally {
      if (ended) await silence;
    }
  }

  return {
    store: mortal(store),
    world: {
      ...world,
      after(milliseconds, callback) {
        if (ended) return () => undefined;
        const cancel = world.after(milliseconds, () => {
          timers.delete(forget);
          callback();
        });
        const forget = (): void => {
          timers.delete(forget);
          cancel();
        };
        timers.add(forget);
        return forget;
      },
      soon(callback) {
        world.soon(() => {
          if (!ended) callback();
        });
      },
    },
    end() {
      ended = true;
      for (const cancel of timers) cancel();
    },
  };
}
