/** A local server that speaks the protocols of three providers. Scripts decide what its models reply. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "../models/wires/anthropic.ts";
import { google } from "../models/wires/google.ts";
import { openaiResponses } from "../models/wires/openai-responses.ts";
import type { SentBack, Wire, WireReply } from "../models/wires/wire.ts";

export interface ModelCall {
  /** The first part of the path that the agent was given, which tells who asks. */
  readonly caller: string;
  readonly body: string;
  /** Earlier calls and results in the request. */
  readonly sent: SentBack;
  /** The name of the offered tool with this ending: agents put their own prefixes before the names of MCP tools. */
  tool(ending: string): string | undefined;
}

/** The reply, or null to leave the request open. */
export type Script = (call: ModelCall) => Promise<WireReply | null> | WireReply | null;

export interface ModelServer {
  /** The base URL for one caller. */
  url(caller: string): string;
  readonly calls: readonly ModelCall[];
  close(): Promise<void>;
}

const PATH = /^\/([a-z0-9-]+)(\/.*)$/;

export async function openModelServer(script: Script): Promise<ModelServer> {
  const calls: ModelCall[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.destroy();
      process.stderr.write(`The model server failed: ${String(error)}\n`);
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const [, caller = "", path = ""] = PATH.exec(request.url ?? "") ?? [];
    const wire = wireOf(path);
    if (wire === null) {
      response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const call: ModelCall = { caller, body, sent: wire.read(body), tool: (ending) => offered(body, ending) };
    calls.push(call);
    const reply = await script(call);
    if (reply === null) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const frame of wire.frames(reply)) response.write(frame);
    response.end();
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (caller) => `http://127.0.0.1:${port}/${caller}`,
    calls,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function wireOf(path: string): Wire | null {
  if (path.includes("count_tokens")) return null;
  if (path.startsWith("/v1/messages")) return anthropic;
  if (path.startsWith("/v1/responses")) return openaiResponses;
  return path.includes(":streamGenerateContent") ? google : null;
}

function offered(body: string, ending: string): string | undefined {
  const { tools } = JSON.parse(body) as { readonly tools?: unknown };
  const names = JSON.stringify(tools ?? []).matchAll(/"name":"([^"]*)"/g);
  return [...names].map(([, name = ""]) => name).find((name) => name.endsWith(ending));
}

async function text(request: IncomingMessage): Promise<string> {
  let body = "";
  request.setEncoding("utf8");
  for await (const piece of request) body += piece as string;
  return body;
}
