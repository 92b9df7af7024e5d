/**
 * Turns the keys and the text of an agent file, of any supported program, into a definition.
 *
 * Invariants:
 *  1. Restrictions are kept: a tool of which the file allows only a part, or that is unknown, is left out.
 *  2. Whatever is left out gives a warning with the key, and its line if it is known.
 *  3. Nothing throws: a file that gives no definition is a problem.
 */

import type { Json } from "../core/values/json.ts";
import { readKeys } from "./agent-keys.ts";
import { agentTools, type ToolsText } from "./agent-tools.ts";
import { descriptionOf, listOf, type Parsed, type Warn, type Warning } from "./fields.ts";
import { trustReasons } from "./trust-reasons.ts";

/** An `AgentDefinition` of the runtime with more fields. */
export interface FoundDefinition {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly tools?: readonly string[];
  readonly model?: string;
  readonly reporting?: "tool" | "tag";
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  readonly say?: boolean;
  /** Its turns are executed outside, by this runner. It has no tools of Errand. */
  readonly runner?: string;
  readonly settings?: { readonly [name: string]: Json };
  /** Names of its skills. */
  readonly skills?: readonly string[];
  /** True if the definition is not used before the user trusts the file. */
  readonly needsTrust: boolean;
  /** The reasons why it needs trust, such as `hooks`. `a model` alone needs none: an untrusted model is ignored. */
  readonly trustFor: readonly string[];
}

export interface AgentText extends ToolsText {
  readonly body: string;
  /** Used as the name if the file gives none. */
  readonly fileName: string;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAME_LENGTH = 64;
/** Only this much of a longer name is read. */
const NAME_SOURCE_LENGTH = 200;

export function readAgent(source: AgentText): Parsed<FoundDefinition> {
  const warnings: Warning[] = [];
  const warn: Warn = (text, field) => void warnings.push({ text, line: field?.line ?? null });
  const { byKey, repeated } = source.fields;
  for (const field of repeated) warn(`\`${field.key}\` says the same as an earlier key, and was left out`, field);
  if (byKey.get("disable")?.value === true || byKey.get("disabled")?.value === true)
    return { problem: "it is disabled by its own frontmatter", line: byKey.get("disable")?.line ?? null };
  const kind = byKey.get("kind");
  if (kind?.value === "remote")
    return { problem: "it is an agent of another server, which is not supported", line: kind.line };
  const name = nameOf(source, warn);
  if (name === null) return { problem: "its name has no letter or digit", line: byKey.get("name")?.line ?? null };
  const body = byKey.get("developerinstructions") ?? byKey.get("prompt");
  const prompt = (source.body.trim() === "" && typeof body?.value === "string" ? body.value : source.body).trim();
  if (prompt === "") return { problem: "it has no text that could be its prompt", line: null };
  const field = byKey.get("description");
  const { description, warning } = descriptionOf(typeof field?.value === "string" ? field.value : "");
  if (description === "") warn("`description` is missing: other agents do not see this one", field);
  if (warning !== null) warn(warning, field);
  const tools = agentTools(source, warn);
  const skills = listOf(byKey.get("skills")?.value);
  const trustFor = trustReasons(source.fields);
  const keys = readKeys(source.fields, warn);
  const found: FoundDefinition = {
    name,
    description,
    prompt,
    ...(tools === null || keys.runner !== undefined ? {} : { tools }),
    ...keys,
    ...(skills === null || skills.length === 0 ? {} : { skills }),
    needsTrust: trustFor.length > 0,
    trustFor,
  };
  return { found, warnings };
}

function nameOf({ fields, fileName }: AgentText, warn: Warn): string | null {
  const field = fields.byKey.get("name");
  const given = typeof field?.value === "string" && field.value.trim() !== "" ? field.value.trim() : fileName;
  if (NAME.test(given)) return given;
  const plain = given
    .slice(0, NAME_SOURCE_LENGTH)
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, NAME_LENGTH);
  if (!/[A-Za-z0-9]/.test(plain)) return null;
  const rule = "a name has letters, digits, - and _";
  warn(`its name ${JSON.stringify(given.slice(0, 100))} became "${plain}": ${rule}`, field);
  return plain;
}
