/**
 * Reads a file as lines, a chunk at a time.
 *
 * Invariants:
 *  1. Memory is limited to one chunk and the first `lineBytes` of one line, whatever the file.
 *  2. The number and the byte length of a line are exact, as far as the file was read.
 *  3. Bytes that are not UTF-8 become U+FFFD. A cut never splits a character.
 *  4. The signal is checked between chunks.
 */

import type { FileHandle } from "node:fs/promises";

export interface Line {
  /** The line without its line break, up to `lineBytes`. */
  readonly text: string;
  readonly bytes: number;
  /** True if `text` is not the whole line. */
  readonly cut: boolean;
}

export interface LineBatch {
  /** The number of the first line, from 1. */
  readonly first: number;
  readonly lines: readonly Line[];
  /** True if the chunk has a NUL byte. */
  readonly binary: boolean;
  /** True if this is the end of the file. */
  readonly ended: boolean;
}

export interface LineBatchOptions {
  readonly signal: AbortSignal;
  /** The most bytes of a line that are kept. */
  readonly lineBytes: number;
  /** The most bytes of the file that are read. */
  readonly fileBytes: number;
}

const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 10;

export async function* lineBatches(handle: FileHandle, options: LineBatchOptions): AsyncGenerator<LineBatch> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let position = 0;
  let number = 1;
  let held: Buffer = Buffer.alloc(0);
  let bytes = 0;

  function add(part: Buffer): void {
    bytes += part.length;
    const room = options.lineBytes + 1 - held.length;
    if (room > 0 && part.length > 0) held = Buffer.concat([held, part.subarray(0, room)]);
  }

  function take(complete: boolean): Line {
    const line = lineOf(held, bytes, options.lineBytes, complete);
    held = Buffer.alloc(0);
    bytes = 0;
    return number === 1 ? { ...line, text: line.text.replace(/^\uFEFF/, "") } : line;
  }

  while (!options.signal.aborted) {
    const wanted = Math.min(CHUNK_BYTES, options.fileBytes - position);
    const bytesRead = wanted === 0 ? 0 : (await handle.read(chunk, 0, wanted, position)).bytesRead;
    position += bytesRead;
    const data = chunk.subarray(0, bytesRead);
    const lines: Line[] = [];
    const first = number;
    let start = 0;
    for (;;) {
      const end = data.indexOf(LINE_FEED, start);
      if (end < 0) break;
      add(data.subarray(start, end));
      lines.push(take(true));
      number++;
      start = end + 1;
    }
    add(data.subarray(start));
    const ended = bytesRead === 0 && wanted > 0;
    const stopped = wanted === 0;
    if ((ended || stopped) && bytes > 0) {
      lines.push(take(ended));
      number++;
    }
    yield { first, lines, binary: data.includes(0), ended };
    if (ended || stopped) return;
  }
}

function lineOf(held: Buffer, bytes: number, limit: number, complete: boolean): Line {
  const cut = bytes > limit || !complete;
  let end = Math.min(held.length, limit);
  if (bytes > limit) while (end > 0 && ((held[end] ?? 0) & 0xc0) === 0x80) end--;
  else if (held[end - 1] === 13) end--;
  return { text: held.toString("utf8", 0, end), bytes, cut };
}
