/**
 * Cuts a stream into lines.
 *
 * Invariants:
 *  1. Memory is limited: of a line that is too long, at most `maxBytes` are held, and it is reported once.
 *  2. Each line is decoded as UTF-8; null in place of one that is not.
 *  3. The last line counts also without a line break. Empty lines do not count.
 */

export interface LineReader {
  add(chunk: Buffer): void;
  /** The stream has ended. */
  end(): void;
}

export interface LineEvents {
  line(text: string | null): void;
  /** The stream is not read any further. */
  tooLong(): void;
}

const LINE_BREAK = 0x0a;

export function createLineReader(maxBytes: number, events: LineEvents): LineReader {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let parts: Buffer[] = [];
  let held = 0;
  let stopped = false;

  function take(): void {
    const line = Buffer.concat(parts, held);
    parts = [];
    held = 0;
    const text = decode(line);
    if (text === null || text.trim() !== "") events.line(text);
  }

  function decode(line: Buffer): string | null {
    try {
      return decoder.decode(line);
    } catch {
      return null;
    }
  }

  return {
    add(chunk) {
      for (let at = 0; at < chunk.length && !stopped;) {
        const found = chunk.indexOf(LINE_BREAK, at);
        const end = found === -1 ? chunk.length : found;
        held += end - at;
        if (held > maxBytes) {
          stopped = true;
          parts = [];
          events.tooLong();
          return;
        }
        // A copy, because a part of a chunk keeps the whole chunk in memory.
        if (end > at) parts.push(Buffer.from(chunk.subarray(at, end)));
        if (found !== -1) take();
        at = end + 1;
      }
    },
    end() {
      if (!stopped && held > 0) take();
      stopped = true;
    },
  };
}
