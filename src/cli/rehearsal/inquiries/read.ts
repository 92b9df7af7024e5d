/** Owns the question what named files say: their first comment, their outline and their first lines. */

import type { Action, Evidence } from "../evidence.ts";
import { codeIs } from "../file-kinds.ts";
import { count, fileLines, shorten } from "../wording.ts";
import type { Inquiry } from "./inquiry.ts";
import { saysOf } from "./source.ts";

const OUTLINE = 10;
const FIRST_LINES = 6;

export function createReadInquiry(paths: readonly string[]): Inquiry {
  return {
    actions: () => paths.map(readWhole),
    findings: (evidence) => paths.flatMap((path) => fileFindings(path, evidence)),
  };
}

function fileFindings(path: string, evidence: Evidence): readonly string[] {
  const output = evidence.output(readWhole(path));
  if (output === null) return [`- ${path}: could not be read; there may be no such file`];
  const lines = fileLines(output);
  const total = /of (?:more than )?(\d+) lines/.exec(output)?.[1] ?? String(lines.length);
  const outline = lines.flatMap((line, index) =>
    outlineIs(path, line) ? [`    ${path}:${index + 1}  ${shorten(line, 110)}`] : [],
  );
  const says = codeIs(path) ? `: ${saysOf(lines)}` : "";
  const shown =
    outline.length > 0
      ? outline
      : lines
          .filter((line) => line.trim() !== "")
          .slice(0, FIRST_LINES)
          .map((line) => `    ${shorten(line, 110)}`);
  return [
    `- ${path} (${count(Number(total), "line")})${says}`,
    ...shown.slice(0, OUTLINE),
    ...(shown.length > OUTLINE ? [`    … and ${count(shown.length - OUTLINE, "more line")} of its outline`] : []),
  ];
}

/** Headings of documents, definitions of sources. */
function outlineIs(path: string, line: string): boolean {
  if (/\.(md|mdx|adoc|rst)$/.test(path)) return /^#{1,4}\s/.test(line);
  return (
    codeIs(path) &&
    /^(export\s|pub\s|public\s)?\s?(default\s|async\s|abstract\s)*(function|class|interface|type|const|def|fn|func|struct|trait|enum)\b/.test(
      line,
    )
  );
}

function readWhole(path: string): Action {
  return { name: "read_file", input: { path, limit: 800 } };
}
