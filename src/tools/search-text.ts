/**
 * The tool `search_text`: lines in the workspace's files that contain a text or match a pattern.
 *
 * Invariants:
 *  1. The first line counts all matches, including those not shown. Lines `path:line: text` follow, by path and line.
 *  2. At most `per_file` lines of a file are shown, and the rest of them counted, so that no file crowds out others.
 *  3. Between two files, and between two chunks of one file, other work runs and the signal is checked.
 *  4. Binary and unreadable files are left out. Files that were searched only in part are counted.
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { GLOB_LENGTH } from "../core/text/glob.ts";
import { lineBatches } from "./line-batches.ts";
import { createLineMatcher, type LineMatcher } from "./line-matcher.ts";
import { createBoundedLines, failed, stopped, succeeded } from "./result.ts";
import { type ArgumentsOf, defineArguments, flag, optionalText, requiredText, wholeNumber } from "./tool-arguments.ts";
import { createWalk, MAX_NAMES } from "./walk.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";
import { errorCode, escapedPath, NO_CODE, type OpenedFile, type Refusal, type Workspace } from "./workspace.ts";

const LINE_BYTES = 4096;
const FILE_BYTES = 8 * 1024 * 1024;
const EXCERPT_LENGTH = 240;
const MAX_DEPTH = 64;

const ARGUMENTS = defineArguments(
  {
    query: requiredText("The text to find, within one line."),
    path: optionalText(".", "The folder or file to search, from the workspace. Default: the whole workspace."),
    glob: optionalText(
      undefined,
      'Only files that match, such as "*.ts" or "src/**/*.{ts,tsx}" (a path from the searched folder).',
      GLOB_LENGTH,
    ),
    regex: flag("True if query is a JavaScript regular expression."),
    case_sensitive: flag("True to tell upper from lower case."),
    limit: wholeNumber({ min: 1, max: 1000, standard: 200 }, "How many lines to show."),
    per_file: wholeNumber({ min: 1, max: 1000, standard: 20 }, "How many lines to show of one file."),
  },
  '{"query": "createServer"}',
  ({ query }) =>
    /[\r\n]/.test(query)
      ? "`query` holds a line break, and lines are searched one by one. Search for a part of one line."
      : null,
);

interface FileMatches {
  readonly total: number;
  readonly shown: readonly string[];
  /** True if only the first FILE_BYTES were searched. */
  readonly partly: boolean;
}

interface FileSearch {
  readonly matcher: LineMatcher;
  /** How many lines to show. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

export function createSearchTextTool(): Tool {
  return createWorkspaceTool({
    name: "search_text",
    description:
      "Finds lines in the files of the workspace. Answers `path:line: text`. " +
      "By default query is plain text, and upper and lower case are the same. " +
      "Leaves out binary files and what list_files leaves out.",
    safe: true,
    arguments: ARGUMENTS,
    pathOf: ({ path }) => path,
    run: searchText,
  });
}

async function searchText(
  values: ArgumentsOf<typeof ARGUMENTS>,
  workspace: Workspace,
  { signal }: ToolContext,
): Promise<ToolOutput | Refusal> {
  const { query, path, glob, limit } = values;
  const matcher = createLineMatcher(query, { regex: values.regex, caseSensitive: values.case_sensitive });
  if ("refused" in matcher) return matcher;
  const from = await workspace.locate(path);
  if ("refused" in from) return from;
  const walk = await createWalk(workspace, { from, pattern: glob, depth: MAX_DEPTH, signal });
  const { tally, visibility } = walk;
  const shown = createBoundedLines();
  let searched = 0;
  let partly = 0;
  let matchingFiles = 0;
  let total = 0;
  let shownMatches = 0;
  let full = false;
  for await (const entry of walk.entries()) {
    if (entry.kind !== "file") continue;
    const file = await (from.kind === "file" ? workspace.openFile(path) : workspace.openFound(entry.path, visibility));
    if ("refused" in file) continue;
    const search = { matcher, limit: Math.min(values.per_file, limit), signal };
    const matches = await searchFile(entry.path, file, search);
    if (matches === "too-hard") {
      const problem = `takes too long, or grows too large, as a regular expression on "${escapedPath(entry.path)}"`;
      return failed(`\`query\` ${problem}. Avoid nested repetitions such as (a+)+, or search for plain text.`);
    }
    if (matches === "left-out") continue;
    searched++;
    if (matches.partly) partly++;
    if (matches.total === 0) continue;
    matchingFiles++;
    total += matches.total;
    let shownHere = 0;
    for (const line of matches.shown) {
      full ||= shownMatches >= limit || !shown.add(line);
      if (full) break;
      shownMatches++;
      shownHere++;
    }
    if (!full && shownHere < matches.total)
      shown.add(`${escapedPath(entry.path)}: ${matches.total - shownHere} more lines in this file`);
  }
  if (signal.aborted) return stopped();

  const lines = [`${total} matching lines in ${matchingFiles} of ${searched} searched files.`];
  if (shownMatches < total) {
    const remedy = "narrow with path, glob or a longer query, or raise limit or per_file";
    lines.push(`[truncated: ${shownMatches} shown; ${remedy}]`);
  }
  if (partly > 0) lines.push(`[${partly} files are longer than ${FILE_BYTES} bytes and were searched up to there]`);
  if (tally.asked > 0) lines.push(`[${tally.asked} left out that the rules ask about: name one as path to ask]`);
  if (tally.overfull) lines.push(`[only the first ${MAX_NAMES} names were read; narrow with path]`);
  if (shown.count > 0) lines.push(shown.text());
  return succeeded(lines.join("\n"));
}

async function searchFile(
  path: string,
  { handle }: OpenedFile,
  { matcher, limit, signal }: FileSearch,
): Promise<FileMatches | "left-out" | "too-hard"> {
  const shown: string[] = [];
  let total = 0;
  let ended = false;
  try {
    for await (const batch of lineBatches(handle, { signal, lineBytes: LINE_BYTES, fileBytes: FILE_BYTES })) {
      if (batch.binary) return "left-out";
      ended = batch.ended;
      if (batch.lines.length === 0) continue;
      const lines = batch.lines.map((line) => line.text);
      const matches = matcher.match(lines);
      if (matches === "too-hard") return "too-hard";
      total += matches.length;
      for (const { index, column } of matches) {
        if (shown.length >= limit) break;
        shown.push(`${escapedPath(path)}:${batch.first + index}: ${excerpt(lines[index] ?? "", column)}`);
      }
    }
    return { total, shown, partly: !ended };
  } catch (error) {
    if (errorCode(error) === NO_CODE) throw error;
    return "left-out";
  } finally {
    await handle.close();
  }
}

/** The line without its indentation; of a long line, the part around the match. */
function excerpt(line: string, column: number): string {
  const trimmed = line.trim();
  if (trimmed.length <= EXCERPT_LENGTH) return trimmed;
  const indentation = line.length - line.trimStart().length;
  const start = Math.max(0, Math.min(column - indentation - 60, trimmed.length - EXCERPT_LENGTH));
  const end = start + EXCERPT_LENGTH;
  return `${start > 0 ? "…" : ""}${trimmed.slice(start, end).toWellFormed()}${end < trimmed.length ? "…" : ""}`;
}
