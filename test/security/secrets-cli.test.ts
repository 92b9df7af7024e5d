/**
 * I28 through the command line: a key of the environment is in no store, export, log, `--json` line or crash output.
 */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { projectFolder, records, runErrand } from "../cli/support/errand-process.ts";
import { calling } from "../cli/support/model-server.ts";
import { openaiCompatible } from "../models/wires/openai-chat.ts";
import { openWireServer, refuse, stream } from "../models/wires/wire-server.ts";

vi.setConfig({ testTimeout: 120_000 });

const KEY = "sk-live-0123456789abcdefXYZ";
const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

/**
 * The forms of the key that the bytes contain: plain, URL-encoded, and base64 with the key at each of the three offsets.
 */
function leaks(bytes: string): readonly string[] {
  const encoded = ["", "a", "ab"].map((before) =>
    Buffer.from(`${before}${KEY}`)
      .toString("base64")
      .slice(before === "" ? 0 : 4, -4),
  );
  return [KEY, encodeURIComponent(KEY), ...encoded].filter((form) => bytes.includes(form));
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test("I28: a key that a file, the server, a child and the user write is neither printed nor stored", async () => {
  writeFileSync(join(project.folder, "notes.txt"), `key ${KEY} ${Buffer.from(`u:${KEY}`).toString("base64")}\n`);
  const server = await openWireServer(async (exchange) => {
    if (exchange.body.includes("You are a child agent"))
      return refuse(exchange, 400, openaiCompatible.error(`bad key ${String(exchange.headers["authorization"])}`));
    if (!exchange.body.includes('"role":"tool"'))
      return stream(exchange, openaiCompatible.frames(calling("read_file", { path: "notes.txt" })));
    if (!exchange.body.includes('"subagent"') || exchange.body.split('"role":"tool"').length < 3)
      return stream(exchange, openaiCompatible.frames(calling("subagent", { task: `use ${KEY}` })));
    await stream(exchange, openaiCompatible.frames({ text: `It is ${KEY}.` }));
  });
  const store = join(project.folder, "data", "errand.db");
  const env = { OPENAI_COMPATIBLE_API_KEY: KEY, DATABASE_URL: `postgres://u:${encodeURIComponent("pass/word-1")}@h/d` };
  const how = { ...project, env };
  const at = ["--store", store];
  const model = ["--model", "openai-compatible/m", "--base-url", `${server.url}/v1`];
  const printed: string[] = [];
  const errand = async (...args: string[]): Promise<string> => {
    const { out, err } = await runErrand(args, how);
    printed.push(out, err);
    return out;
  };
  await errand("run", "--json", ...at, ...model, `look for ${KEY}`);
  await errand("run", "--debug", ...at, ...model, `look for ${KEY}`);
  const trees = records(await errand("ps", "--all", "--json", ...at));
  expect(trees.length).toBeGreaterThan(0);
  const tree = String(trees[0]?.["id"]);
  for (const command of ["show", "logs", "result", "replay"]) await errand(command, "--json", ...at, tree);
  await errand("export", ...at, tree);
  await errand("run", "--debug", "--store", `postgres://u:pass%2Fword-1@127.0.0.1:1/d`, "x");
  expect(printed.join("\n")).toContain("[redacted by Errand]");
  expect(leaks(printed.join("\n"))).toEqual([]);
  expect(printed.join("\n")).not.toContain("pass/word-1");
  expect(printed.join("\n")).not.toContain("pass%2Fword-1");
  for (const file of filesBelow(project.folder)) {
    if (file.endsWith("notes.txt")) continue;
    expect([file, leaks(readFileSync(file, "latin1"))]).toEqual([file, []]);
  }
  expect(server.exchanges.some(({ body }) => body.includes(KEY))).toBe(false);
});
