/** Serves clients over HTTP, as a function from a web request to its response. */

import { createMcpHandler } from "@modelcontextprotocol/server";
import type { McpServerOptions } from "./mcp-options.ts";
import { createMcpServer } from "./mcp-server.ts";

/** An MCP server behind a web server of yours. */
export interface McpHttpHandler {
  /** Answers one request. It checks neither who calls nor from where. */
  fetch(request: Request): Promise<Response>;
  /** Ends open streams. Runs go on. */
  close(): Promise<void>;
}

/** Serves any number of MCP clients. Mount it behind a check of `Host`, `Origin` and a token. */
export function createMcpHttpHandler({ onError, ...options }: McpServerOptions): McpHttpHandler {
  const handler = createMcpHandler(() => createMcpServer(options), onError === undefined ? {} : { onerror: onError });
  return { fetch: (request) => handler.fetch(request), close: handler.close };
}
