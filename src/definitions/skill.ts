/**
 * Reading a `SKILL.md`: Markdown with frontmatter (`name`, `description`, `allowed-tools`). A skill that says `context: fork` or
 * `isolated: true` asks to run as a child of its own.
 */

import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ErrandError } from "../errors.ts";
import { splitFrontmatter } from "./frontmatter.ts";

interface Skill {
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
  return parseSkill(text, path);
}

function parseSkill(text: string, path: string): Skill {
  const { keys, body } = splitFrontmatter(text, path);
  const name = keys.get("name") ?? basename(dirname(path));
  const description = keys.get("description");
  if (typeof name !== "string" || !NAME.test(name)) {
    throw invalid(path, "`name` must be up to 64 letters, digits, - and _");
  }
  if (typeof description !== "string" || description.trim() === "") throw invalid(path, "`description` is missing");
  const tools = toolList(keys.get("allowedtools") ?? keys.get("tools"));
  const isolated = keys.get("context") === "fork" || keys.get("isolated") === true;
  return { name, description: description.trim(), prompt: body.trim(), isolated, ...(tools === null ? {} : { tools }) };
}

/** Comma-separated text or a list; null when nothing was said. */
function toolList(value: unknown): readonly string[] | null {
  if (typeof value === "string")
    return value
      .split(",")
      .map((name) => name.trim())
      .filter((name) => name !== "");
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : null;
}

function invalid(path: string, why: string): ErrandError {
  return new ErrandError("definition-invalid", `The skill ${path} cannot be used: ${why}.`);
}
