/** Owns the finding of the offline model, which is always there; it is loaded by its first call. */

import type { ModelProvider } from "../contracts/model.ts";
import { lazyModel } from "./lazy-model.ts";

const REHEARSAL_MODEL = "offline/rehearsal";

export function createRehearsalProvider(): ModelProvider {
  const model = lazyModel(async () => (await import("./rehearsal.ts")).createRehearsalModel());
  return {
    resolve(name) {
      if (name !== REHEARSAL_MODEL)
        return { unavailable: `There is no model ${name} offline; the only one is ${REHEARSAL_MODEL}.` };
      return { model, facts: { window: 200_000, price: { input: 0, output: 0, cachedInput: 0 } } };
    },
  };
}
