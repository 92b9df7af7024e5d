/** Files, lines and the kernel stay small enough to be read. */

import { expect, test } from "vitest";
import { sourceFiles } from "./source-files.ts";

const MOST_COLUMNS = 120;

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, "").split("\n");

test.each(["scripts", "bench"])("no line of %s has more than 120 columns", (folder) => {
  const files = sourceFiles(folder);
  const long = files.flatMap(({ path, text }) =>
    linesOf(text).flatMap((line, index) => ([...line].length > MOST_COLUMNS ? [`${path}:${index + 1}`] : [])),
  );
  expect(files.length).toBeGreaterThan(0);
  expect(long).toEqual([]);
});
