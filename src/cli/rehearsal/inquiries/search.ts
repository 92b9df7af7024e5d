/** Owns the question where words stand: the files that hold the most of them, with the lines, and a look around the best place. */

import type { Action, Evidence } from "../evidence.ts";
import { DOCUMENT_GLOB, SOURCE_GLOB } from "../file-kinds.ts";
import { type Hits, type RankedFile, rankFiles, readHits, wordBegins } from "../hits.ts";
import { stemOf } from "../keywords.ts";
import { LIST_ALL, listingOf, nameOf } from "../listing.ts";
import type { SearchScope } from "../parts.ts";
import { count, shorten } from "../wording.ts";
import type { Inquiry } from "./inquiry.ts";

const FILES_SHOWN = 4;
const LINES_SHOWN = 2;
const NAMES_SHOWN = 5;
const BEFORE = 2;
const AROUND = 7;

export function createSearchInquiry(scope: SearchScope, words: readonly string[]): Inquiry {
  const search = (word: string): Action => ({
    name: "search_text",
    input: {
      query: stemOf(word),
      per_file: 5,
      limit: 300,
      ...(scope === "all" ? {} : { glob: scope === "source" ? SOURCE_GLOB : DOCUMENT_GLOB }),
    },
  });

  function found(evidence: Evidence): ReadonlyMap<string, Hits> {
    return new Map(
      words.flatMap((word) => {
        const output = evidence.output(search(word));
        return output === null ? [] : [[word, readHits(output)] as const];
      }),
    );
  }

  return {
    actions(evidence) {
      if (!evidence.has(LIST_ALL)) return [LIST_ALL];
      const searches = words.map(search);
      if (!searches.every((action) => evidence.has(action))) return [LIST_ALL, ...searches];
      const best = rankFiles(found(evidence))[0];
      return [LIST_ALL, ...searches, ...(best === undefined ? [] : [around(best)])];
    },
    findings(evidence) {
      const results = found(evidence);
      const ranked = rankFiles(results);
      const counts = [...results].map(
        ([word, hits]) =>
          `${word} ${hits.total === 0 ? "nowhere" : `${count(hits.total, "line")} in ${count(hits.files, "file")}`}`,
      );
      const named = (listingOf(evidence)?.paths ?? []).filter((path) =>
        words.some((word) => wordBegins(nameOf(path), stemOf(word))),
      );
      return [
        ...(counts.length > 0 ? [`- ${counts.join("; ")}`] : []),
        ...ranked
          .slice(0, FILES_SHOWN)
          .flatMap((file, index) => fileFindings(file, words, index === 0 ? evidence : null)),
        ...(ranked.length > FILES_SHOWN ? [`- and ${count(ranked.length - FILES_SHOWN, "other file")}`] : []),
        ...(named.length > 0 && scope !== "documents"
          ? [
              `- named after it: ${named.slice(0, NAMES_SHOWN).join(", ")}${named.length > NAMES_SHOWN ? `, … (${named.length})` : ""}`,
            ]
          : []),
      ];
    },
  };
}

/** The best file is shown as it stands around its best line; of the others, the lines that hold the words. */
function fileFindings(file: RankedFile, words: readonly string[], evidence: Evidence | null): readonly string[] {
  const first = `- ${file.path}${words.length > 1 ? ` (${file.words.join(", ")})` : ""}`;
  const window = evidence?.output(around(file)) ?? null;
  const numbered = window?.split("\n").flatMap((line) => {
    const match = /^(\d+)\t(.*)$/.exec(line);
    return match === null ? [] : [{ line: Number(match[1]), text: match[2] ?? "" }];
  });
  while (numbered?.at(-1)?.text.trim() === "") numbered.pop();
  while (numbered?.[0]?.text.trim() === "") numbered.shift();
  if (numbered !== undefined && numbered.length > 0) {
    const width = String(numbered.at(-1)?.line ?? 0).length;
    return [
      first,
      ...numbered.map(({ line, text }) =>
        `    ${String(line).padStart(width)} | ${text.length > 120 ? shorten(text, 120) : text}`.trimEnd(),
      ),
    ];
  }
  const lines = file.hits.slice(0, LINES_SHOWN).toSorted((left, right) => left.line - right.line);
  return [first, ...lines.map((hit) => `    ${hit.path}:${hit.line}  ${shorten(hit.text, 120)}`)];
}

function around(file: RankedFile): Action {
  const line = file.hits[0]?.line ?? 1;
  return { name: "read_file", input: { path: file.path, offset: Math.max(1, line - BEFORE), limit: AROUND } };
}
