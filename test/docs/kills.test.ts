/** The tables of kills in the README and in docs/reliability.md are written from the same results, by the benchmark. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ENTRANTS } from "../../bench/kills/contenders.ts";
import { type KillResults, killsFile, killsReport, killsSummary } from "../../bench/kills/table.ts";

const file = readFileSync("bench/results/kills.json", "utf8");
const results = JSON.parse(file) as KillResults;

/** What stands between the marks of the page. */
function written(page: string): string | undefined {
  return /<!-- kills:begin -->\n\n([^]*?)\n\n<!-- kills:end -->/.exec(readFileSync(page, "utf8"))?.[1];
}

test("both pages show what the last run of the kill benchmark measured", () => {
  expect(written("README.md")).toBe(killsSummary(results));
  expect(written("docs/reliability.md")).toBe(killsReport(results));
  expect(file).toBe(killsFile(results));
});

test("both pages show the same table", () => {
  const tableIn = (page: string): readonly string[] =>
    (written(page) ?? "").split("\n").filter((line) => line.startsWith("|"));
  expect(tableIn("README.md")).toEqual(tableIn("docs/reliability.md"));
  expect(tableIn("README.md").length).toBe(ENTRANTS.length + 2);
});

test("the results are of all contenders as they are set up now, each killed at 24 points", () => {
  const setups = ({ rows }: Pick<KillResults, "rows">): readonly (string | undefined)[][] =>
    rows.map(({ title, mode, how, notClaimed }) => [title, mode, how, notClaimed]);
  expect(setups(results)).toEqual(
    ENTRANTS.map(({ title, background, how, notClaimed }) => [
      title,
      background ? "background" : "awaited",
      how,
      notClaimed,
    ]),
  );
  expect(new Set(results.rows.map(({ kills }) => kills.length))).toEqual(new Set([24]));
});

test("Errand loses and doubles no result, and repeats only tools that are declared safe", () => {
  const errand = results.rows.filter(({ title }) => title.startsWith("**Errand**"));
  expect(errand.length).toBe(4);
  for (const { title, kills } of errand) {
    const bad = kills.filter(
      ({ ending, resultDoubled, effectTwice }) =>
        ending === "lost" || ending === "refused" || resultDoubled || (effectTwice && !title.includes("safe tool")),
    );
    expect(bad).toEqual([]);
  }
});
