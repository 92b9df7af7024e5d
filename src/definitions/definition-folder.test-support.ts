/** A real project folder, and the warnings about it. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { onTestFinished } from "vitest";
import type { ReadDefinitions } from "./read-definitions.ts";

export function projectFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "errand-definitions-")));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, "project");
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** Warnings as `path:line text`. */
export function warningsOf(read: ReadDefinitions, folder: string): readonly string[] {
  return read.sources.flatMap(({ path, warnings }) =>
    warnings.map(({ text, line }) => `${relative(folder, path)}:${line ?? "-"} ${text}`),
  );
}
