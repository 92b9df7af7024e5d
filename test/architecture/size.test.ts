/** Files, lines and the kernel stay small enough to be read. */

import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

const MOST_LINES_OF_THE_KERNEL = 7_650;
const MOST_LINES_OF_A_FILE = 300;
const MOST_COLUMNS = 120;

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");

test("the kernel, src/core without its texts and tests, has at most 7,650 lines", () => {
  const kernel = sourceFiles("src/core").filter(
    ({ path }) => !path.startsWith("src/core/text/") && !/\.(?:test|test-support)\.ts$/.test(path),
  );
  const lines = kernel.reduce((sum, { text }) => sum + linesOf(text).length, 0);
  const remedy =
    `the kernel has ${lines} lines: make it smaller, or write a decision record in docs/decisions that says why it has ` +
    "to grow, and raise the limit with it";
  expect(kernel.length).toBeGreaterThan(50);
  expect(lines, remedy).toBeLessThanOrEqual(MOST_LINES_OF_THE_KERNEL);
});

/** What a test holds may be a long text of its own. */
const isTest = (path: string): boolean => /\.(?:test|test-support)\.ts$/.test(path);

test("no file of src has more than 300 lines", () => {
  const long = sourceFiles("src").filter(({ text }) => linesOf(text).length > MOST_LINES_OF_A_FILE);
  expect(long.map(({ path }) => path)).toEqual([]);
});

test.each(["src", "scripts", "bench", "evals", "examples"])("no line of %s has more than 120 columns", (folder) => {
  const files = sourceFiles(folder).filter(({ path }) => !isTest(path));
  const long = files.flatMap(({ path, text }) =>
    linesOf(text).flatMap((line, index) => ([...line].length > MOST_COLUMNS ? [`${path}:${index + 1}`] : [])),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(long).toEqual([]);
});
