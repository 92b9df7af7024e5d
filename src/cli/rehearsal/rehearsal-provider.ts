/** Owns the finding of the offline models, which are always there; they are loaded by their first call. */

import type { Model, ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { lazyModel } from "../../models/lazy-model.ts";

export function createRehearsalProvider(world: Pick<World, "after">): ModelProvider {
  const models: ReadonlyMap<string, Model> = new Map([
    ["offline/rehearsal", lazyModel(async () => (await import("./rehearsal.ts")).createRehearsalModel())],
    ["offline/paced", lazyModel(() => createPacedRehearsal(world))],
  ]);
  return {
    resolve(name) {
      const model = models.get(name);
      if (model === undefined)
        return { unavailable: `There is no model ${name} offline; there are ${[...models.keys()].join(" and ")}.` };
      return { model, facts: { window: 200_000, price: { input: 0, output: 0, cachedInput: 0 } } };
    },
  };
}

async function createPacedRehearsal(world: Pick<World, "after">): Promise<Model> {
  const [{ createRehearsalModel }, { createPacedManner }] = await Promise.all([
    import("./rehearsal.ts"),
    import("./paced.ts"),
  ]);
  return createRehearsalModel(createPacedManner(world));
}
