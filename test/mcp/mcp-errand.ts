/** `errand mcp` as a real process, with an official client and models behind a local server. */

import { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { openModelServer, type ModelServer, type Script } from "../agents/model-server.ts";

export interface Project {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly models: ModelServer;
}

/** The words that start the server. */
export function errandMcp(args: readonly string[] = []): readonly [string, ...string[]] {
  return [process.execPath, MAIN, "mcp", "--model", "anthropic/claude-sonnet-5-5", ...args];
}

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** A folder with a home of its own, whose agents are answered by the script. */
export async function openProject(script: Script): Promise<Project> {
  const root = mkdtempSync(join(tmpdir(), "errand-mcp-"));
  const folder = join(root, "project");
  mkdirSync(folder);
  const models = await openModelServer(script);
  onTestFinished(async () => {
    await models.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: root,
    XDG_DATA_HOME: join(root, "data"),
    ANTHROPIC_API_KEY: "local",
    ANTHROPIC_BASE_URL: models.url("child"),
  };
  return { folder, env, models };
}

export interface Connected {
  readonly client: Client;
  /** What the server wrote to standard error. */
  log(): string;
  /** The id of the server's process. */
  readonly pid: number;
  close(): Promise<void>;
  /** Closes the pipes without a signal, and resolves when the server has ended by itself. */
  hangUp(): Promise<void>;
}

export interface ConnectOptions {
  readonly capabilities?: ConstructorParameters<typeof Client>[1];
  readonly args?: readonly string[];
}

export async function connect(project: Project, { capabilities, args = [] }: ConnectOptions = {}): Promise<Connected> {
  const [command, ...words] = errandMcp(args);
  const transport = new StdioClientTransport({
    command,
    args: words,
    cwd: project.folder,
    env: { ...project.env },
    stderr: "pipe",
  });
  let log = "";
  transport.stderr?.on("data", (piece: Buffer) => (log += piece.toString("utf8")));
  const client = new Client({ name: "a test", version: "1.0.0" }, capabilities);
  await client.connect(transport);
  const { pid } = transport;
  if (pid === null) throw new Error("the server has no process");
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => (closed ??= client.close());
  onTestFinished(close);
  const hangUp = async (): Promise<void> => {
    closed = Promise.resolve();
    // The SDK offers no end without a signal.
    const child: unknown = Reflect.get(transport, "_process");
    if (!(child instanceof ChildProcess)) throw new Error("the transport has no process");
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stdin?.end();
    child.stdout?.destroy();
    await ended;
  };
  return { client, log: () => log, pid, close, hangUp };
}

export interface Output {
  readonly status: string;
  readonly run_id: string;
  readonly summary?: string;
  readonly [field: string]: unknown;
}

export async function call(
  { client }: Connected,
  name: string,
  input: Record<string, unknown>,
): Promise<{ readonly output: Output; readonly failed: boolean }> {
  const result = await client.callTool({ name, arguments: input });
  return { output: result["structuredContent"] as Output, failed: result["isError"] === true };
}
