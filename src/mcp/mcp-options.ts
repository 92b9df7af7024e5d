/** What an MCP server is made from. */

import type { HostTools } from "../host-tools/host-tools.ts";

/** What an MCP server serves. */
export interface McpServerOptions {
  /** `errand.hostTools({ background: true })`. */
  readonly hosts: HostTools;
  /** The version that clients are told. */
  readonly version: string;
  /** Gets what went wrong outside of a call, such as a malformed message. */
  readonly onError?: (error: Error) => void;
}
