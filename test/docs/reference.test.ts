import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERROR_CODES, type Fact, LIMITS } from "../../src/index.ts";
import { byContext, callTools, hang, say } from "../../src/testing/index.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";

/** The rows of a Markdown table whose first cell is code. */
function tableRows(file: string): Record<string, string> {
  const rows = readFileSync(file, "utf8").matchAll(/^\| `([^`]+)` \| (.*) \|$/gm);
  return Object.fromEntries([...rows].map(([, code = "", rest = ""]) => [code, rest]));
}

test("the page of errors says what the registry says", () => {
  expect(tableRows("docs/reference/errors.md")).toEqual(ERROR_CODES);
});

test("the page of limits says what the table of limits says, in its order", () => {
  const number = (value: number | null): string => (value === null ? "none" : value.toLocaleString("en"));
  const rows = Object.entries(tableRows("docs/reference/limits.md"));
  const said = rows.map(([name, rest]) => [name, ...rest.split(" | ").slice(0, 4)]);
  const held = Object.entries(LIMITS).map(([name, limit]) => [
    name,
    number(limit.default),
    number(limit.cap),
    limit.unit,
    limit.meaning,
  ]);
  expect(said).toEqual(held);
});

test("every limit says what happens when it is reached, and those that warn say when", () => {
  const warning: readonly Extract<Fact, { type: "limit-neared" }>["limit"][] = [
    "runsPerTree",
    "tokensPerTree",
    "costPerTree",
  ];
  const warned = Object.entries(tableRows("docs/reference/limits.md")).flatMap(([name, rest]) => {
    const [, , , , reached = "", warns = ""] = rest.split(" | ");
    expect(reached).not.toBe("");
    expect(warns).toMatch(/^(none|80 %)$/);
    return warns === "none" ? [] : [name];
  });
  expect(warned).toEqual(warning);
});

test("a limit that warns does so at four fifths, as its page says", async () => {
  const start = { name: "start_background_agent", input: { task: "wait" } };
  const { errand } = await openTestErrand(
    { parent: byContext([callTools([start, start, start]), callTools([start]), say("started")]), child: () => hang() },
    { limits: { runsPerTree: 5 } },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  const facts = (await eventsUntil(errand, agent.id, turnsEnded(1))).flatMap((event) => event.facts);
  const neared = facts.findIndex((fact) => fact.type === "limit-neared");
  expect(facts[neared]).toEqual({ type: "limit-neared", limit: "runsPerTree", used: 4 });
  expect(facts.slice(0, neared).filter((fact) => fact.type === "run-created")).toHaveLength(4);
});
