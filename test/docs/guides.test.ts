/** Every program of the guides compiles under the strict options of this project. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { guides, programsOf } from "./guide-programs.ts";

const pages = guides().map((path) => ({ path, programs: programsOf(path) }));

test("the guides have programs", () => {
  const count = Object.fromEntries(pages.map(({ path, programs }) => [path, programs.length]));
  expect(count["docs/guide/library.md"]).toBeGreaterThanOrEqual(10);
  expect(count["docs/guide/testing.md"]).toBeGreaterThanOrEqual(3);
});

test("every program of the guides compiles", () => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile("tsconfig.json", (path) => readFileSync(path, "utf8")).config,
    ts.sys,
    ".",
  );
  const files = new Map(
    pages.flatMap(({ path, programs }) =>
      programs.map((program, index): [string, string] => [
        resolve(`${path.replaceAll("/", "-")}-${index}.ts`),
        program,
      ]),
    ),
  );
  const host = ts.createCompilerHost(options);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  host.readFile = (path) => files.get(path) ?? read(path);
  host.fileExists = (path) => files.has(path) || exists(path);
  const paths = {
    errand: [resolve("src/index.ts")],
    "errand/mcp": [resolve("src/mcp/index.ts")],
    "errand/testing": [resolve("src/testing/index.ts")],
  };
  const program = ts.createProgram([...files.keys()], { ...options, paths }, host);
  const problems = [...files.keys()].flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)));
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
});
