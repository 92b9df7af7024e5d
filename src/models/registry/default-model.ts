/** Owns the choice of a model when nobody named one: by the key that is there, or by what a running Ollama has. */

import { ollamaBaseUrl } from "./base-url.ts";
import { type Environment, firstOf } from "./environment.ts";
import { packageIsInstalled } from "./installed.ts";
import { MODEL_SOURCES } from "./model-sources.ts";

export interface DefaultModel {
  readonly model: string;
  /** The variable that holds the key. */
  readonly key: string;
}

/** The first provider whose key is there, if possible one whose package is; null when there is no key. */
export function modelOfKeys(env: Environment, installed = packageIsInstalled): DefaultModel | null {
  const keyed = MODEL_SOURCES.flatMap(({ defaultModel: model, keys, packageName }) => {
    const key = firstOf(env, keys)?.name;
    return model === null || key === undefined ? [] : [{ model, key, packageName }];
  });
  const found = keyed.find(({ packageName }) => installed(packageName)) ?? keyed[0];
  return found === undefined ? null : { model: found.model, key: found.key };
}

/** As much of `fetch` as the question needs; the caller bounds it by the signal. */
export type Fetch = (
  url: string,
  options: { readonly signal?: AbortSignal },
) => Promise<{
  readonly ok: boolean;
  json(): Promise<unknown>;
}>;

/** The models of a running Ollama that can talk, as `ollama/NAME`, as it lists them (newest first); null when none runs. */
export async function ollamaRuns(
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
    // Those that only make embeddings are listed among the others.
    const family = typeof details?.family === "string" ? details.family : "";
    return /embed/i.test(name) || /bert/i.test(family) ? [] : [`ollama/${name}`];
  });
}
