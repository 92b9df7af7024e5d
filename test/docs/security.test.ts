import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = readFileSync("docs/security.md", "utf8");

test("every place and every suite that the threat model names exists", () => {
  const named = [...page.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(([, path = ""]) => path);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

test("the threat model names every suite of test/security", () => {
  const suites = readdirSync("test/security").filter((name) => name.endsWith(".test.ts"));
  expect(suites.filter((name) => !page.includes(`test/security/${name}`))).toEqual([]);
});
