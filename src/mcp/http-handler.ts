/**
 * Serves any number of clients over HTTP, as a function from a web request to its response. It checks no `Host`, no
 * `Origin` and no token: mount it behind what does.
 */

import { createMcpHandler } from "@modelcontextprotocol/server";
import type { McpServerOptions } from "./mcp-options.ts";
import { createMcpServer } from "./mcp-server.ts";

export interface McpHttpHandler {
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export function createMcpHttpHandler({ onError, ...options }: McpServerOptions): McpHttpHandler {
  const handler = createMcpHandler(() => createMcpServer(options), onError === undefined ? {} : { onerror: onError });
  return { fetch: (request) => handler.fetch(request), close: handler.close };
}
