/** Plain JSON-RPC with `errand mcp`, for what the official client does not send: the tasks extension. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { errandMcp, type Project } from "./mcp-errand.ts";

export interface Reply {
  readonly result?: { readonly [field: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface RawClient {
  /** With `extensions` in the capabilities that the request declares. */
  request(method: string, params: object, extensions: object): Promise<Reply>;
}

export function connectRaw(project: Project): RawClient {
  const [command, ...args] = errandMcp();
  const server = spawn(command, args, {
    cwd: project.folder,
    env: { ...project.env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => server.once("close", resolve));
    server.kill("SIGTERM");
    await ended;
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  createInterface({ input: server.stdout }).on("line", (line) => {
    const reply = JSON.parse(line) as Reply & { readonly id?: number };
    waiting.get(reply.id ?? 0)?.(reply);
  });
  let last = 0;
  return {
    request(method, params, extensions) {
      last += 1;
      const id = last;
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "a test", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { extensions },
      };
      const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } })}\n`);
      return reply;
    },
  };
}
