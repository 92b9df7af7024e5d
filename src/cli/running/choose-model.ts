/** Chooses the model of agents whose definition names none, with the reason, which the user reads. */

import type { ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { baseUrlIs } from "../../models/registry/base-url.ts";
import { modelOfKeys, listOllamaModels } from "../../models/registry/default-model.ts";
import type { Environment } from "../../models/registry/model-sources.ts";
import { ErrandError } from "../../errors.ts";
import { offlineIs } from "../../view/tree-model.ts";
import { abortAfter } from "../waiting.ts";
import type { CommandCall } from "../command.ts";
import { OFFLINE } from "../rehearsal/rehearsal-provider.ts";

export interface ModelChoice {
  readonly model: string;
  /** The reason after "because". */
  readonly because: string;
}

export const RECORDED = "the tree was recorded with it";
/** An Ollama that runs answers at once, unless the machine is busy. */
const OLLAMA_WITHIN_MS = 2_000;
const NEEDS_BASE_URL = "openai-compatible/";

export async function chooseModel({
  options,
  settings,
  host: { env, world },
}: Pick<CommandCall, "options" | "settings" | "host">): Promise<ModelChoice> {
  if (options.model !== undefined) return { model: options.model, because: "--model names it" };
  if (settings.model !== null) return { model: settings.model.name, because: `${settings.model.where} names it` };
  const keyed = modelOfKeys(env);
  if (keyed !== null) return { model: keyed.model, because: `${keyed.key} is set` };
  const [running] = (await ollamaModels(env, world)) ?? [];
  if (running !== undefined) return { model: running, because: "Ollama runs here" };
  return { model: OFFLINE, because: "there is no key and no running Ollama" };
}

/** The models of the Ollama that runs on this machine; null when none runs. */
export function ollamaModels(env: Environment, world: World): Promise<readonly string[] | null> {
  return abortAfter(OLLAMA_WITHIN_MS, world, (signal) => listOllamaModels(fetch, env, signal));
}

/** Why no provider has the model; null if one has it. */
export function modelRefusal(model: string, providers: readonly ModelProvider[]): string | null {
  const found = providers.map((provider) => provider.resolve(model));
  if (offlineIs(model) || found.some((one) => !("unavailable" in one))) return null;
  const [refusal] = found.flatMap((one) => ("unavailable" in one ? [one.unavailable] : []));
  return refusal ?? "it is not known";
}

/** Throws if no model of the command would use the base URL. */
export function requireBaseUrlFits(baseUrl: string | undefined, models: readonly string[]): void {
  if (baseUrl === undefined) return;
  if (!baseUrlIs(baseUrl)) {
    throw new ErrandError("usage", `--base-url takes a URL with http or https, not "${baseUrl}"`, {
      remedy: "For example: --base-url http://127.0.0.1:1234/v1",
    });
  }
  if (models.some((model) => model.startsWith(NEEDS_BASE_URL))) return;
  throw new ErrandError("usage", `--base-url says where ${NEEDS_BASE_URL}NAME is, and the model is ${models[0]}`, {
    remedy:
      `Name the model too: --model ${NEEDS_BASE_URL}NAME. ` +
      "Other providers have variables of their own, such as OPENAI_BASE_URL.",
  });
}

/** Adds what a user of the command line can do to the library's error about a model that it cannot get. */
export function explainModel(thrown: unknown, model: string): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "model-unknown" || thrown.remedy !== undefined) return thrown;
  const message = thrown.message.replace(/\.$/, "");
  return new ErrandError(
    "model-unknown",
    message.includes(model) ? message : `The model ${model} cannot be had: ${message}`,
    { remedy: `To go without a key: --model ${OFFLINE}.`, cause: thrown },
  );
}
