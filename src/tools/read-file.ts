/**
 * The tool `read_file`: a range of lines of a text file, with line numbers.
 *
 * Invariants:
 *  1. An answer has at most 64 KiB (result.ts), and at most SCAN_BYTES of a file are read.
 *  2. If there is more, the last line says so, with numbers and the offset to read on from.
 *  3. A binary file is refused.
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { type Line, lineBatches } from "./line-batches.ts";
import { createBoundedLines, failed, stopped, succeeded } from "./result.ts";
import { type ArgumentsOf, defineArguments, requiredText, wholeNumber } from "./tool-arguments.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";
import { errorCode, escapedPath, type OpenedFile, type Refusal, type Workspace } from "./workspace.ts";

const LINE_BYTES = 16 * 1024;
const SCAN_BYTES = 64 * 1024 * 1024;

const ARGUMENTS = defineArguments(
  {
    path: requiredText("The file, from the workspace."),
    offset: wholeNumber({ min: 1, max: 1_000_000_000, standard: 1 }, "The number of the first line to read."),
    limit: wholeNumber({ min: 1, max: 10_000, standard: 2000 }, "How many lines to read."),
  },
  '{"path": "README.md"}',
);

type Range = Pick<ArgumentsOf<typeof ARGUMENTS>, "offset" | "limit">;

export function createReadFileTool(): Tool {
  return createWorkspaceTool({
    name: "read_file",
    description:
      "Reads a text file of the workspace. Each line follows its number and a tab. " +
      "Long files are read in parts: give offset and limit.",
    safe: true,
    arguments: ARGUMENTS,
    pathOf: ({ path }) => path,
    run: readFile,
  });
}

async function readFile(
  { path, ...range }: ArgumentsOf<typeof ARGUMENTS>,
  workspace: Workspace,
  { signal }: ToolContext,
): Promise<ToolOutput | Refusal> {
  const file = await workspace.openFile(path);
  if ("refused" in file) return file;
  try {
    return await readRange(file, range, signal);
  } catch (error) {
    return failed(`"${escapedPath(file.relative)}" cannot be read (${errorCode(error)}). Go on without it.`);
  } finally {
    await file.handle.close();
  }
}

async function readRange(file: OpenedFile, { offset, limit }: Range, signal: AbortSignal): Promise<ToolOutput> {
  const name = `"${escapedPath(file.relative)}"`;
  const shown = createBoundedLines();
  let full = false;
  let lines = 0;
  let ended = false;
  for await (const batch of lineBatches(file.handle, { signal, lineBytes: LINE_BYTES, fileBytes: SCAN_BYTES })) {
    const wanted = batch.first < offset + limit && !full;
    if (batch.binary && (batch.first === 1 || wanted)) {
      const reason = `is a binary file of ${file.size} bytes: it holds NUL bytes`;
      return failed(`${name} ${reason}. Only text can be read; go on without it.`);
    }
    for (const [index, line] of batch.lines.entries()) {
      const number = batch.first + index;
      if (number >= offset && number < offset + limit && !full) full = !shown.add(shownLine(number, line));
    }
    lines += batch.lines.length;
    ended = batch.ended;
  }
  if (signal.aborted) return stopped();
  if (lines === 0) return succeeded("(the file is empty)");
  if (shown.count === 0 && ended)
    return failed(
      `\`offset\` ${offset} is past the end: ${name} has ${lines} lines. Give an offset from 1 to ${lines}.`,
    );
  if (shown.count === 0) {
    const reason = `line ${offset} lies beyond the first ${SCAN_BYTES} bytes of ${name}`;
    return failed(`${reason}, and this tool reads no further. Use search_text.`);
  }
  const text = shown.text();
  const last = offset + shown.count - 1;
  const total = ended ? `${lines} lines` : `more than ${lines} lines`;
  const notes: string[] = [];
  if (text.includes("\uFFFD")) notes.push("[some bytes are not UTF-8 and are shown as \uFFFD]");
  if (last < lines || !ended) {
    const part = `lines ${offset}-${last} of ${total}, ${file.size} bytes in all`;
    notes.push(`[truncated: ${part}; read on with offset ${last + 1}]`);
  } else if (offset > 1) {
    notes.push(`[lines ${offset}-${last} of ${total}: the end of the file]`);
  }
  return succeeded([text, ...notes].join("\n"));
}

function shownLine(number: number, line: Line): string {
  const mark = line.cut ? ` … [line truncated: its first ${Buffer.byteLength(line.text)} of ${line.bytes} bytes]` : "";
  return `${number}\t${line.text}${mark}`;
}
