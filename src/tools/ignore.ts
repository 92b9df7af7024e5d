/**
 * Files and folders that walks leave out: some folders by name, and what the .gitignore at the workspace's root lists.
 *
 * Invariants:
 *  1. Only the .gitignore at the root is read, up to a limit. Nested ones have no effect.
 *  2. At most MAX_RULES patterns are used, and at most MAX_COST steps for each character of a path. The rest is
 *     ignored.
 *  3. As in git, the last matching pattern decides. `!` includes a path again, unless its folder is left out.
 */

import { createGlob, type Glob, GLOB_LENGTH } from "../core/text/glob.ts";
import type { Workspace } from "./workspace.ts";

export interface Ignore {
  /** `path` is relative to the workspace, with `/`. */
  leavesOut(path: string, folder: boolean): boolean;
  /** The most steps for one character of a path. */
  readonly cost: number;
}

export const SKIPPED_FOLDERS: readonly string[] = [".git", "node_modules", "dist", "coverage", ".errand"];

const GITIGNORE_BYTES = 64 * 1024;
const MAX_RULES = 1_000;
const MAX_COST = 2_000;

export const IGNORE_NOTHING: Ignore = { leavesOut: () => false, cost: 0 };

interface Rule {
  readonly glob: Glob;
  readonly folderOnly: boolean;
  /** Includes a path again. */
  readonly negated: boolean;
}

export async function readIgnore(workspace: Workspace): Promise<Ignore> {
  const opened = await workspace.openFound(".gitignore", workspace.visibilityBelow("."));
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
    if (rule === null || cost + rule.glob.cost > MAX_COST) continue;
    if (rules.length >= MAX_RULES) break;
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
        if (ignored === rule.negated && rule.glob.matches(path)) ignored = !rule.negated;
      }
      return ignored;
    },
    cost,
  };
}

function ruleOf(line: string): Rule | null {
  const text = line.replace(/\r$/, "").trimEnd();
  if (text === "" || text.startsWith("#")) return null;
  const negated = text.startsWith("!");
  const pattern = negated ? text.slice(1) : text;
  const folderOnly = pattern.endsWith("/");
  const bare = folderOnly ? pattern.slice(0, -1) : pattern;
  return bare === "" || bare.length > GLOB_LENGTH ? null : { glob: createGlob(bare), folderOnly, negated };
}
