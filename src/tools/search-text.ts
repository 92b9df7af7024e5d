/**
 * Owns the tool `search_text`: the lines of the workspace's files that hold a text or match a pattern.
 *
 * Invariants:
 *  1. The first line counts all matches, also those that are not shown; `path:line: text` lines follow, by path and line.
 *  2. One file cannot crowd out the others: at most `per_file` of its lines are shown, and the rest of them counted.
 *  3. Between any two files, and any two chunks of one, other work goes on and the signal is looked at.
 *  4. Binary files and what cannot be read are left out; what was searched in part only is counted.
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import { createGlob, GLOB_LENGTH } from "../core/text/glob.ts";
import { readIgnore } from "./ignore.ts";
import { lineBatches } from "./line-batches.ts";
import { createLineMatcher } from "./line-matcher.ts";
import type { LineMatcher } from "./line-matcher.ts";
import { createBoundedLines, failed, stopped, succeeded } from "./result.ts";
import { argumentsRefused, createArgumentReader } from "./tool-arguments.ts";
import { createWalkTally, ENTRIES_LIMIT, walk } from "./walk.ts";
import { errorCode, locatePath, NO_CODE, openWorkspace, pathShown } from "./workspace.ts";
import type { OpenedFile, Refusal } from "./workspace.ts";

const LINE_BYTES = 4096;
const FILE_BYTES = 8 * 1024 * 1024;
const EXCERPT = 240;
const LIMIT = { min: 1, max: 1000, standard: 200 };
const PER_FILE = { min: 1, max: 1000, standard: 20 };

interface FileMatches {
  readonly total: number;
  readonly shown: readonly string[];
  /** True if the file was longer than is searched. */
  readonly partly: boolean;
}

interface FileSearch {
  readonly matcher: LineMatcher;
  readonly keep: number;
  readonly signal: AbortSignal;
}

export function createSearchTextTool(): Tool {
  return {
    name: "search_text",
    description:
      "Finds lines in the files of the workspace. Answers `path:line: text`. Plain text, upper and lower case alike, " +
      "unless told otherwise. Leaves out what list_files leaves out, and binary files.",
    schema: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, description: "The text to find, within one line." },
        path: {
          type: "string",
          description: "The folder or file to search, from the workspace. Default: the whole workspace.",
        },
        glob: {
          type: "string",
          description:
            'Only files that match, such as "*.ts" or "src/**/*.{ts,tsx}" (a path from the searched folder).',
        },
        regex: { type: "boolean", description: "True if query is a JavaScript regular expression. Default: false." },
        case_sensitive: { type: "boolean", description: "True to tell upper from lower case. Default: false." },
        limit: {
          type: "integer",
          minimum: LIMIT.min,
          maximum: LIMIT.max,
          description: `How many lines to show. Default: ${LIMIT.standard}.`,
        },
        per_file: {
          type: "integer",
          minimum: PER_FILE.min,
          maximum: PER_FILE.max,
          description: `How many lines to show of one file. Default: ${PER_FILE.standard}.`,
        },
      },
      required: ["query"],
    },
    safe: true,
    run: searchText,
    locate: (input, { workspace }) => locatePath(jsonObjectIs(input) ? input["path"] : undefined, workspace),
    check: (input) => argumentsRefused(argumentsOf(input)),
  };
}

interface Wanted {
  readonly query: string;
  readonly path: string;
  readonly pattern: string | undefined;
  readonly regex: boolean;
  readonly caseSensitive: boolean;
  readonly limit: number;
  readonly perFile: number;
}

function argumentsOf(input: Json): Wanted | Refusal {
  const known = ["query", "path", "glob", "regex", "case_sensitive", "limit", "per_file"];
  const reader = createArgumentReader(input, known, '{"query": "createServer"}');
  const query = reader.requiredText("query");
  const path = reader.text("path") ?? ".";
  const pattern = reader.text("glob");
  const regex = reader.flag("regex");
  const caseSensitive = reader.flag("case_sensitive");
  const limit = reader.count("limit", LIMIT);
  const perFile = reader.count("per_file", PER_FILE);
  if (reader.problem !== null) return { refused: reader.problem };
  if ((pattern ?? "").length > GLOB_LENGTH)
    return { refused: `\`glob\` is longer than ${GLOB_LENGTH} characters. Give a shorter pattern.` };
  if (/[\r\n]/.test(query))
    return {
      refused: "`query` holds a line break, and lines are searched one by one. Search for a part of one line.",
    };
  return { query, path, pattern, regex, caseSensitive, limit, perFile };
}

