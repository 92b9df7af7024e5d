/** What the command line adds to the library's word about a model that cannot be had. */

import { ErrandError } from "../../errors.ts";

export function explainModel(thrown: unknown, model: string): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "model-unknown" || thrown.remedy !== undefined) return thrown;
  const message = thrown.message.replace(/\.$/, "");
  return new ErrandError(
    "model-unknown",
    message.includes(model) ? message : `The model ${model} cannot be had: ${message}`,
    {
      remedy: "To go without a key: --model offline/rehearsal.",
      cause: thrown,
    },
  );
}
