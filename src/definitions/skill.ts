/**
 * Reading a `SKILL.md`: Markdown with frontmatter (`name`, `description`, `allowed-tools`). A skill that says `context: fork` or
 * `isolated: true` asks to run as a child of its own.
 */

import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ErrandError } from "../errors.ts";
import { type Fields, toolListOf, type Problem } from "./fields.ts";
import { readFrontmatter } from "./frontmatter.ts";

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly isolated: boolean;
  readonly tools?: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Reads the file, or throws `definition-invalid` with what is wrong in it. */
export function readSkill(path: string): Skill {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new ErrandError("definition-invalid", `The skill ${path} cannot be read.`, { cause });
  }
  const found = parseSkill(text, basename(dirname(path)));
  if ("problem" in found)
    throw new ErrandError("definition-invalid", `The skill ${path} cannot be used: ${found.problem}.`);
  return found.skill;
}

/** Tools as the file names them. */
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
