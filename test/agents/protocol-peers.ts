/** Other programs of the protocol against Errand's servers: the conformance suite over HTTP, the inspector over stdio. */

import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createErrand } from "../../src/index.ts";
import { createMcpHttpHandler } from "../../src/mcp/index.ts";
import { callTools, createScriptedModels, type Script } from "../../src/testing/index.ts";
import { serveHttp } from "../mcp/http-server.ts";
import { installPackages } from "./installed-agents.ts";
import { openModelServer } from "./model-server.ts";

export interface Tried {
  readonly title: string;
  readonly problems: readonly string[];
}

const CONFORMANCE = { package: "@modelcontextprotocol/conformance", version: "0.1.16" };
const INSPECTOR = { package: "@modelcontextprotocol/inspector", version: "2.12.0" };
const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** The others need tools and resources of the suite's reference server, or capabilities that Errand does not declare. */
const APPLYING = [
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "server-sse-polling",
  "server-sse-multiple-streams",
  "dns-rebinding-protection",
];

/** `root` is an empty folder for what the programs write. */
export async function tryProtocolPeers(folder: string, root: string): Promise<readonly Tried[]> {
  installPackages(folder, [CONFORMANCE, INSPECTOR]);
  return [await conformance(folder, root), await inspector(folder, root)];
}

async function conformance(folder: string, root: string): Promise<Tried> {
  const script: Script = () => callTools([{ name: "send_agent_message", input: { text: "done", final: true } }]);
  const models = [createScriptedModels({ "scripted/child": script })];
  const errand = await createErrand({ store: "memory", model: "scripted/child", models });
  const hosts = errand.hostTools({ background: true });
  const server = await serveHttp(createMcpHttpHandler({ hosts, version: "0.1.0" }));
  try {
    const program = join(folder, "node_modules", CONFORMANCE.package, "dist", "index.js");
    const words = [program, "server", "--url", server.url.href, "--suite", "all", "-o", join(root, "conformance")];
    const output = await printed(words, root, { HOME: root });
    const counts = [...output.matchAll(/^. ([\w-]+): (\d+) passed, (\d+) failed$/gm)];
    const rows = counts.map(([, name = "", passed, failed]) => ({ name, passed, failed: Number(failed) }));
    const applying = rows.filter(({ name }) => APPLYING.includes(name));
    const checks = applying.reduce((sum, { passed }) => sum + Number(passed), 0);
    const missing = APPLYING.filter((name) => !applying.some((row) => row.name === name));
    return {
      title: `${titleOf(CONFORMANCE)}: ${applying.length} of ${rows.length} scenarios apply, ${checks} checks passed`,
      problems: [
        ...missing.map((name) => `the scenario ${name} did not run:\n${output.slice(-2_000)}`),
        ...applying.filter(({ failed }) => failed > 0).map(({ name, failed }) => `${name}: ${failed} failed`),
      ],
    };
  } finally {
    await server.close();
    await errand.close();
  }
}

async function inspector(folder: string, root: string): Promise<Tried> {
  const models = await openModelServer(({ tool }) => {
    const input = { text: "It is 42.", final: true };
    return { calls: [{ id: "call_1", name: tool("send_agent_message") ?? "", arguments: JSON.stringify(input) }] };
  });
  const env = { HOME: root, ANTHROPIC_API_KEY: "local", ANTHROPIC_BASE_URL: models.url("child") };
  const project = join(root, "project");
  mkdirSync(project, { recursive: true });
  const program = join(folder, "node_modules", ".bin", "mcp-inspector");
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const server = [process.execPath, MAIN, "mcp", "--model", "anthropic/claude-sonnet-5-5"];
  const inspect = (...words: readonly string[]): Promise<string> =>
    printed([program, "--cli", ...variables, ...server, ...words], project, env);
  try {
    const tools = await inspect("--method", "tools/list");
    const called = await inspect("--method", "tools/call", "--tool-name", "subagent", "--tool-arg", "task=Count.");
    return {
      title: `${titleOf(INSPECTOR)}: list and call`,
      problems: [
        ...(tools.includes('"subagent_list"') ? [] : [`tools/list: ${tools}`]),
        ...(/"status": "completed"[^]*"summary": "It is 42\."/.test(called) ? [] : [`tools/call: ${called}`]),
      ],
    };
  } finally {
    await models.close();
  }
}

function titleOf({ package: name, version }: typeof CONFORMANCE): string {
  return `${name} ${version}`;
}

/** What the script prints. Its exit code says nothing: the suite fails if any scenario does. */
function printed(words: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, words, {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 180_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (piece: string) => (output += piece));
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
