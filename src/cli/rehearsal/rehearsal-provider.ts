/** The offline models of the command line. They need no key, and their code is loaded by their first call. */

import type { Model, ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { lazyModel } from "../../models/lazy-model.ts";

/** The model that is used if nobody chose another. */
export const OFFLINE = "offline/rehearsal";
/** The same for the demonstration: it takes its time, and one of its children forgets to report. */
export const OFFLINE_PACED = "offline/paced";

export const DEMO_TASK = "Explain what this project is, how its source is organised and where its tests are";

export function createRehearsalProvider(world: Pick<World, "after">): ModelProvider {
  const models: ReadonlyMap<string, Model> = new Map([
    [OFFLINE, lazyModel(async () => (await import("./rehearsal.ts")).createRehearsalModel())],
    [OFFLINE_PACED, lazyModel(() => createPacedRehearsal(world))],
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
