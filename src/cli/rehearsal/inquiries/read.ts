/** What named files say: their first comment, their outline or their first lines. */

import type { Action, Evidence, Inquiry } from "../conversation.ts";
import { codeIs } from "../file-kinds.ts";
import { fileLines } from "../tool-outputs.ts";
import { shorten } from "../wording.ts";
import { countLabel } from "../../../view/amounts.ts";
import { DEFINITION, purposeOf } from "./source.ts";

const OUTLINE = 10;
const FIRST_LINES = 6;
const LINE_LENGTH = 110;

export function readInquiry(paths: readonly string[], evidence: Evidence): Inquiry {
  return {
    actions: paths.map(readWhole),
    findings: () => paths.flatMap((path) => fileFindings(path, evidence.output(readWhole(path)))),
  };
}

function fileFindings(path: string, output: string | null): readonly string[] {
  if (output === null) return [`- ${path}: could not be read; there may be no such file`];
  const lines = fileLines(output);
  const total = Number(/of (?:more than )?(\d+) lines/.exec(output)?.[1] ?? lines.length);
  const outline = lines.flatMap((line, index) =>
    outlineIs(path, line) ? [`    ${path}:${index + 1}  ${shorten(line, LINE_LENGTH)}`] : [],
  );
  const first = lines.filter((line) => line.trim() !== "").slice(0, FIRST_LINES);
  const shown = outline.length > 0 ? outline : first.map((line) => `    ${shorten(line, LINE_LENGTH)}`);
  return [
    `- ${path} (${countLabel(total, "line")})${codeIs(path) ? `: ${purposeOf(lines)}` : ""}`,
    ...shown.slice(0, OUTLINE),
    ...(shown.length > OUTLINE ? [`    … and ${countLabel(shown.length - OUTLINE, "more line")} of its outline`] : []),
  ];
}

/** Headings of documents, definitions in sources. */
function outlineIs(path: string, line: string): boolean {
  if (/\.(md|mdx|adoc|rst)$/.test(path)) return /^#{1,4}\s/.test(line);
  return codeIs(path) && !line.startsWith(" ") && DEFINITION.test(line);
}

function readWhole(path: string): Action {
  return { name: "read_file", input: { path, limit: 800 } };
}
