/** The result of a host tool as the protocol has it: for programs as an object, and for models as the same in JSON. */

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { HostCallResult } from "../host-tools/host-tools.ts";

export function toolResult({ failed, output, text }: HostCallResult): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: { ...output }, ...(failed ? { isError: true } : {}) };
}
