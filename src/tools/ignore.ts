/**
 * Owns what walks leave out: folders nobody asks about, and what the workspace's own root .gitignore names.
 *
 * Invariants:
 *  1. Only the .gitignore at the root counts, read within a bound; nested ones do not.
 *  2. No more than RULES patterns count, and no more than COST steps are taken for a character of a path: what is beyond is left out.
 *  3. As in git, the last pattern that matches decides, and `!` brings a path back, unless its folder is left out.
 */

import { createGlob, GLOB_LENGTH } from "../core/text/glob.ts";
import type { Glob } from "../core/text/glob.ts";
import type { Workspace } from "./workspace.ts";

/** What walks leave out. A path is relative to the workspace, with `/`. */
export interface Ignore {
  leavesOut(path: string, folder: boolean): boolean;
  /** Steps for a character of a path, at most. */
  readonly cost: number;
}

export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules", "dist", "coverage", ".errand"];

const GITIGNORE_BYTES = 64 * 1024;
const RULES = 1_000;
const COST = 2_000;

export const IGNORE_NOTHING: Ignore = { leavesOut: () => false, cost: 0 };

interface Rule {
  readonly glob: Glob;
  readonly folderOnly: boolean;
  readonly back: boolean;
}

export async function readIgnore(workspace: Workspace): Promise<Ignore> {
  const opened = await workspace.openFound(".gitignore", workspace.sightFrom("."));
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
  const rules: Rule[] = [];
  let cost = 0;
  for (const line of gitignore.split("\n")) {
    const rule = ruleOf(line);
    if (rule === null || cost + rule.glob.cost > COST) continue;
    if (rules.length >= RULES) break;
    rules.push(rule);
    cost += rule.glob.cost;
  }
  return {
    leavesOut(path, folder) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      if (folder && SKIPPED_FOLDERS.includes(name)) return true;
      let ignored = false;
      for (const rule of rules) {
        if (rule.folderOnly && !folder) continue;
        if (ignored === rule.back && rule.glob.matches(path)) ignored = !rule.back;
      }
      return ignored;
    },
    cost,
  };
}

function ruleOf(line: string): Rule | null {
  const text = line.replace(/\r$/, "").trimEnd();
  if (text === "" || text.startsWith("#")) return null;
  const back = text.startsWith("!");
  const pattern = back ? text.slice(1) : text;
  const folderOnly = pattern.endsWith("/");
  const bare = folderOnly ? pattern.slice(0, -1) : pattern;
  return bare === "" || bare.length > GLOB_LENGTH ? null : { glob: createGlob(bare), folderOnly, back };
}
