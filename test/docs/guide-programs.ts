/** The programs and commands that the README and the guides show. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function guides(): readonly string[] {
  const folder = "docs/guide";
  return readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** The TypeScript programs of a page, in their order. */
export function programsOf(page: string): readonly string[] {
  return blocksOf(page, "ts");
}

/** The blocks of a page in a language, in their order. */
export function blocksOf(page: string, language: string): readonly string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]+?)^\`\`\``, "gm");
  return [...readFileSync(page, "utf8").matchAll(fenced)].map(([, block = ""]) => block);
}
