/** How other agents are told of this server: the file of each, and what stands in it. */

import { join } from "node:path";

export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

export interface McpClient {
  readonly title: string;
  /** The file, from the folder or, for `home`, from the user's home folder. */
  readonly file: (env: Readonly<Record<string, string | undefined>>) => {
    readonly from: "folder" | "home";
    readonly path: string;
  };
  /** The field of a JSON file that lists servers, and this server's entry; or the lines of a TOML file. */
  readonly entry:
    | { readonly kind: "json"; readonly field: string; readonly value: (server: ServerCommand) => object }
    | {
        readonly kind: "toml";
        readonly heading: string;
        /** A line that fits says that the server is there. */
        readonly known: RegExp;
        readonly lines: (server: ServerCommand) => readonly string[];
      };
  /** What else the user should know. */
  readonly hint: string;
}

/** Runs take minutes: a client that gives up earlier has to ask for their results again. */
const LONGEST_CALL_SECONDS = 3_600;

export const MCP_CLIENTS: Readonly<Record<string, McpClient>> = {
  claude: {
    title: "Claude Code",
    file: () => ({ from: "folder", path: ".mcp.json" }),
    entry: {
      kind: "json",
      field: "mcpServers",
      value: (server) => ({ ...server, timeout: LONGEST_CALL_SECONDS * 1_000 }),
    },
    hint: "Claude Code asks you once before it starts a server of a folder.",
  },
  codex: {
    title: "Codex",
    file: (env) => ({ from: "home", path: join(env["CODEX_HOME"] ?? ".codex", "config.toml") }),
    entry: {
      kind: "toml",
      heading: "[mcp_servers.errand]",
      known: /^\s*\[\s*mcp_servers\s*\.\s*(?:errand|"errand"|'errand')\s*[\].]/,
      lines: ({ command, args }) => [
        `command = ${JSON.stringify(command)}`,
        `args = ${JSON.stringify(args)}`,
        `tool_timeout_sec = ${LONGEST_CALL_SECONDS}`,
      ],
    },
    hint: 'Codex passes few variables on: name the key of the model with env_vars = ["ANTHROPIC_API_KEY"].',
  },
  gemini: {
    title: "Gemini CLI",
    file: () => ({ from: "folder", path: join(".gemini", "settings.json") }),
    entry: {
      kind: "json",
      field: "mcpServers",
      value: (server) => ({ ...server, timeout: LONGEST_CALL_SECONDS * 1_000 }),
    },
    hint: "Gemini CLI passes no keys on: name them in the entry's env.",
  },
  cursor: {
    title: "Cursor",
    file: () => ({ from: "folder", path: join(".cursor", "mcp.json") }),
    entry: { kind: "json", field: "mcpServers", value: (server) => server },
    hint: "Cursor lists the server under its settings, where you switch it on.",
  },
  vscode: {
    title: "VS Code",
    file: () => ({ from: "folder", path: join(".vscode", "mcp.json") }),
    entry: { kind: "json", field: "servers", value: (server) => ({ type: "stdio", ...server }) },
    hint: "VS Code shows a button to start the server when you open the file.",
  },
};
