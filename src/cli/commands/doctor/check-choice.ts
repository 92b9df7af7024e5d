/** Which model `errand run` would use, by the settings, the keys and what runs here; and whether it can be had. */

import type { CommandCall } from "../../command.ts";
import { chooseModel } from "../../work/choose-model.ts";
import { OFFLINE } from "../../rehearsal/rehearsal-provider.ts";
import { broken, type Finding, ok } from "./finding.ts";

const NAME = "model";

export async function checkChoice(call: CommandCall): Promise<Finding> {
  const { model, because } = await chooseModel(call);
  const used = `errand run uses ${model} (because ${because})`;
  const tried = call.models.map((provider) => provider.resolve(model));
  const had = model === OFFLINE || tried.some((found) => !("unavailable" in found));
  if (had) return ok(NAME, used);
  const [refusal = "it is not known"] = tried.flatMap((found) => ("unavailable" in found ? [found.unavailable] : []));
  return broken(
    NAME,
    `${used}, which cannot be had: ${refusal}`,
    "Choose another: errand config set model PROVIDER/NAME",
  );
}
