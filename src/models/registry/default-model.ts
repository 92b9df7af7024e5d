/** Owns the choice of a model when nobody named one, as far as the environment decides it, and the look for a running Ollama. */

import { ollamaBaseUrl } from "./base-url.ts";
import { type Environment, firstOf } from "./environment.ts";
import { MODEL_SOURCES } from "./model-sources.ts";

export interface DefaultModel {
  readonly model: string;
  /** The variable that decided. */
  readonly because: string;
}

/** `ERRAND_MODEL`, else the first provider whose key is there; null when the environment says nothing. */
export function defaultModel(env: Environment): DefaultModel | null {
  const named = firstOf(env, ["ERRAND_MODEL"]);
  if (named !== null) return { model: named.value, because: named.name };
  for (const { defaultModel: model, keys } of MODEL_SOURCES) {
    const key = model === null ? null : firstOf(env, keys);
    if (model !== null && key !== null) return { model, because: key.name };
  }
  return null;
}

/** As much of `fetch` as the question needs; the caller bounds it by the signal. */
export type Fetch = (
  url: string,
  options: { readonly signal?: AbortSignal },
) => Promise<{
  readonly ok: boolean;
  json(): Promise<unknown>;
}>;

/** The models of a running Ollama as `ollama/NAME`, as it lists them (newest first); null when none runs. */
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

function namesOf(listing: unknown): readonly string[] | null {
  const models = (listing as { readonly models?: unknown } | null)?.models;
  if (!Array.isArray(models)) return null;
  return models.flatMap((model: unknown) => {
    const name = (model as { readonly name?: unknown } | null)?.name;
    return typeof name === "string" ? [`ollama/${name}`] : [];
  });
}
