/**
 * The keys of a file that may act on the user's machine or send data elsewhere. Such a file is not used before the user
 * trusts it. Keys are found at any depth, so that a file cannot hide them.
 */

import { entriesOf, type Fields, plainKey } from "./fields.ts";

const REASONS: Readonly<Record<string, readonly string[]>> = {
  hooks: ["hooks", "hook"],
  "MCP servers": ["mcp", "mcpserver", "mcpservers"],
  commands: ["command", "commands", "args", "exec", "run", "script", "scripts"],
  "base URLs": ["baseurl", "apibase", "endpoint", "url", "agentcardurl", "agentcardjson", "modelproviders"],
  "environment variables": ["env", "environment"],
  "a runner": ["runner", "runners"],
  servers: ["server", "servers"],
};
/** In these, keys name tools: `bash` or `command` run nothing. */
const TOOL_KEYS: ReadonlySet<string> = new Set(["permission", "permissions", "tools"]);
const DEPTH = 12;

/** The reasons that the user must agree to, in a fixed order. */
export function trustReasons(fields: Fields): readonly string[] {
  const found = new Set<string>();
  const all = [...fields.byKey.values(), ...fields.repeated].map(({ key, value }) => [key, value] as const);
  addReasons(all, found, 0);
  return [...found].toSorted((a, b) => (a < b ? -1 : 1));
}

function addReasons(entries: readonly (readonly [string, unknown])[], found: Set<string>, depth: number): void {
  for (const [key, value] of entries) {
    const plain = plainKey(key);
    const reason = Object.keys(REASONS).find((name) => REASONS[name]?.includes(plain) === true);
    if (reason !== undefined && !emptyIs(value)) found.add(reason);
    if (depth >= DEPTH || TOOL_KEYS.has(plain)) continue;
    const inner = Array.isArray(value) ? value.flatMap((item) => entriesOf(item) ?? []) : entriesOf(value);
    if (inner !== null) addReasons(inner, found, depth + 1);
  }
}

function emptyIs(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  return Array.isArray(value) ? value.length === 0 : entriesOf(value)?.length === 0;
}
