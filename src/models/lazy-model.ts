/** A model that is loaded by its first call. If loading fails, the next call tries again. */

import { type Model, ModelFailure } from "../contracts/model.ts";

export function lazyModel(load: () => Promise<Model>): Model {
  let loading: Promise<Model> | null = null;
  return {
    async call(request, options) {
      loading ??= load();
      const model = await loading.catch((error: unknown) => {
        loading = null;
        throw new ModelFailure("provider-error", `The provider of ${request.model} could not be loaded.`, {
          cause: error,
          usage: { input: 0, output: 0 },
        });
      });
      return model.call(request, options);
    },
  };
}
