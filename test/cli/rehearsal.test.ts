/** The rehearsal in a loop that acts like the runtime: it calls the real file tools and announces reports. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, onTestFinished, test } from "vitest";

import type { ModelReply, ModelRequest } from "../../src/contracts/model.ts";
import { jsonObjectIs } from "../../src/core/values/json.ts";
import {
  type ContextMessage,
  replyText,
  type ToolCallPart,
  type ToolResult,
  type ToolSpec,
} from "../../src/core/values/message.ts";
import { frameBuild } from "../../src/core/text/index.ts";
import { createRehearsalModel } from "../../src/cli/rehearsal/rehearsal.ts";
import { fileTools } from "../../src/tools/index.ts";
import { HONESTY } from "../../src/cli/rehearsal/wording.ts";
import { testToolContext } from "../../src/tools/tool-run.test-support.ts";

const tools = fileTools();

const REPOSITORY = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const signal = new AbortController().signal;
const spec = (name: string): ToolSpec => ({ name, description: name, schema: {} });
const FILE_TOOLS = tools.map((tool) => spec(tool.name));
const CHILD_TOOLS = [...FILE_TOOLS, ...["send_agent_message", "send_user_message", "list_runs"].map(spec)];
const FOREGROUND_TOOLS = [
  ...FILE_TOOLS,
  ...["send_agent_message", "subagent", "start_background_agent", "list_runs"].map(spec),
];

function requestOf(
  toolSpecs: readonly ToolSpec[],
  messages: readonly ContextMessage[],
  system = "You help.",
): ModelRequest {
  return { model: "offline/rehearsal", system, tools: toolSpecs, messages };
}

/** Sends every request twice, to check that the replies have the same bytes. */
async function ask(request: ModelRequest): Promise<ModelReply> {
  const heard: string[] = [];
  const reply = await createRehearsalModel().call(request, { signal, onText: (delta) => heard.push(delta) });
  const again = await createRehearsalModel().call(structuredClone(request), { signal });
  expect(JSON.stringify(again)).toBe(JSON.stringify(reply));
  expect(heard.join("")).toBe(replyText(reply.parts));
  return reply;
}

function callsOf(reply: ModelReply): readonly ToolCallPart[] {
  return reply.parts.filter((part) => part.type === "tool-call");
}

function inputText(call: ToolCallPart, field: string): string {
  const value = jsonObjectIs(call.input) ? call.input[field] : undefined;
  return typeof value === "string" ? value : "";
}

async function useTool(call: ToolCallPart, workspace: string): Promise<ToolResult> {
  if (call.name === "send_agent_message")
    return { id: call.id, name: call.name, text: '{"status":"sent"}', failed: false };
  const tool = tools.find((candidate) => candidate.name === call.name);
  if (tool === undefined) throw new Error(`the model called ${call.name}, which it does not have`);
  return { id: call.id, name: call.name, ...(await tool.run(call.input, testToolContext(workspace, signal))) };
}

interface Ended {
  readonly messages: readonly ContextMessage[];
  readonly iterations: number;
  readonly called: readonly string[];
  readonly reports: readonly string[];
  readonly text: string;
}

async function runAgent(
  start: readonly ContextMessage[],
  workspace: string,
  toolSpecs = CHILD_TOOLS,
  system?: string,
): Promise<Ended> {
  const messages = [...start];
  const called: string[] = [];
  const reports: string[] = [];
  for (let iterations = 1; iterations <= 6; iterations++) {
    const reply = await ask(requestOf(toolSpecs, messages, system));
    messages.push({ role: "assistant", parts: reply.parts });
    const calls = callsOf(reply);
    if (calls.length === 0) return { messages, iterations, called, reports, text: replyText(reply.parts) };
    called.push([...new Set(calls.map((call) => call.name))].join("+"));
    reports.push(...calls.filter((call) => call.name === "send_agent_message").map((call) => inputText(call, "text")));
    messages.push({ role: "tool", results: await Promise.all(calls.map((call) => useTool(call, workspace))) });
  }
  throw new Error("more than six iterations");
}

