/** Where words occur: the files with most of them, with the lines, and the surroundings of the best match. */

import type { Action, Evidence, Inquiry } from "../conversation.ts";
import { DOCUMENT_GLOB, SOURCE_GLOB } from "../file-kinds.ts";
import { stemOf } from "../keywords.ts";
import type { SearchScope } from "../questions.ts";
import { type RankedFile, rankFiles, wordBegins } from "../ranking.ts";
import { type Listing, nameOf, numberedLines, readHits } from "../tool-outputs.ts";
import { listed, shorten } from "../wording.ts";
import { countLabel } from "../../../view/amounts.ts";

const FILES_SHOWN = 4;
const LINES_SHOWN = 2;
const NAMES_SHOWN = 5;
const LINE_LENGTH = 120;
const LINES_BEFORE = 2;
const LINES_AROUND = 7;

export function searchInquiry(
  scope: SearchScope,
  words: readonly string[],
  { paths }: Listing,
  evidence: Evidence,
): Inquiry {
  const glob = { source: { glob: SOURCE_GLOB }, documents: { glob: DOCUMENT_GLOB }, all: {} }[scope];
  const searchFor = (word: string): Action => ({
    name: "search_text",
    input: { query: stemOf(word), per_file: 5, limit: 300, ...glob },
  });
  const results = new Map(
    words.flatMap((word) => {
      const output = evidence.output(searchFor(word));
      return output === null ? [] : [[word, readHits(output)] as const];
    }),
  );
  const ranked = rankFiles(results);
  const searched = words.every((word) => evidence.has(searchFor(word)));
  return {
    actions: [...words.map(searchFor), ...(searched ? ranked.slice(0, 1).map(readAround) : [])],
    findings() {
      const counts = [...results].map(([word, { total, files }]) =>
        total === 0 ? `${word} nowhere` : `${word} ${countLabel(total, "line")} in ${countLabel(files, "file")}`,
      );
      const named = paths.filter((path) => words.some((word) => wordBegins(nameOf(path), stemOf(word))));
      const lines = ranked.slice(0, FILES_SHOWN).flatMap((file, index) => {
        const first = `- ${file.path}${words.length > 1 ? ` (${file.words.join(", ")})` : ""}`;
        const around = index === 0 ? surroundings(evidence.output(readAround(file)) ?? "") : [];
        return [first, ...(around.length > 0 ? around : matchingLines(file))];
      });
      return [
        ...(counts.length > 0 ? [`- ${counts.join("; ")}`] : []),
        ...lines,
        ...(ranked.length > FILES_SHOWN ? [`- and ${countLabel(ranked.length - FILES_SHOWN, "other file")}`] : []),
        ...(named.length > 0 && scope !== "documents"
          ? [`- named after it: ${listed(named, NAMES_SHOWN, `, … (${named.length})`)}`]
          : []),
      ];
    },
  };
}

/** The lines of a `read_file` answer, without empty lines at both ends. */
function surroundings(output: string): readonly string[] {
  const lines = numberedLines(output);
  const first = lines.findIndex(({ text }) => text.trim() !== "");
  const shown = lines.slice(Math.max(0, first), lines.findLastIndex(({ text }) => text.trim() !== "") + 1);
  const width = String(shown.at(-1)?.line ?? 0).length;
  return shown.map(({ line, text }) =>
    `    ${String(line).padStart(width)} | ${text.length > LINE_LENGTH ? shorten(text, LINE_LENGTH) : text}`.trimEnd(),
  );
}

function matchingLines({ hits }: RankedFile): readonly string[] {
  const shown = hits.slice(0, LINES_SHOWN).toSorted((left, right) => left.line - right.line);
  return shown.map(({ path, line, text }) => `    ${path}:${line}  ${shorten(text, LINE_LENGTH)}`);
}

function readAround({ path, hits }: RankedFile): Action {
  const offset = Math.max(1, (hits[0]?.line ?? 1) - LINES_BEFORE);
  return { name: "read_file", input: { path, offset, limit: LINES_AROUND } };
}
