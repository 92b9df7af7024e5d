/** `errand/mcp`: Errand's runs for clients of the Model Context Protocol, over standard input and output or HTTP. */

export { createMcpHttpHandler, type McpHttpHandler } from "./http-handler.ts";
export { serveMcpOverStdio, type McpStdioServer } from "./stdio.ts";
export type { McpServerOptions } from "./mcp-options.ts";
