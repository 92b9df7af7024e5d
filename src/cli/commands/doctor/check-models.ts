/** Checks which models are available: keys (never printed), packages, a running Ollama, and whether services answer. */

import type { World } from "../../../contracts/world.ts";
import { type Environment, firstOf, MODEL_SOURCES, type ModelSource } from "../../../models/registry/model-sources.ts";
import { installCommand, packageIsInstalled } from "../../../models/registry/provider-packages.ts";
import type { CommandCall } from "../../command.ts";
import { chooseModel, modelRefusal, ollamaModels } from "../../running/choose-model.ts";
import { countLabel } from "../../../view/amounts.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";
import { checkReach } from "./check-reach.ts";

interface ModelsParts {
  readonly env: Environment;
  readonly world: World;
  /** Given with --base-url. */
  readonly baseUrl: string | undefined;
}

export async function checkModels(parts: ModelsParts): Promise<Finding[]> {
  // Two sources with the same key are the same service. Ollama needs no key and is asked itself.
  const sources = MODEL_SOURCES.filter(
    ({ keys: [key], provider }, index) =>
      provider !== "ollama" && MODEL_SOURCES.findIndex(({ keys: [other] }) => other === key) === index,
  );
  const [ollama, ...checked] = await Promise.all([
    checkOllama(parts),
    ...sources.map((source) => checkProvider(source, parts)),
  ]);
  const usable = ollama.usable || checked.some((provider) => provider.usable);
  const findings = [...checked.flatMap((provider) => provider.findings), ...ollama.findings];
  return usable ? findings : [...findings, ONLY_OFFLINE];
}

const ONLY_OFFLINE = warning(
  "models",
  "only offline/rehearsal can be used, which understands no language",
  "Set the key of a provider, such as ANTHROPIC_API_KEY, or start Ollama.",
);

interface Checked {
  readonly findings: readonly Finding[];
  readonly usable: boolean;
}

async function checkProvider(source: ModelSource, { env, world, baseUrl }: ModelsParts): Promise<Checked> {
  const { provider, packageName, keys, keyNeeded } = source;
  const key = firstOf(env, keys);
  const url = source.baseUrl(env, baseUrl);
  if (keyNeeded ? key === null : url === null) {
    const wanted = keyNeeded ? `no key: ${keys.join(" or ")}` : "no base URL: OPENAI_COMPATIBLE_BASE_URL or --base-url";
    return { findings: [ok(provider, `not set up (${wanted})`)], usable: false };
  }
  const keyed = key === null ? "without a key" : `key in ${key.name}`;
  if (!packageIsInstalled(packageName)) {
    const missing = warning(provider, `${keyed}, but ${packageName} is not installed`, installCommand(packageName));
    return { findings: [missing], usable: false };
  }
  const reach = await checkReach(provider, url ?? "", { env, world });
  return { findings: [ok(provider, `${keyed}, ${packageName} installed`), reach], usable: true };
}

async function checkOllama({ env, world }: ModelsParts): Promise<Checked> {
  const models = await ollamaModels(env, world);
  if (models !== null && models.length > 0) {
    return { findings: [ok("ollama", `runs, with ${countLabel(models.length, "model")}`)], usable: true };
  }
  const missing = models === null ? "does not run" : "runs, without a model";
  const asked = firstOf(env, ["OLLAMA_HOST"]);
  if (models === null && asked === null) return { findings: [ok("ollama", missing)], usable: false };
  const remedy = models === null ? "Start it with: ollama serve" : "Get one with: ollama pull NAME";
  const where = asked === null ? "" : ` at ${asked.value}`;
  return { findings: [warning("ollama", `${missing}${where}`, remedy)], usable: false };
}

/** The model that `errand run` would use, and whether it is available. */
export async function checkChoice(call: CommandCall): Promise<Finding> {
  const { model, because } = await chooseModel(call);
  const used = `errand run uses ${model} (because ${because})`;
  const refusal = modelRefusal(model, call.models);
  if (refusal === null) return ok("model", used);
  const remedy = "Choose another: errand config set model PROVIDER/NAME";
  return broken("model", `${used}, which cannot be had: ${refusal}`, remedy);
}
