/**
 * Reads a `SKILL.md`: Markdown with frontmatter (`name`, `description`, `allowed-tools`). With `context: fork` or
 * `isolated: true` the skill runs as a child of its own.
 */

import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ErrandError } from "../errors.ts";
import { descriptionOf, type Fields, type Parsed, type Problem, toolListOf } from "./fields.ts";
import { readFrontmatter } from "./frontmatter.ts";
import { mapTools } from "./tool-names.ts";
import { trustReasons } from "./trust-reasons.ts";

/** A skill that was read from a file. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly isolated: boolean;
  readonly tools?: readonly string[];
}

export interface FoundSkill extends Skill {
  readonly needsTrust: boolean;
  readonly trustFor: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Reads the file. Throws `definition-invalid` with what is wrong in it. */
export function readSkill(path: string): Skill {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new ErrandError("definition-invalid", `The skill ${path} cannot be read.`, { cause });
  }
  const parsed = parseSkill(text, basename(dirname(path)));
  if ("problem" in parsed)
    throw new ErrandError("definition-invalid", `The skill ${path} cannot be used: ${parsed.problem}.`);
  return parsed.skill;
}

/** Tools have the names that the file gives. */
export function parseSkill(
  text: string,
  folderName: string,
): { readonly skill: Skill; readonly fields: Fields } | Problem {
  const read = readFrontmatter(text);
  if ("problem" in read) return read;
  const { byKey } = read.fields;
  const name = byKey.get("name")?.value ?? folderName;
  const description = byKey.get("description");
  if (typeof name !== "string" || !NAME.test(name))
    return { problem: "`name` must be up to 64 letters, digits, - and _", line: byKey.get("name")?.line ?? null };
  if (typeof description?.value !== "string" || description.value.trim() === "")
    return { problem: "`description` is missing", line: description?.line ?? null };
  const tools = toolListOf((byKey.get("allowedtools") ?? byKey.get("tools"))?.value);
  const isolated = byKey.get("context")?.value === "fork" || byKey.get("isolated")?.value === true;
  const skill = {
    name,
    description: description.value.trim(),
    prompt: read.body.trim(),
    isolated,
    ...(tools === null ? {} : { tools }),
  };
  return { skill, fields: read.fields };
}

/** The skill with Errand's names of the tools that are installed. */
export function findSkill(text: string, folderName: string, toolNames: readonly string[]): Parsed<FoundSkill> {
  const parsed = parseSkill(text, folderName);
  if ("problem" in parsed) return parsed;
  const { tools, ...skill } = parsed.skill;
  const { byKey } = parsed.fields;
  const trustFor = trustReasons(parsed.fields);
  const { description, warning } = descriptionOf(skill.description);
  const warnings = warning === null ? [] : [{ text: warning, line: byKey.get("description")?.line ?? null }];
  const found = { ...skill, description, needsTrust: trustFor.length > 0, trustFor };
  if (tools === undefined) return { found, warnings };
  const { names, unknown, restricted } = mapTools(tools);
  const line = (byKey.get("allowedtools") ?? byKey.get("tools"))?.line ?? null;
  const installed = (names ?? toolNames).filter((name) => toolNames.includes(name));
  const missing = [...unknown, ...restricted, ...(names ?? []).filter((name) => !toolNames.includes(name))];
  const leftOut = missing.map((name) => ({ text: `the tool "${name.slice(0, 100)}" was left out`, line }));
  return { found: { ...found, tools: installed }, warnings: [...warnings, ...leftOut] };
}