const runLine = (label: string): string => `[run 0198-run "${label}": running 2s]`;

interface Whole {
  readonly labels: readonly string[];
  readonly started: string;
  readonly answer: string;
  readonly children: readonly Ended[];
}

/** A task from the user's message to the answer. */
async function wholeTask(task: string, workspace: string): Promise<Whole> {
  const messages: ContextMessage[] = [{ role: "user", text: task }];
  const delegation = await ask(requestOf(FOREGROUND_TOOLS, messages));
  const calls = callsOf(delegation);
  expect(calls.every((call) => call.name === "start_background_agent")).toBe(true);
  const labels = calls.map((call) => inputText(call, "label"));
  messages.push({ role: "assistant", parts: delegation.parts });
  messages.push({
    role: "tool",
    results: calls.map((call) => ({
      id: call.id,
      name: call.name,
      text: '{"status":"accepted","run_id":"0198-run","agent_id":"0198-agent"}',
      failed: false,
    })),
  });
  const open: ContextMessage = { role: "user", text: labels.map(runLine).join("\n") };
  const started = await ask(requestOf(FOREGROUND_TOOLS, [...messages, open]));
  messages.push({ role: "assistant", parts: started.parts });
  const children: Ended[] = [];
  for (const call of calls) children.push(await runAgent([{ role: "user", text: inputText(call, "task") }], workspace));
  messages.push({
    role: "user",
    text: announce(
      children.map((child, index) => ({ name: labels[index] ?? "", findings: child.reports.at(-1) ?? "" })),
    ),
  });
  const answer = await ask(requestOf(FOREGROUND_TOOLS, messages));
  expect(callsOf(answer)).toEqual([]);
  return { labels, started: replyText(started.parts), answer: replyText(answer.parts), children };
}

function announce(
  runs: readonly { readonly name: string; readonly findings: string; readonly status?: string }[],
): string {
  const blocks = runs.map(({ name, findings, status = "completed successfully" }, index) =>
    [
      `### Task ${index + 1}: "${name}"`,
      `Status: ${status} (2s)`,
      findings === "" ? "(no output)" : frameBuild("findings", "0198-agent", findings),
      "Stats: runtime 2s • tokens 12 • run 0198-run",
    ].join("\n"),
  );
  return [
    `${runs.length} background tasks have ended.`,
    ...blocks,
    "Total wall time: 2s\nResults: 1 succeeded, 0 failed/timed out",
    "Summarise this for the user. Cover every task.",
  ].join("\n\n");
}

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "errand-rehearsal-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function shop(): string {
  return folderWith({
    "package.json": JSON.stringify(
      {
        name: "shop",
        version: "2.0.0",
        description: "Sells things.",
        scripts: { test: "vitest run" },
        dependencies: { koa: "1" },
      },
      null,
      2,
    ),
    "package-lock.json": '{ "http": "server config http server config" }\n'.repeat(20),
    "README.md":
      "# Shop\n\n![badge](x.png)\n\nA **small** [shop](https://shop.example) that sells things.\nIt has two lines.\n\n## Install\n\ntext\n\n## Use\n",
    "src/index.ts": "/** The way into the shop. More words. */\nexport const a = 1;\n",
    "src/http/server.ts":
      "import { config } from './config';\n\n// The http server listens where the config says.\nexport function createServer() {\n  return config.port;\n}\n",
    "src/observer.ts": "export const observers = [];\nexport const address = 'https://example.org';\n",
    "src/http/server.test.ts": 'test("the http server answers", () => {});\n',
    "docs/running.md": "Set the port of the server in the config.\n",
  });
}

const DEMO = "Explain what this project is, how its source is organised and where its tests are";

