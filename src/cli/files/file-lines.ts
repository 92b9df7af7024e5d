/**
 * Reads the lines of a file with any content.
 *
 * Invariants:
 *  1. One line at a time is in memory, and none is longer than the longest of an export.
 *  2. A line that is not valid UTF-8 is read as an empty line, which no export has.
 */

import { createReadStream, type Stats, statSync } from "node:fs";
import { errorText, ErrandError } from "../../errors.ts";

const LONGEST_LINE = 256 * 1024 * 1024;
const LINE_FEED = 10;

export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let line = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      yield decoded([...parts, chunk.subarray(from, end)]);
      parts = [];
      held = 0;
      line += 1;
      from = end + 1;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held > LONGEST_LINE) throw new ErrandError("file-damaged", `Line ${line} is longer than any of an export`);
  }
  if (parts.length > 0) yield decoded(parts);
}

function decoded(parts: readonly Uint8Array[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch {
    return "";
  }
}

export function fileChunks(path: string): AsyncIterable<Uint8Array> {
  const stream = createReadStream(path);
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for await (const chunk of stream) if (chunk instanceof Uint8Array) yield chunk;
      } catch (cause) {
        throw unusable(path, "read", cause);
      }
    },
  };
}

/** True if there is a file at the path. Throws for a folder. */
export function fileThere(path: string): boolean {
  let stats: Stats | undefined;
  try {
    stats = statSync(path, { throwIfNoEntry: false });
  } catch {
    // A folder on the way is missing or may not be read.
    return false;
  }
  if (stats?.isDirectory() === true) throw unusable(path, "read", new Error("it is a folder"));
  return stats !== undefined;
}

export function unusable(path: string, what: "read" | "written", cause: unknown): ErrandError {
  const why = errorText(cause);
  return new ErrandError("file-unusable", `The file ${path} cannot be ${what}: ${why}`, {
    remedy: "Check the path, and that you may use the file and its folder.",
    cause,
  });
}
