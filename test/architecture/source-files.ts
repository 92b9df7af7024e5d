import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface SourceFile {
  /** From the root of the project, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** The TypeScript and JavaScript files of these folders. */
export function sourceFiles(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.(?:ts|mjs)$/.test(path) && !path.includes("node_modules"))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}
