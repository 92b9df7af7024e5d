/**
 * Owns what walks leave out: folders nobody asks about, and what the workspace's own root .gitignore names.
 *
 * Invariants:
 *  1. Only the .gitignore at the root counts, read within a bound; nested ones do not.
 *  2. As in git, the last pattern that matches decides, and `!` brings a path back, unless its folder is left out.
 */

import { createGlob } from "../core/permissions/glob.ts";
import type { Glob } from "../core/permissions/glob.ts";
import type { Workspace } from "./workspace.ts";

/** True if the walk leaves the path out. `path` is relative to the workspace, with `/`. */
export type Ignore = (path: string, folder: boolean) => boolean;

export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules", "dist", "coverage", ".errand"];

const GITIGNORE_BYTES = 64 * 1024;

interface Rule {
  readonly glob: Glob;
  readonly folderOnly: boolean;
  readonly back: boolean;
}

export async function readIgnore(workspace: Workspace): Promise<Ignore> {
  const opened = await workspace.openFile(".gitignore");
  if ("refused" in opened) return createIgnore("");
  try {
    const buffer = Buffer.alloc(Math.min(opened.size, GITIGNORE_BYTES));
    const { bytesRead } = await opened.handle.read(buffer, 0, buffer.length, 0);
    return createIgnore(buffer.toString("utf8", 0, bytesRead));
  } catch {
    return createIgnore("");
  } finally {
    await opened.handle.close();
  }
}

function createIgnore(gitignore: string): Ignore {
  const rules = gitignore.split("\n").flatMap(ruleOf);
  return (path, folder) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (folder && SKIPPED_FOLDERS.includes(name)) return true;
    let ignored = false;
    for (const rule of rules) {
      if (rule.folderOnly && !folder) continue;
      if (ignored === rule.back && rule.glob.matches(path)) ignored = !rule.back;
    }
    return ignored;
  };
}

function ruleOf(line: string): readonly Rule[] {
  const text = line.replace(/\r$/, "").trimEnd();
  if (text === "" || text.startsWith("#")) return [];
  const back = text.startsWith("!");
  const pattern = back ? text.slice(1) : text;
  const folderOnly = pattern.endsWith("/");
  const bare = folderOnly ? pattern.slice(0, -1) : pattern;
  return bare === "" ? [] : [{ glob: createGlob(bare), folderOnly, back }];
}
