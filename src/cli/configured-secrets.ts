/** The secrets that the environment configures Errand with: model keys, and passwords of databases. */

import { registrySecrets } from "../models/registry/registry-secrets.ts";
import { storeSecrets } from "../stores/store-url.ts";

const DATABASES = ["ERRAND_DATABASE_URL", "DATABASE_URL"] as const;

export function configuredSecrets(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const passwords = DATABASES.flatMap((name) => storeSecrets(env[name]?.trim() ?? ""));
  return [...registrySecrets(env), ...passwords, env["PGPASSWORD"] ?? ""];
}