async function searchText(input: Json, context: ToolContext): Promise<ToolOutput> {
  const read = argumentsOf(input);
  if ("refused" in read) return failed(read.refused);
  const { query, path, pattern, regex, caseSensitive, limit, perFile } = read;
  const matcher = createLineMatcher(query, { regex, caseSensitive });
  if ("refused" in matcher) return failed(matcher.refused);
  const workspace = await openWorkspace(context.workspace, context.rules);
  if ("refused" in workspace) return failed(workspace.refused);
  const from = await workspace.locate(path);
  if ("refused" in from) return failed(from.refused);

  const glob = pattern === undefined || from.kind === "file" ? null : createGlob(pattern);
  const prefix = from.shown === "." ? 0 : from.shown.length + 1;
  const sight = workspace.sightFrom(from.shown);
  const tally = createWalkTally();
  const openEntry = (found: string): Promise<OpenedFile | Refusal> =>
    from.kind === "file" ? workspace.openFile(path) : workspace.openFound(found, sight);
  const shown = createBoundedLines();
  let searched = 0;
  let partly = 0;
  let matchingFiles = 0;
  let total = 0;
  let shownMatches = 0;
  let full = false;
  for await (const entry of walk(workspace, {
    from,
    depth: 64,
    ignore: await readIgnore(workspace),
    sight,
    signal: context.signal,
    tally,
  })) {
    if (entry.kind !== "file" || (glob !== null && !glob.matches(entry.path.slice(prefix)))) continue;
    const matches = await searchFile(entry.path, openEntry(entry.path), {
      matcher,
      keep: Math.min(perFile, limit),
      signal: context.signal,
    });
    if (matches === "too-hard") {
      return failed(
        `\`query\` takes too long, or grows too large, as a regular expression on "${pathShown(entry.path)}". Avoid nested repetitions such as (a+)+, or search for plain text.`,
      );
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
      shown.add(`${pathShown(entry.path)}: ${matches.total - shownHere} more lines in this file`);
  }
  if (context.signal.aborted) return stopped();

  const first = [`${total} matching lines in ${matchingFiles} of ${searched} searched files.`];
  if (shownMatches < total)
    first.push(
      `[truncated: ${shownMatches} shown; narrow with path, glob or a longer query, or raise limit or per_file]`,
    );
  if (partly > 0) first.push(`[${partly} files are longer than ${FILE_BYTES} bytes and were searched up to there]`);
  if (tally.asked > 0) first.push(`[${tally.asked} left out that the rules ask about: name one as path to ask]`);
  if (tally.overfull) first.push(`[only the first ${ENTRIES_LIMIT} names were looked at; narrow with path]`);
  return succeeded(shown.count === 0 ? first.join("\n") : `${first.join("\n")}\n${shown.text()}`);
}

async function searchFile(
  path: string,
  opening: Promise<OpenedFile | Refusal>,
  { matcher, keep, signal }: FileSearch,
): Promise<FileMatches | "left-out" | "too-hard"> {
  const file = await opening;
  if ("refused" in file) return "left-out";
  const shown: string[] = [];
  let total = 0;
  let ended = false;
  try {
    for await (const batch of lineBatches(file.handle, { signal, lineBytes: LINE_BYTES, fileBytes: FILE_BYTES })) {
      if (batch.binary) return "left-out";
      ended = batch.ended;
      if (batch.lines.length === 0) continue;
      const lines = batch.lines.map((line) => line.text);
      const matches = matcher.match(lines);
      if (matches === "too-hard") return "too-hard";
      total += matches.length;
      for (const { index, column } of matches) {
        if (shown.length >= keep) break;
        shown.push(`${pathShown(path)}:${batch.first + index}: ${excerpt(lines[index] ?? "", column)}`);
      }
    }
    return { total, shown, partly: !ended };
  } catch (error) {
    if (errorCode(error) === NO_CODE) throw error;
    return "left-out";
  } finally {
    await file.handle.close();
  }
}

/** The line without its indentation, or the part of a long one around the match. */
function excerpt(line: string, column: number): string {
  const trimmed = line.trim();
  if (trimmed.length <= EXCERPT) return trimmed;
  const indentation = line.length - line.trimStart().length;
  const start = Math.max(0, Math.min(column - indentation - 60, trimmed.length - EXCERPT));
  const end = start + EXCERPT;
  return `${start > 0 ? "…" : ""}${trimmed.slice(start, end).toWellFormed()}${end < trimmed.length ? "…" : ""}`;
}
