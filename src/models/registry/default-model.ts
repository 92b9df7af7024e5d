/** The model that is used when none is named: by the provider key that is set, or by the models of a running Ollama. */

import { ollamaBaseUrl } from "./base-url.ts";
import { type Environment, firstOf, MODEL_SOURCES } from "./model-sources.ts";
import { packageIsInstalled } from "./provider-packages.ts";

export interface DefaultModel {
  readonly model: string;
  /** The variable that holds the key. */
  readonly key: string;
}

/** The first provider whose key is set, if possible one whose package is installed; null if no key is set. */
export function modelOfKeys(
  env: Environment,
  installed: (packageName: string) => boolean = packageIsInstalled,
): DefaultModel | null {
  const keyed = MODEL_SOURCES.flatMap(({ defaultModel: model, keys, packageName }) => {
    const key = firstOf(env, keys)?.name;
    return model === null || key === undefined ? [] : [{ model, key, packageName }];
  });
  const found = keyed.find(({ packageName }) => installed(packageName)) ?? keyed[0];
  return found === undefined ? null : { model: found.model, key: found.key };
}

/** The part of `fetch` that `listOllamaModels` needs. */
export type Fetch = (
  url: string,
  options: { readonly signal?: AbortSignal },
) => Promise<{
  readonly ok: boolean;
  json(): Promise<unknown>;
}>;

/** The chat models of a running Ollama as `ollama/NAME`, newest first as Ollama lists them; null if none runs. */
export async function listOllamaModels(
  fetch: Fetch,
  env: Environment = {},
  signal?: AbortSignal,
): Promise<readonly string[] | null> {
  const root = ollamaBaseUrl(env["OLLAMA_HOST"]).replace(/\/v1$/, "");
  try {
    const answer = await fetch(`${root}/api/tags`, signal === undefined ? {} : { signal });
    return answer.ok ? namesOf(await answer.json()) : null;
  } catch {
    return null;
  }
}

interface Listed {
  readonly name?: unknown;
  readonly details?: { readonly family?: unknown } | null;
}

function namesOf(listing: unknown): readonly string[] | null {
  const models = (listing as { readonly models?: unknown } | null)?.models;
  if (!Array.isArray(models)) return null;
  return models.flatMap((model: unknown) => {
    const { name, details } = (model ?? {}) as Listed;
    if (typeof name !== "string") return [];
    // The list includes models that only make embeddings.
    const family = typeof details?.family === "string" ? details.family : "";
    return /embed/i.test(name) || /bert/i.test(family) ? [] : [`ollama/${name}`];
  });
}
