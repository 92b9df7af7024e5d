/** The provider of the offline models. Each is loaded by its first call. */

import type { ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { lazyModel } from "../../models/lazy-model.ts";

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
      if (name !== "offline/rehearsal" && name !== "offline/paced")
        return { unavailable: `There is no model ${name} offline; there are offline/rehearsal and offline/paced.` };
      const model = name === "offline/paced" ? paced : rehearsal;
      return { model, facts: { window: 200_000, price: { input: 0, output: 0, cachedInput: 0 } } };
    },
  };
}
