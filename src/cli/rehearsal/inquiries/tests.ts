/** Where the tests are: their folders, their number, how they are run. */

import type { Action, Evidence, Inquiry } from "../conversation.ts";
import { testIs } from "../file-kinds.ts";
import { byCount, type Listing, readHits, tally } from "../tool-outputs.ts";
import { listed, shorten } from "../wording.ts";
import { countLabel } from "../../../view/amounts.ts";
import { readAction, scriptsOf } from "./describe.ts";

const FOLDERS_SHOWN = 6;
const SCRIPTS_SHOWN = 3;
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

export function testsInquiry({ paths }: Listing, evidence: Evidence): Inquiry {
  const files = paths.filter(testIs);
  return {
    actions: [COUNT_TESTS, ...(paths.includes("package.json") ? [readAction("package.json")] : [])],
    findings() {
      if (files.length === 0) return ["- no test files, going by their names"];
      const folders = byCount(tally(files.map(folderOf))).map(([folder, number]) => `${folder} ${number}`);
      const hits = readHits(evidence.output(COUNT_TESTS) ?? "");
      const inTests = hits.lines.filter(({ path }) => testIs(path));
      const examples = [...Map.groupBy(inTests, ({ path }) => folderOf(path)).values()].flatMap((all) =>
        all.slice(0, 1),
      );
      const scripts = scriptsOf(evidence).filter(([name]) => /^(test|e2e|spec)\b/.test(name));
      return [
        `- ${countLabel(files.length, "test file")}: ${listed(folders, FOLDERS_SHOWN)}`,
        ...(hits.total > 0 ? [`- about ${countLabel(hits.total, "test")}, going by the lines that begin one`] : []),
        ...scripts
          .slice(0, SCRIPTS_SHOWN)
          .map(([name, command]) => `- run with: npm run ${name}  (${shorten(command, 80)})`),
        ...examples
          .slice(0, EXAMPLES)
          .map(({ path, line, text }) => `- for example ${path}:${line}  ${shorten(text, 110)}`),
      ];
    },
  };
}

/** Two levels of folders are enough for tests in a folder of their own, and for those beside the code. */
function folderOf(path: string): string {
  return path.split("/").slice(0, -1).slice(0, 2).join("/") || ".";
}
