/** What the README says to type, and its library example, work as they stand there. */

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { expect, test } from "vitest";
import { projectFolder } from "../cli/support/errand-process.ts";
import { anthropic } from "../models/wires/anthropic.ts";
import { openWireServer, stream } from "../models/wires/wire-server.ts";

const run = promisify(execFile);
const page = readFileSync("README.md", "utf8");
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
};
const library = resolve("src/index.ts");
const [, example = ""] = /```ts\n([\s\S]+?)```/.exec(page) ?? [];

test("every npm script that the README names exists", () => {
  const named = [...page.matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, script, short]) => script ?? short);
  expect(new Set(named)).toContain("start");
  expect(named.filter((name) => manifest.scripts[name ?? ""] === undefined)).toEqual([]);
  expect(page).toContain(`errand-${manifest.version}.tgz`);
});

test("the library example compiles under the strict options of this project", () => {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile("tsconfig.json", (path) => readFileSync(path, "utf8")).config,
    ts.sys,
    ".",
  );
  const file = resolve("readme-example.ts");
  const host = ts.createCompilerHost(options);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  host.readFile = (path) => (path === file ? example : read(path));
  host.fileExists = (path) => path === file || exists(path);
  const program = ts.createProgram([file], { ...options, paths: { errand: [library] } }, host);
  const source = program.getSourceFile(file);
  expect(source?.text).toBe(example);
  const problems = ts.getPreEmitDiagnostics(program, source);
  expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))).toEqual([]);
});

test("the library example prints the answer of a parent that waited for its child", async () => {
  const asked: string[] = [];
  const server = await openWireServer(async (exchange) => {
    const child = exchange.body.includes("You are a child agent");
    const { calls } = anthropic.read(exchange.body);
    asked.push(child ? "child" : "parent");
    const call = (name: string, input: object) => [{ id: `call_${name}`, name, arguments: JSON.stringify(input) }];
    if (child) {
      const text = "store.ts has no test.";
      return stream(exchange, anthropic.frames({ calls: call("send_agent_message", { text, final: true }) }));
    }
    const task = { task: "Find the files that have no test." };
    const reply = calls.length === 0 ? { calls: call("subagent", task) } : { text: "One file: store.ts." };
    return stream(exchange, anthropic.frames(reply));
  });
  const { folder, remove } = projectFolder();
  const program = example.replace('"errand"', JSON.stringify(pathToFileURL(library).href));
  const { stdout, stderr } = await run(process.execPath, ["--input-type=module-typescript", "-e", program], {
    cwd: folder,
    env: { ...process.env, ...anthropic.env(server.url) },
  });
  expect({ stdout, stderr }).toEqual({ stdout: "One file: store.ts.\n", stderr: "" });
  expect(asked).toEqual(["parent", "child", "parent"]);
  expect(existsSync(join(folder, "errand.db"))).toBe(true);
  remove();
});
