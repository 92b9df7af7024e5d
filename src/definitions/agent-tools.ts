/** The tools of an agent: never more than its file allows, and only installed ones. */

import { entriesOf, type Field, type Fields, toolListOf, type Warn } from "./fields.ts";
import { mapTools, READING_TOOLS } from "./tool-names.ts";

export interface ToolsText {
  readonly fields: Fields;
  /** The installed tools. */
  readonly toolNames: readonly string[];
  /** The tool name `edit` includes writing new files. */
  readonly editMeansWrite: boolean;
}

/** Null means all tools. */
export function agentTools(source: ToolsText, warn: Warn): readonly string[] | null {
  const allowed = allowedTools(source, warn);
  const denied = deniedTools(source, warn);
  const reading = readingOnly(source);
  if (allowed === null && denied.size === 0 && !reading) return null;
  const names = (allowed ?? source.toolNames).filter((name) => !denied.has(name));
  return names.filter((name) => source.toolNames.includes(name) && (!reading || READING_TOOLS.includes(name)));
}

function allowedTools(source: ToolsText, warn: Warn): readonly string[] | null {
  const field = source.fields.byKey.get("tools") ?? source.fields.byKey.get("allowedtools");
  if (field === undefined || field.value === null) return null;
  // A map switches tools off (`deniedTools` reads it). Tools that it switches on need no entry.
  if (entriesOf(field.value) !== null) return null;
  const given = toolListOf(field.value);
  if (given === null) {
    warn(`\`${field.key}\` is neither a list nor a text with commas: the agent gets no tools`, field);
    return [];
  }
  const { names, unknown, restricted } = mapTools(given, source.editMeansWrite);
  for (const name of unknown) warn(`the tool "${name.slice(0, 100)}" is not known here, and was left out`, field);
  for (const name of restricted)
    warn(`"${name.slice(0, 100)}" allows only a part of a tool, which cannot be kept: it was left out`, field);
  for (const name of names ?? [])
    if (!source.toolNames.includes(name)) warn(`the tool "${name}" is not installed, and was left out`, field);
  return names;
}

function deniedTools(source: ToolsText, warn: Warn): ReadonlySet<string> {
  const { byKey } = source.fields;
  const denied = new Set<string>();
  const deny = (names: readonly string[], field: Field | undefined): void => {
    const bare = names.map((name) => (name.includes("(") ? name.slice(0, name.indexOf("(")) : name));
    const { names: found, unknown } = mapTools(bare, true);
    for (const name of found ?? source.toolNames) denied.add(name);
    for (const name of unknown)
      warn(`the tool "${name.slice(0, 100)}" is not known here, and is not there anyway`, field);
  };
  for (const key of ["disallowedtools", "excludetools"]) deny(toolListOf(byKey.get(key)?.value) ?? [], byKey.get(key));
  const switches = byKey.get("tools");
  const switchedOff = (entriesOf(switches?.value) ?? []).filter(([, on]) => on === false).map(([name]) => name);
  deny(switchedOff, switches);
  const permission = byKey.get("permission");
  const permissions =
    typeof permission?.value === "string" ? [["*", permission.value] as const] : (entriesOf(permission?.value) ?? []);
  deny(
    permissions.flatMap(([name, decision]) => (denies(decision) ? [name] : [])),
    permission,
  );
  return denied;
}

/** A tool that is denied for some calls is left out as a whole, because patterns are not supported. */
function denies(decision: unknown): boolean {
  if (typeof decision === "string") return decision === "deny";
  return (entriesOf(decision) ?? []).some(([, inner]) => inner === "deny");
}

function readingOnly({ fields: { byKey } }: ToolsText): boolean {
  const sandbox = byKey.get("sandboxmode")?.value;
  return (
    byKey.get("readonly")?.value === true || sandbox === "read-only" || byKey.get("permissionmode")?.value === "plan"
  );
}
