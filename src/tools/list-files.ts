/**
 * Owns the tool `list_files`: the files of the workspace, or of one folder of it, one path a line.
 *
 * Invariants:
 *  1. The first line counts what there is, also what is not shown; paths follow in code unit order.
 *  2. When not all paths are shown, a line for each folder says what it holds, so that nothing is invisible.
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import { createGlob, GLOB_LENGTH } from "../core/text/glob.ts";
import { readIgnore, SKIPPED_FOLDERS } from "./ignore.ts";
import { createBoundedLines, failed, stopped, succeeded } from "./result.ts";
import { argumentsRefused, createArgumentReader } from "./tool-arguments.ts";
import { createWalkTally, ENTRIES_LIMIT, walk } from "./walk.ts";
import type { WalkTally } from "./walk.ts";
import { locatePath, openWorkspace, pathShown } from "./workspace.ts";
import type { Refusal } from "./workspace.ts";

const LIMIT = { min: 1, max: 2000, standard: 500 };
const DEPTH = { min: 1, max: 64, standard: 64 };
const FOLDER_LINES = 40;
const KINDS_SHOWN = 4;

interface FolderCount {
  files: number;
  readonly kinds: Map<string, number>;
}

export function createListFilesTool(): Tool {
  return {
    name: "list_files",
    description:
      "Lists the files of the workspace, one path a line, sorted. Leaves out " +
      `${SKIPPED_FOLDERS.join(", ")} and what the root .gitignore names. Folders that \`depth\` leaves unopened end with a slash.`,
    schema: {
      type: "object",
      properties: {
        path: { type: "string", description: "The folder to list, from the workspace. Default: the whole workspace." },
        glob: {
          type: "string",
          description:
            'Only files that match, such as "*.ts" (a name at any depth) or "src/**/*.{ts,tsx}" (a path from the listed folder).',
        },
        depth: {
          type: "integer",
          minimum: DEPTH.min,
          maximum: DEPTH.max,
          description: "How many levels of folders to open. 1 is the folder itself.",
        },
        limit: {
          type: "integer",
          minimum: LIMIT.min,
          maximum: LIMIT.max,
          description: `How many paths to show. Default: ${LIMIT.standard}.`,
        },
      },
    },
    safe: true,
    run: listFiles,
    locate: (input, { workspace }) => locatePath(jsonObjectIs(input) ? input["path"] : undefined, workspace),
    check: (input) => argumentsRefused(argumentsOf(input)),
  };
}

interface Wanted {
  readonly path: string;
  readonly pattern: string | undefined;
  readonly depth: number;
  readonly limit: number;
}

function argumentsOf(input: Json): Wanted | Refusal {
  const reader = createArgumentReader(input, ["path", "glob", "depth", "limit"], '{"path": "src"}');
  const path = reader.text("path") ?? ".";
  const pattern = reader.text("glob");
  const depth = reader.count("depth", DEPTH);
  const limit = reader.count("limit", LIMIT);
  if (reader.problem !== null) return { refused: reader.problem };
  if ((pattern ?? "").length > GLOB_LENGTH)
    return { refused: `\`glob\` is longer than ${GLOB_LENGTH} characters. Give a shorter pattern.` };
  return { path, pattern, depth, limit };
}

async function listFiles(input: Json, context: ToolContext): Promise<ToolOutput> {
  const read = argumentsOf(input);
  if ("refused" in read) return failed(read.refused);
  const { path, pattern, depth, limit } = read;
  const workspace = await openWorkspace(context.workspace, context.rules);
  if ("refused" in workspace) return failed(workspace.refused);
  const from = await workspace.locate(path);
  if ("refused" in from) return failed(from.refused);
  if (from.kind === "file") return failed(`"${pathShown(from.shown)}" is a file. Use read_file to read it.`);

  const glob = pattern === undefined ? null : createGlob(pattern);
  const prefix = from.shown === "." ? 0 : from.shown.length + 1;
  const sight = workspace.sightFrom(from.shown);
  const tally = createWalkTally();
  const shown = createBoundedLines(8192);
  const folders = new Map<string, FolderCount>();
  let files = 0;
  let full = false;
  for await (const entry of walk(workspace, {
    from,
    depth,
    ignore: await readIgnore(workspace),
    sight,
    signal: context.signal,
    tally,
  })) {
    const inside = entry.path.slice(prefix);
    if (glob !== null && (entry.kind === "folder" || !glob.matches(inside))) continue;
    if (entry.kind !== "folder") {
      files++;
      countIn(folders, entry.path, prefix);
    }
    const mark = entry.kind === "folder" ? "/" : entry.kind === "symlink" ? " (symlink, not followed)" : "";
    full ||= shown.count >= limit || !shown.add(pathShown(entry.path) + mark);
  }
  if (context.signal.aborted) return stopped();

  const where = from.shown === "." ? "the workspace" : `"${pathShown(from.shown)}"`;
  const matching = pattern === undefined ? "" : ` that match ${JSON.stringify(pattern)}`;
  const first = `${count(files, "file")}${matching} in ${where} (${count(tally.folders, "folder")} opened${leftOut(tally)}).`;
  if (!full) return succeeded(shown.count === 0 ? first : `${first}\n${shown.text()}`);
  const note = `[truncated: ${shown.count} shown; narrow with path, glob or depth. What the folders hold:]`;
  return succeeded([first, shown.text(), note, ...folderLines(folders)].join("\n"));
}

/** Files count for the first folder beneath the listed one. */
function countIn(folders: Map<string, FolderCount>, path: string, prefix: number): void {
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
      .slice(0, KINDS_SHOWN);
    return `${pathShown(folder)} ${count(files, "file")} (${most.map(([kind, number]) => `${pathShown(kind.slice(0, 20))} ${number}`).join(", ")})`;
  });
  if (folders.size > FOLDER_LINES) lines.push(`and ${count(folders.size - FOLDER_LINES, "more folder")}`);
  return lines;
}

function leftOut(tally: WalkTally): string {
  const parts: string[] = [];
  if (tally.irregular > 0) parts.push(`${tally.irregular} not regular files left out`);
  if (tally.unreadable > 0) parts.push(`${tally.unreadable} unreadable`);
  if (tally.asked > 0) parts.push(`${tally.asked} left out that the rules ask about: name one as path to ask`);
  if (tally.overfull) parts.push(`only the first ${ENTRIES_LIMIT} names were looked at`);
  return parts.map((part) => `; ${part}`).join("");
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
