/**
 * What a file asks for that may act on the user's machine or send data elsewhere: nothing of it is done before the user has trusted
 * the folder. Found by the names of keys, at any depth, so that a file cannot hide it in a corner.
 */

import { entriesOf, type Fields, plainKey } from "./fields.ts";

const REASONS: Readonly<Record<string, string>> = {
  hooks: "hooks",
  hook: "hooks",
  mcp: "MCP servers",
  mcpserver: "MCP servers",
  mcpservers: "MCP servers",
  command: "commands",
  commands: "commands",
  args: "commands",
  exec: "commands",
  run: "commands",
  script: "commands",
  scripts: "commands",
  baseurl: "base URLs",
  apibase: "base URLs",
  endpoint: "base URLs",
  url: "base URLs",
  agentcardurl: "base URLs",
  agentcardjson: "base URLs",
  modelproviders: "base URLs",
  env: "environment variables",
  environment: "environment variables",
  runner: "a runner",
  runners: "a runner",
  server: "servers",
  servers: "servers",
};
const DEPTH = 12;

/** What the user must be asked about, in a fixed order; empty when nothing. */
export function trustReasons(fields: Fields): readonly string[] {
  const found = new Set<string>();
  const all = [...fields.byKey.values(), ...fields.repeated].map(({ key, value }) => [key, value] as const);
  look(all, found, 0);
  return [...found].toSorted((a, b) => (a < b ? -1 : 1));
}

function look(entries: readonly (readonly [string, unknown])[], found: Set<string>, depth: number): void {
  for (const [key, value] of entries) {
    const plain = plainKey(key);
    if (Object.hasOwn(REASONS, plain) && !emptyIs(value)) found.add(REASONS[plain] ?? "");
    if (depth >= DEPTH) continue;
    const inner = Array.isArray(value) ? value.flatMap((item) => entriesOf(item) ?? []) : entriesOf(value);
    // What a permission says about a tool of the name `bash` or `command` starts nothing.
    if (inner !== null && plain !== "permission" && plain !== "permissions" && plain !== "tools")
      look(inner, found, depth + 1);
  }
}

function emptyIs(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false) return true;
  return Array.isArray(value) ? value.length === 0 : entriesOf(value)?.length === 0;
}
