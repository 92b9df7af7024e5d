/**
 * Every program of the README and the guides, and the commands of the README, work from the packed package, each in a
 * folder of its own. A local server speaks the protocol of Anthropic in place of the models.
 */

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { blocksOf, guides, programsOf } from "../docs/guide-programs.ts";
import { anthropic } from "../models/wires/anthropic.ts";
import { openWireServer, stream } from "../models/wires/wire-server.ts";
import { freshFolder, INSTALLED_BESIDE, packedProject } from "./packed-project.ts";

const LIBRARY = "docs/guide/library.md";
const TESTING = "docs/guide/testing.md";
/** Its program serves without an end. It is compiled with the others (test/docs), and test/mcp/http.test.ts serves. */
const MCP = "docs/guide/mcp.md";
const ANSWER = "One file: store.ts.";

/** What the programs below these headings print. The others say nothing, or the words of the model. */
const PRINTED: Readonly<Record<string, RegExp>> = {
  "As a library": /^One file: store\.ts\.\n$/,
  "Give a task, get the answer": /^One file: store\.ts\. \(1 runs, \d+ micro-dollars\)\n$/,
  "A typed result": /^MIT\n$/,
  "Stream what happens": /^(One file: store\.ts\.){2}\n$/,
  "A conversation": /^One file: store\.ts\.\n$/,
  "Crash and continue": /^One file: store\.ts\.\n$/,
  "Children from your program": /^((\w\.log store\.ts has no test\.\n){3}|One file: store\.ts\.\n)$/,
  "Ask a person": /write_file .*README\.md.*\(y\/n\) One file: store\.ts\.\n$/,
};
const ANY = /^(One file: store\.ts\.\n)?$/;

/** What a model of these programs answers: children report, parents delegate what a task says, and then answer. */
function answerTo(body: string): Parameters<typeof anthropic.frames>[0] {
  const { calls } = anthropic.read(body);
  const call = (name: string, input: object) => ({
    calls: [{ id: `call_${name}`, name, arguments: JSON.stringify(input) }],
  });
  if (body.includes("You are a child agent")) {
    const data = body.includes('"license"') ? { data: { license: "MIT" } } : {};
    return call("send_agent_message", { text: "store.ts has no test.", final: true, ...data });
  }
  if (calls.length > 0) return { text: ANSWER };
  if (body.includes("Let a child")) return call("subagent", { task: "Find the files that have no test." });
  if (body.includes("Fix the typo")) return call("write_file", { path: "README.md", content: "No typo.\n" });
  return { text: ANSWER };
}

beforeAll(async () => {
  await packedProject();
}, 240_000);

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder of the packed project, with models on a local server. */
async function site() {
  const server = await openWireServer((exchange) => {
    if (exchange.body.includes('"stream":true')) return stream(exchange, anthropic.frames(answerTo(exchange.body)));
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude",
      stop_reason: "end_turn",
      usage,
    };
    exchange.response.writeHead(200, { "content-type": "application/json" });
    exchange.response.end(JSON.stringify({ ...message, content: [{ type: "text", text: ANSWER }] }));
  });
  const project = await packedProject();
  const folder = freshFolder(project);
  const env = {
    ...process.env,
    ...anthropic.env(server.url),
    HOME: folder,
    XDG_DATA_HOME: join(folder, "data"),
    XDG_CONFIG_HOME: join(folder, "config"),
    NO_COLOR: "1",
    PATH: [join(project.folder, "node_modules", ".bin"), process.env["PATH"]].join(delimiter),
  };
  return {
    folder,
    /** Answers each question that ends in "(y/n) " with yes. */
    run: (command: string, args: readonly string[]) =>
      new Promise<Ran>((done) => {
        const child = spawn(command, args, { cwd: folder, env });
        let out = "";
        let err = "";
        child.stdout.on("data", (piece) => {
          out += String(piece);
          if (out.endsWith("(y/n) ")) child.stdin.write("y\n");
        });
        child.stderr.on("data", (piece) => (err += String(piece)));
        child.on("close", (code) => done({ code, out, err }));
        onTestFinished(() => void child.kill("SIGKILL"));
      }),
  };
}

const programs = ["README.md", ...guides()]
  .filter((page) => page !== TESTING && page !== MCP)
  .flatMap((page) => programsOf(page).map((program, index) => ({ page, number: index + 1, program })));

test("the headings of the programs are known", () => {
  const headings = new Set(programs.map(({ page, program }) => headingOf(page, program)));
  expect(Object.keys(PRINTED).filter((heading) => !headings.has(heading))).toEqual([]);
});

test.each(programs)("program $number of $page runs", async ({ page, program }) => {
  const { folder, run } = await site();
  // A part of a program has no end.
  const end = program.includes("createErrand(") && !program.includes(".close()") ? "await errand.close();\n" : "";
  writeFileSync(join(folder, "program.ts"), program + end);
  writeFileSync(join(folder, "README.md"), "A tpyo.\n");
  const { code, out, err } = await run(process.execPath, ["program.ts"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(PRINTED[headingOf(page, program)] ?? ANY);
});

/** The heading above a program, without its number. */
function headingOf(page: string, program: string): string {
  const text = readFileSync(page, "utf8");
  const headings = [...text.slice(0, text.indexOf(program)).matchAll(/^## (?:\d+\. )?(.+)$/gm)];
  return headings.at(-1)?.[1] ?? "";
}

test(`the programs of ${TESTING} pass`, async () => {
  const { folder, run } = await site();
  const files = programsOf(TESTING);
  for (const [index, program] of files.entries()) writeFileSync(join(folder, `guide-${index}.test.ts`), program);
  const { code, out, err } = await run(process.execPath, [
    resolve("node_modules/vitest/vitest.mjs"),
    "run",
    "--root",
    folder,
  ]);
  expect(code, out + err).toBe(0);
  expect(out).toMatch(new RegExp(`Tests +${files.length} passed`));
});

test("the commands of the README work in a project of the user's", async () => {
  const [clone, project] = blocksOf("README.md", "sh");
  expect(clone).toBe("npm start\nnpm test\n");
  const [pack, install, ask] = (project ?? "").trim().split("\n");
  // packed-project.ts has packed and installed the package so.
  expect(pack).toBe("(cd ../errand && npm install && npm pack)");
  expect(install).toMatch(/^npm install \.\.\/errand\/errand-[\d.]+\.tgz @ai-sdk\/anthropic$/);
  const { run } = await site();
  const asked = await run("bash", ["-c", `${ask} < /dev/null`]);
  expect(asked).toMatchObject({ code: 0, out: `${ANSWER}\n` });
});

test("the guides tell to install what the tests installed", () => {
  const [, packages = ""] = /`npm install errand ([^`]+)`/.exec(readFileSync(LIBRARY, "utf8")) ?? [];
  expect(packages.split(" ").toSorted()).toEqual([...INSTALLED_BESIDE].toSorted());
});
