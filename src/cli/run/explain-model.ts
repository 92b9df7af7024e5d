/** What only the command line knows about a model that the library cannot get. */

import { ErrandError } from "../../errors.ts";

export function explainModel(thrown: unknown, model: string): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "model-unknown" || thrown.remedy !== undefined) return thrown;
  return new ErrandError(
    "model-unknown",
    `The model ${model} cannot be had: this version of Errand has the offline model only`,
    {
      remedy: "Leave out --model, or say --model offline/rehearsal. Real models arrive with a later version.",
      cause: thrown,
    },
  );
}
