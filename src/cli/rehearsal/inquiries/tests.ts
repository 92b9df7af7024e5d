/** Owns the question where the tests are: their folders, their number, how they are run. */

import type { Action } from "../evidence.ts";
import { testIs } from "../file-kinds.ts";
import { readHits } from "../hits.ts";
import { byCount, LIST_ALL, listingOf, tally } from "../listing.ts";
import { count, shorten } from "../wording.ts";
import { readAction, scriptsOf } from "./describe.ts";
import type { Inquiry } from "./inquiry.ts";

const FOLDERS_SHOWN = 6;
const EXAMPLES = 4;

const COUNT_TESTS: Action = {
  name: "search_text",
  input: {
    query: "^\\s*(?:(?:test|it)(?:\\.\\w+)*\\(|(?:async )?def test_|func Test\\w|#\\[(?:tokio::)?test\\]|@Test\\b)",
    regex: true,
    case_sensitive: true,
    per_file: 1,
    limit: 100,
  },
};

export function createTestsInquiry(): Inquiry {
  return {
    actions(evidence) {
      const listing = listingOf(evidence);
      if (listing === null) return [LIST_ALL];
      return [LIST_ALL, COUNT_TESTS, ...(listing.paths.includes("package.json") ? [readAction("package.json")] : [])];
    },
    findings(evidence) {
      const listing = listingOf(evidence);
      if (listing === null) return [];
      const files = listing.paths.filter(testIs);
      if (files.length === 0) return ["- no test files, going by their names"];
      const folders = byCount(tally(files.map(placeOf)));
      const hits = readHits(evidence.output(COUNT_TESTS) ?? "");
      const inside = hits.lines.filter((hit) => testIs(hit.path));
      const scripts = [...scriptsOf(evidence)].filter(([name]) => /^(test|e2e|spec)\b/.test(name)).slice(0, 3);
      return [
        `- ${count(files.length, "test file")}: ${folders
          .slice(0, FOLDERS_SHOWN)
          .map(([folder, number]) => `${folder} ${number}`)
          .join(", ")}${folders.length > FOLDERS_SHOWN ? ", …" : ""}`,
        ...(hits.total > 0 ? [`- about ${count(hits.total, "test")}, going by the lines that begin one`] : []),
        ...scripts.map(([name, command]) => `- run with: npm run ${name}  (${shorten(command, 80)})`),
        ...spread(inside).map((hit) => `- for example ${hit.path}:${hit.line}  ${shorten(hit.text, 110)}`),
      ];
    },
  };
}

/** Tests stand beside the code or in a folder of their own: two levels tell which. */
function placeOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders.length === 0 ? "." : folders.slice(0, 2).join("/");
}

/** Examples from different folders, as far as there are. */
function spread<T extends { readonly path: string }>(hits: readonly T[]): readonly T[] {
  const groups = Map.groupBy(hits, (hit) => placeOf(hit.path));
  return [...groups.values()].flatMap((group) => group.slice(0, 1)).slice(0, EXAMPLES);
}
