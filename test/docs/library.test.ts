/** Every program of the library guide compiles under the strict options of this project. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const page = readFileSync("docs/guide/library.md", "utf8");
const programs = [...page.matchAll(/```ts\n([\s\S]+?)```/g)].map(([, program = ""]) => program);

test("every program of the library guide compiles", () => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile("tsconfig.json", (path) => readFileSync(path, "utf8")).config,
    ts.sys,
    ".",
  );
  const files = new Map(programs.map((program, index) => [resolve(`library-guide-${index}.ts`), program]));
  expect(files.size).toBeGreaterThanOrEqual(9);
  const host = ts.createCompilerHost(options);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  host.readFile = (path) => files.get(path) ?? read(path);
  host.fileExists = (path) => files.has(path) || exists(path);
  const paths = { errand: [resolve("src/index.ts")] };
  const program = ts.createProgram([...files.keys()], { ...options, paths }, host);
  const problems = [...files.keys()].flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)));
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
});
