/**
 * What agents say, on a terminal: Markdown, where colours can be shown; else the text as it was written.
 */

import type { Host } from "../host.ts";
import { createMarkdownStream, markdownRows, type MarkdownStream } from "../markdown/markdown.ts";
import type { MarkdownView } from "../markdown/wrap-spans.ts";
import { createColours } from "../text/colours.ts";
import { terminalText } from "../text/terminal-text.ts";
import { lastRows } from "../text/wrap.ts";

type Terminal = Pick<Host, "screen" | "colours">;

/** Longer rows are hard to read. */
const WIDEST = 100;

export function agentText(text: string, host: Terminal): string {
  const view = viewOf(host);
  return view === null ? withoutEmptyEnds(terminalText(text)) : markdownRows(text, view).join("\n");
}

function withoutEmptyEnds(text: string): string {
  return text.replace(/^\s*\n/, "").trimEnd();
}

/** Null where the text is shown as it was written. */
function viewOf({ screen, colours }: Terminal): MarkdownView | null {
  if (screen === null || colours.out === null) return null;
  return { width: Math.max(4, Math.min(screen.size().columns - 1, WIDEST)), colours: createColours(colours.out) };
}

/** The text that an agent is writing, for the frame at the bottom of a terminal. */
export interface WrittenText {
  readonly empty: boolean;
  write(text: string): void;
  clear(): void;
  /** Its last rows, with an empty one below; none if there is no text. */
  rows(width: number, most: number): readonly string[];
}

export function createWrittenText(host: Terminal): WrittenText {
  let written = "";
  let stream: MarkdownStream | null = null;
  /** The columns for which the rows of the stream were made. */
  let columns = 0;

  function last(width: number, most: number): readonly string[] {
    const view = viewOf(host);
    if (view === null) return lastRows(terminalText(written).trim(), width, most);
    if (stream === null || columns !== view.width) {
      columns = view.width;
      stream = createMarkdownStream(view);
      stream.write(written.trimStart());
    }
    return stream.tail(most);
  }

  return {
    get empty() {
      return written === "";
    },
    write(text) {
      const begins = written.trim() === "";
      written += text;
      if (begins) stream = null;
      else stream?.write(text);
    },
    clear() {
      written = "";
      stream = null;
    },
    rows(width, most) {
      const rows = written.trim() === "" ? [] : last(width, most - 1);
      return rows.length === 0 ? [] : [...rows, ""];
    },
  };
}
