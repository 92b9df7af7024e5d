/**
 * Owns the tool `read_file`: a window of a text file, with line numbers.
 *
 * Invariants:
 *  1. At most 64 KiB are answered (result.ts) and SCAN_BYTES are read, whatever the file.
 *  2. When there is more, the last line says so with numbers and with the offset to read on from.
 *  3. A binary file is refused, not garbled.
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import { lineBatches } from "./line-batches.ts";
import type { Line } from "./line-batches.ts";
import { createBoundedLines, failed, stopped, succeeded } from "./result.ts";
import { argumentsRefused, createArgumentReader } from "./tool-arguments.ts";
import { errorCode, locatePath, openWorkspace, pathShown } from "./workspace.ts";
import type { OpenedFile, Refusal } from "./workspace.ts";

const LINE_BYTES = 16 * 1024;
const SCAN_BYTES = 64 * 1024 * 1024;
const OFFSET = { min: 1, max: 1_000_000_000, standard: 1 };
const LIMIT = { min: 1, max: 10_000, standard: 2000 };

interface Window {
  readonly offset: number;
  readonly limit: number;
}

export function createReadFileTool(): Tool {
  return {
    name: "read_file",
    description:
      "Reads a text file of the workspace. Each line stands behind its number and a tab. Long files are read in windows: give offset and limit.",
    schema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, from the workspace." },
        offset: {
          type: "integer",
          minimum: OFFSET.min,
          description: "The number of the first line to read. Default: 1.",
        },
        limit: {
          type: "integer",
          minimum: LIMIT.min,
          maximum: LIMIT.max,
          description: `How many lines to read. Default: ${LIMIT.standard}.`,
        },
      },
      required: ["path"],
    },
    safe: true,
    run: readFile,
    locate: (input, { workspace }) => locatePath(jsonObjectIs(input) ? input["path"] : undefined, workspace),
    check: (input) => argumentsRefused(argumentsOf(input)),
  };
}

function argumentsOf(input: Json): (Window & { readonly path: string }) | Refusal {
  const reader = createArgumentReader(input, ["path", "offset", "limit"], '{"path": "README.md"}');
  const path = reader.requiredText("path");
  const offset = reader.count("offset", OFFSET);
  const limit = reader.count("limit", LIMIT);
  return reader.problem === null ? { path, offset, limit } : { refused: reader.problem };
}

async function readFile(input: Json, context: ToolContext): Promise<ToolOutput> {
  const read = argumentsOf(input);
  if ("refused" in read) return failed(read.refused);
  const { path, offset, limit } = read;
  const workspace = await openWorkspace(context.workspace, context.rules);
  if ("refused" in workspace) return failed(workspace.refused);
  const file = await workspace.openFile(path);
  if ("refused" in file) return failed(file.refused);
  try {
    return await readWindow(file, { offset, limit }, context.signal);
  } catch (error) {
    return failed(`"${pathShown(file.shown)}" cannot be read (${errorCode(error)}). Go on without it.`);
  } finally {
    await file.handle.close();
  }
}

async function readWindow(file: OpenedFile, { offset, limit }: Window, signal: AbortSignal): Promise<ToolOutput> {
  const window = createBoundedLines();
  let full = false;
  let lines = 0;
  let ended = false;
  for await (const batch of lineBatches(file.handle, { signal, lineBytes: LINE_BYTES, fileBytes: SCAN_BYTES })) {
    const wanted = batch.first < offset + limit && !full;
    if (batch.binary && (batch.first === 1 || wanted)) {
      return failed(
        `"${pathShown(file.shown)}" is a binary file of ${file.size} bytes: it holds NUL bytes. Only text can be read; go on without it.`,
      );
    }
    for (const [index, line] of batch.lines.entries()) {
      const number = batch.first + index;
      if (number >= offset && number < offset + limit && !full) full = !window.add(shownLine(number, line));
    }
    lines += batch.lines.length;
    ended = batch.ended;
  }
  if (signal.aborted) return stopped();
  if (lines === 0) return succeeded("(the file is empty)");
  if (window.count === 0) {
    return ended
      ? failed(
          `\`offset\` ${offset} is past the end: "${pathShown(file.shown)}" has ${lines} lines. Give an offset from 1 to ${lines}.`,
        )
      : failed(
          `line ${offset} lies beyond the first ${SCAN_BYTES} bytes of "${pathShown(file.shown)}", and this tool reads no further. Use search_text.`,
        );
  }
  const last = offset + window.count - 1;
  const total = ended ? `${lines} lines` : `more than ${lines} lines`;
  const notes: string[] = [];
  if (window.text().includes("\uFFFD")) notes.push("[some bytes are not UTF-8 and are shown as \uFFFD]");
  if (last < lines || !ended) {
    notes.push(
      `[truncated: lines ${offset}-${last} of ${total}, ${file.size} bytes in all; read on with offset ${last + 1}]`,
    );
  } else if (offset > 1) {
    notes.push(`[lines ${offset}-${last} of ${total}: the end of the file]`);
  }
  return succeeded([window.text(), ...notes].join("\n"));
}

function shownLine(number: number, line: Line): string {
  const mark = line.cut ? ` … [line truncated: its first ${Buffer.byteLength(line.text)} of ${line.bytes} bytes]` : "";
  return `${number}\t${line.text}${mark}`;
}
