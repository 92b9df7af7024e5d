/** Serves one client over the standard input and output of this process. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { McpServerOptions } from "./mcp-options.ts";
import { createMcpServer } from "./mcp-server.ts";

/** A server on the standard input and output of this process. */
export interface McpStdioServer {
  /** Resolves when the client has closed its side, or is gone. */
  readonly ended: Promise<void>;
  /** Stops answering. Runs go on. */
  close(): Promise<void>;
}

/** Serves the one MCP client that started this process. Nothing else may write to standard output. */
export function serveMcpOverStdio({ onError, ...options }: McpServerOptions): McpStdioServer {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  process.stdin.once("end", resolve);
  process.stdin.once("close", resolve);
  // The client is gone: what is written then fails, and nothing else does.
  process.stdout.on("error", () => resolve());
  const server = serveStdio(() => createMcpServer(options), onError === undefined ? {} : { onerror: onError });
  return { ended, close: () => server.close() };
}
