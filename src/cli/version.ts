/**
 * The version of the package, read from its package.json, which is two folders up from here in `src` and in `dist`
 * alike.
 */

import { readFileSync } from "node:fs";

export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const manifest: unknown = JSON.parse(text);
  const known = typeof manifest === "object" && manifest !== null && "version" in manifest;
  return known && typeof manifest.version === "string" ? manifest.version : "unknown";
}
