/** The offline models of the command line. They need no key, and their code is loaded by their first call. */

import type { ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { lazyModel } from "../../models/lazy-model.ts";

/** The default if no other model is chosen. */
export const OFFLINE = "offline/rehearsal";
/** For the demo: it waits before each reply, and one of its children forgets to report. */
export const OFFLINE_PACED = "offline/paced";

export const DEMO_TASK = "Explain what this project is, how its source is organised and where its tests are";

export function createRehearsalProvider(world: Pick<World, "after">): ModelProvider {
  const rehearsal = lazyModel(async () => (await import("./rehearsal.ts")).createRehearsalModel());
  const paced = lazyModel(async () => {
    const [{ createRehearsalModel }, { createPacing }] = await Promise.all([
      import("./rehearsal.ts"),
      import("./paced.ts"),
    ]);
    return createRehearsalModel(createPacing(world));
  });
  return {
    resolve(name) {
      if (name !== OFFLINE && name !== OFFLINE_PACED)
        return { unavailable: `There is no model ${name} offline; there are ${OFFLINE} and ${OFFLINE_PACED}.` };
      const model = name === OFFLINE ? rehearsal : paced;
      return { model, facts: { window: 200_000, price: { input: 0, output: 0, cachedInput: 0 } } };
    },
  };
}
