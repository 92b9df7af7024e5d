import { ALLOW, BASE_URL, type Command } from "../../command.ts";

export const MCP: Command = {
  name: "mcp",
  description: "serve runs to another agent over the Model Context Protocol, or set that agent up",
  args: [
    ["[action]", "install: shows what an agent needs to use this server", ["install"]],
    [
      "[client]",
      "the agent to set up: claude, codex, gemini, cursor or vscode",
      ["claude", "codex", "gemini", "cursor", "vscode"],
    ],
  ],
  options: [
    ["-m, --model <provider/name>", "the model of agents whose definition names none; without it, as for errand run"],
    BASE_URL,
    ALLOW,
    ["--write", "with install: adds the server to the configuration file of the agent"],
  ],
  help: `
Examples:
  errand mcp install claude
  errand mcp install codex --write
  errand mcp --model anthropic/claude-haiku-4-5

Without an action it speaks the protocol on standard input and output, for the agent that started it. That agent gets
the tools subagent, subagent_start, subagent_wait, subagent_send, subagent_cancel and subagent_list. A run belongs to
the folder: when the agent or this server was killed, the next server goes on with it, and finds it by its run_id. When
the agent only goes away, this server ends its runs first. errand ps, show and answer work on these runs too.
Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted.
`,
  load: async () => (await import("./mcp.ts")).mcpCommand,
};