test("the demo's task becomes four parts and an answer about package, folders, sources and tests", async () => {
  const { labels, started, answer, children } = await wholeTask(DEMO, shop());
  expect(labels).toEqual(["The project in its own words", "The folder", "The source", "The tests"]);
  expect(started).toBe("I asked 4 helpers: The project in its own words; The folder; The source; The tests.");
  expect(answer.split("\n")).toEqual([
    `You asked: ${DEMO}`,
    "",
    "The project in its own words",
    "- shop 2.0.0: Sells things. (package.json)",
    "- builds on koa",
    "- has the scripts test",
    "- README.md: A small shop that sells things. It has two lines.",
    "- README.md goes on with: Install, Use",
    "",
    "The folder",
    "- 8 files in 4 folders",
    "- src/   4 files (4 .ts): http 2",
    "- docs/  1 file (1 .md)",
    "- at the top: README.md, package-lock.json, package.json",
    "",
    "The source",
    "- 3 source files in 2 folders: src 2, src/http 1",
    "- src/index.ts: The way into the shop.",
    "- src/http/server.ts: The http server listens where the config says.",
    "- src/observer.ts: defines observers, address",
    "",
    "The tests",
    "- 1 test file: src/http 1",
    "- about 1 test, going by the lines that begin one",
    "- run with: npm run test  (vitest run)",
    '- for example src/http/server.test.ts:1  test("the http server answers", () => {});',
    "",
    HONESTY,
  ]);
  for (const child of children) expect(child.iterations).toBeLessThanOrEqual(6);
});

test("a question with `where` is answered with files, ranked by whole words and without lock files first", async () => {
  const { labels, answer, children } = await wholeTask("Where is the http server configured?", shop());
  expect(labels).toEqual([
    "In the source: http, server, configured",
    "In documents and settings: http, server, configured",
  ]);
  expect(children[0]?.called).toEqual(["list_files", "search_text", "read_file", "send_agent_message"]);
  expect(children[0]?.text).toBe("My findings are sent.");
  const [source = "", documents = ""] = answer.split("In documents and settings");
  expect(source.indexOf("- src/http/server.ts (http, server, configured)")).toBeGreaterThan(0);
  expect(source).toContain("3 | // The http server listens where the config says.");
  expect(source).not.toContain("src/observer.ts");
  expect(documents.indexOf("docs/running.md")).toBeGreaterThan(0);
  expect(documents.indexOf("docs/running.md")).toBeLessThan(documents.indexOf("package-lock.json"));
});

test("files that the task names are read, and a missing one is mentioned", async () => {
  const { labels, answer } = await wholeTask("Read src/http/server.ts and src/none.ts", shop());
  expect(labels).toEqual(["The folder", "What src/http/server.ts, src/none.ts say"]);
  expect(answer).toContain(
    "- src/http/server.ts (6 lines): The http server listens where the config says.\n    src/http/server.ts:4  export function createServer() {",
  );
  expect(answer).toContain("- src/none.ts: could not be read");
});

test("the answer about this repository is useful, bounded and without ids", async () => {
  const { answer } = await wholeTask(DEMO, REPOSITORY);
  expect(answer).toMatch(/^- errand \d/m);
  expect(answer).toMatch(/^- src\/ +\d+ files/m);
  expect(answer).toMatch(/test files: /);
  expect(answer.endsWith(HONESTY)).toBe(true);
  expect(answer).not.toMatch(/0198-|<findings|background task|run_id/);
  expect(answer.split("\n").length).toBeLessThan(60);
  expect(Math.max(...answer.split("\n").map((line) => line.length))).toBeLessThanOrEqual(300);
}, 60_000);

test("an agent that cannot delegate searches itself and answers", async () => {
  const { text, called } = await runAgent(
    [{ role: "user", text: "Where is the http server configured?" }],
    shop(),
    FILE_TOOLS,
  );
  expect(called).toEqual(["list_files", "search_text", "read_file"]);
  expect(text).toContain("src/http/server.ts");
  expect(text).toContain(HONESTY);
  expect(replyText((await ask(requestOf([], [{ role: "user", text: "Where is the server?" }]))).parts)).toContain(
    HONESTY,
  );
});
