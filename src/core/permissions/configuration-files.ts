/**
 * Files that change what Errand or another agent program does later: definitions of agents and skills, a project's
 * instructions for agents, settings, and the folder of git, whose hooks run programs. The user is asked before such a
 * file is changed, unless a rule allows exactly that file.
 *
 * Names are compared as the most tolerant file system would: without case, without characters that are not ASCII (some
 * are ignored), without dots and blanks at the end, and by the short names of FAT.
 */

import { foldedName } from "./judged-path.ts";

const FOLDERS: readonly (readonly string[])[] = [
  [".errand"],
  [".git"],
  [".claude"],
  [".gemini"],
  [".codex"],
  [".cursor"],
  [".opencode"],
  [".copilot"],
  [".agents"],
  [".github", "agents"],
  [".github", "instructions"],
  [".github", "copilot-instructions.md"],
  [".config", "opencode"],
  [".config", "errand"],
  [".local", "share", "errand"],
];
/** `AGENTS.md`, `CLAUDE.local.md`, `GEMINI.md`, … at any depth. */
const CONTEXT_FILE = /^(?:agents?|claude|gemini|copilot|codex|errand)(?:\.(?:local|override))?\.md$/;
const OTHER_FILES: ReadonlySet<string> = new Set([
  ".cursorrules",
  ".mcp.json",
  "opencode.json",
  "opencode.jsonc",
  "skill.md",
]);
/** `GIT~1`, `CLAUDE~1.MD` */
const SHORT_NAME = /^(?:git|erran|errand|claude|gemini|codex|cursor|openco|copilo|agents)~\d/;

/** `names`: the names of a path, from the outermost folder on. */
export function configurationFileIs(names: readonly string[]): boolean {
  const plain = names.map(plainName);
  const last = plain.at(-1) ?? "";
  if (CONTEXT_FILE.test(last) || OTHER_FILES.has(last) || plain.some((name) => SHORT_NAME.test(name))) return true;
  return FOLDERS.some((folder) =>
    plain.some((_, start) => folder.every((name, index) => plain[start + index] === name)),
  );
}

function plainName(name: string): string {
  return foldedName([...name].filter((character) => character > " " && character < "\u007f").join(""));
}
