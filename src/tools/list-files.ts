/**
 * The tool `list_files`: the files of the workspace, or of one of its folders, one path a line.
 *
 * Invariants:
 *  1. The first line counts all files, including those not listed. Paths are in code unit order.
 *  2. If not all paths are listed, each folder gets a line with its number and kinds of files.
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { GLOB_LENGTH } from "../core/text/glob.ts";
import { SKIPPED_FOLDERS } from "./ignore.ts";
import { countOf, createBoundedLines, failed, stopped, succeeded } from "./result.ts";
import { type ArgumentsOf, defineArguments, optionalText, wholeNumber } from "./tool-arguments.ts";
import { createWalk, MAX_NAMES, type WalkTally } from "./walk.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";
import { escapedPath, type Refusal, type Workspace } from "./workspace.ts";

const FOLDER_LINES = 40;
const KINDS_SHOWN = 4;

interface FolderCount {
  files: number;
  readonly kinds: Map<string, number>;
}

const ARGUMENTS = defineArguments(
  {
    path: optionalText(".", "The folder to list, from the workspace. Default: the whole workspace."),
    glob: optionalText(
      undefined,
      'Only files that match, such as "*.ts" (a name at any depth) ' +
        'or "src/**/*.{ts,tsx}" (a path from the listed folder).',
      GLOB_LENGTH,
    ),
    depth: wholeNumber(
      { min: 1, max: 64, standard: 64 },
      "How many levels of folders to open. 1 opens only the folder itself.",
    ),
    limit: wholeNumber({ min: 1, max: 2000, standard: 500 }, "How many paths to show."),
  },
  '{"path": "src"}',
);

export function createListFilesTool(): Tool {
  return createWorkspaceTool({
    name: "list_files",
    description:
      "Lists the files of the workspace, one path a line, sorted. " +
      `Leaves out ${SKIPPED_FOLDERS.join(", ")} and files that the root .gitignore lists. ` +
      "Folders that `depth` leaves unopened end with a slash.",
    safe: true,
    arguments: ARGUMENTS,
    pathOf: ({ path }) => path,
    run: listFiles,
  });
}

async function listFiles(
  { path, glob, depth, limit }: ArgumentsOf<typeof ARGUMENTS>,
  workspace: Workspace,
  { signal }: ToolContext,
): Promise<ToolOutput | Refusal> {
  const from = await workspace.locate(path);
  if ("refused" in from) return from;
  if (from.kind === "file") return failed(`"${escapedPath(from.relative)}" is a file. Use read_file to read it.`);
  const walk = await createWalk(workspace, { from, pattern: glob, depth, signal });
  const shown = createBoundedLines(8192);
  const folders = new Map<string, FolderCount>();
  const prefix = from.relative === "." ? 0 : from.relative.length + 1;
  let files = 0;
  let full = false;
  for await (const entry of walk.entries()) {
    if (entry.kind !== "folder") {
      files++;
      countFile(folders, entry.path, prefix);
    }
    const mark = entry.kind === "folder" ? "/" : entry.kind === "symlink" ? " (symlink, not followed)" : "";
    full ||= shown.count >= limit || !shown.add(escapedPath(entry.path) + mark);
  }
  if (signal.aborted) return stopped();

  const where = from.relative === "." ? "the workspace" : `"${escapedPath(from.relative)}"`;
  const matching = glob === undefined ? "" : ` that match ${JSON.stringify(glob)}`;
  const opened = `${countOf(walk.tally.folders, "folder")} opened${leftOut(walk.tally)}`;
  const first = `${countOf(files, "file")}${matching} in ${where} (${opened}).`;
  if (!full) return succeeded(shown.count === 0 ? first : `${first}\n${shown.text()}`);
  const note = `[truncated: ${shown.count} shown; narrow with path, glob or depth. What the folders hold:]`;
  return succeeded([first, shown.text(), note, ...folderLines(folders)].join("\n"));
}

/** Counts a file for the first folder below the listed one. */
function countFile(folders: Map<string, FolderCount>, path: string, prefix: number): void {
  const slash = path.indexOf("/", prefix);
  const folder = slash < 0 ? "./" : path.slice(0, slash + 1);
  const entry = folders.get(folder) ?? { files: 0, kinds: new Map<string, number>() };
  folders.set(folder, entry);
  entry.files++;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const kind = dot > 0 ? name.slice(dot) : "no extension";
  entry.kinds.set(kind, (entry.kinds.get(kind) ?? 0) + 1);
}

function folderLines(folders: ReadonlyMap<string, FolderCount>): readonly string[] {
  const lines = [...folders].slice(0, FOLDER_LINES).map(([folder, { files, kinds }]) => {
    const most = [...kinds]
      .toSorted((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1))
      .slice(0, KINDS_SHOWN)
      .map(([kind, number]) => `${escapedPath(kind.slice(0, 20))} ${number}`);
    return `${escapedPath(folder)} ${countOf(files, "file")} (${most.join(", ")})`;
  });
  if (folders.size > FOLDER_LINES) lines.push(`and ${countOf(folders.size - FOLDER_LINES, "more folder")}`);
  return lines;
}

function leftOut(tally: WalkTally): string {
  const parts: string[] = [];
  if (tally.irregular > 0) parts.push(`${tally.irregular} not regular files left out`);
  if (tally.unreadable > 0) parts.push(`${tally.unreadable} unreadable`);
  if (tally.asked > 0) parts.push(`${tally.asked} left out that the rules ask about: name one as path to ask`);
  if (tally.overfull) parts.push(`only the first ${MAX_NAMES} names were read`);
  return parts.map((part) => `; ${part}`).join("");
}
