/** The pages that the benchmarks write have their marks, and sentences beside the table say what the table says. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/performance.md", "utf8");
const notes = readFileSync("bench/NOTES.md", "utf8");

/** The text between the marks of that name. */
function written(text: string, name: string): string {
  const [, between = ""] = text.split(new RegExp(`<!-- ${name}:(?:begin|end) -->`));
  return between;
}

test("npm run bench finds the marks between which it writes", () => {
  expect(written(page, "bench")).toMatch(/^\| \*\*Errand\*\*, SQLite FULL \|/m);
  expect(written(notes, "cost")).toMatch(/^\| pi-agent-core \|/m);
  expect(written(notes, "figures")).toMatch(/^\| replay, events per second/m);
});

test("the page of performance is one screen", () => {
  expect(page.split("\n").length).toBeLessThan(75);
});

test("what the page says of Errand's own time and of relaxed durability is what its table says", () => {
  const rates = [...written(page, "bench").matchAll(/^\| \*\*Errand\*\*, (\w+)(?: (\w+))? \|(.+)\|$/gm)].map(
    ([, store = "", durability = "", cells = ""]) => {
      const [w1 = "", , , w4 = ""] = cells.split("|").map((cell) => cell.trim());
      return [`${store} ${durability}`.trim(), Number((store === "memory" ? w1 : w4).replace(/ ·.*|,/g, ""))] as const;
    },
  );
  const { memory = 0, "SQLite FULL": full = 0, "SQLite relaxed": relaxed = 0 } = Object.fromEntries(rates);
  expect(page).toContain(`Errand adds about ${(1_000 / memory).toFixed(2)} ms to a delegation in memory`);
  expect(page).toContain(`and ${Math.round(1_000 / full)} ms with a durable journal`);
  expect(page).toContain(`\`"relaxed"\` does ${(relaxed / full).toFixed(1)}× as many delegations`);
});
