/** The secrets in an environment's model settings: every key, and passwords in base URLs. */

import { type Environment, MODEL_SOURCES } from "./model-sources.ts";

export function registrySecrets(env: Environment, baseUrl?: string): readonly string[] {
  const keys = MODEL_SOURCES.flatMap((source) => source.keys).flatMap((name) => env[name] ?? []);
  const urls = MODEL_SOURCES.flatMap((source) => source.baseUrl(env, baseUrl) ?? []);
  const passwords = urls.map((url) => URL.parse(url)?.password ?? "");
  return [...new Set([...keys, ...passwords.flatMap((password) => [password, decoded(password)])])].filter(
    (secret) => secret !== "",
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
