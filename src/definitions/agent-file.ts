/**
 * From the keys and the text of an agent file, of whichever program, to a definition of Errand's.
 *
 * Invariants:
 *  1. What a file restricts stays restricted: a tool of which it allows only a part, or that is not known, is left out.
 *  2. Nothing is left out without a warning that names the key, and its line where that is known.
 *  3. Nothing throws: a file that makes no definition is a problem.
 */

import { descriptionOf, type Field, listOf, type Problem } from "./fields.ts";
import { readKeys } from "./agent-keys.ts";
import { agentTools, type ToolsText } from "./agent-tools.ts";
import { trustReasons } from "./needs-trust.ts";

/** Fits `AgentDefinition` of the runtime, and says more. */
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
  /** Names of the skills it asks for. */
  readonly skills?: readonly string[];
  /** True if it asks for something that is not done before the user trusts the folder. */
  readonly needsTrust: boolean;
  /** What for: `hooks`, `MCP servers`, `commands`, `base URLs`, `a runner`, …; also what it asks for and goes on without: `a model`. */
  readonly trustFor: readonly string[];
}

export interface Warning {
  readonly text: string;
  /** From 1; null where it is about no line. */
  readonly line: number | null;
}

export interface AgentText extends ToolsText {
  readonly body: string;
  /** The name for a file that gives none. */
  readonly fileName: string;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAME_LIMIT = 64;
/** Of a longer name only the beginning counts. */
const NAME_SOURCE = 200;

export function readAgent(
  source: AgentText,
): { readonly definition: FoundDefinition; readonly warnings: readonly Warning[] } | Problem {
  const warnings: Warning[] = [];
  const warn = (text: string, field?: Field): void => void warnings.push({ text, line: field?.line ?? null });
  const { byKey, repeated } = source.fields;
  for (const field of repeated) warn(`\`${field.key}\` says the same as an earlier key, and was left out`, field);
  if (byKey.get("disable")?.value === true || byKey.get("disabled")?.value === true)
    return { problem: "it is disabled by its own frontmatter", line: byKey.get("disable")?.line ?? null };
  if (byKey.get("kind")?.value === "remote")
    return {
      problem: "it is an agent of another server, which is not read here",
      line: byKey.get("kind")?.line ?? null,
    };
  const name = nameOf(source, warn);
  if (name === null) return { problem: "its name has no letter or digit", line: byKey.get("name")?.line ?? null };
  const body = byKey.get("developerinstructions") ?? byKey.get("prompt");
  const prompt = (source.body.trim() === "" && typeof body?.value === "string" ? body.value : source.body).trim();
  if (prompt === "") return { problem: "it has no text that could be its prompt", line: null };
  const field = byKey.get("description");
  const { description, warning } = descriptionOf(typeof field?.value === "string" ? field.value : "");
  if (description === "") warn("`description` is missing: agents are not told of it", field);
  if (warning !== null) warn(warning, field);
  const tools = agentTools(source, warn);
  const skills = listOf(byKey.get("skills")?.value);
  const trustFor = trustReasons(source.fields);
  const definition: FoundDefinition = {
    name,
    description,
    prompt,
    ...(tools === null ? {} : { tools }),
    ...readKeys(source.fields, warn),
    ...(skills === null || skills.length === 0 ? {} : { skills }),
    needsTrust: trustFor.length > 0,
    trustFor,
  };
  return { definition, warnings };
}

function nameOf({ fields, fileName }: AgentText, warn: (text: string, field?: Field) => void): string | null {
  const field = fields.byKey.get("name");
  const given = typeof field?.value === "string" && field.value.trim() !== "" ? field.value.trim() : fileName;
  if (NAME.test(given)) return given;
  const plain = given
    .slice(0, NAME_SOURCE)
    .normalize("NFKD")
    .replaceAll(/[^A-Za-z0-9_-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, NAME_LIMIT);
  if (!/[A-Za-z0-9]/.test(plain)) return null;
  warn(`its name ${JSON.stringify(given.slice(0, 100))} became "${plain}": a name has letters, digits, - and _`, field);
  return plain;
}
