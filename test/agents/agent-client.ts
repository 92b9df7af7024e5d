/** Runs a coding agent without a terminal, with MCP servers, against the local model server. */

import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AGENT_PACKAGES, type AgentName } from "./installed-agents.ts";

export interface McpCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface AgentSetup {
  readonly name: AgentName;
  /** The installed program. */
  readonly program: string;
  /** A home folder of the agent's own, and the folder it works in. */
  readonly home: string;
  readonly project: string;
  /** The base URL of the model server for this agent. */
  readonly models: string;
  readonly mcp: McpCommand;
}

export interface RunningAgent {
  /** Resolves when the agent has ended: its exit code, and what it wrote. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
  /** Kills the agent and, as a closed terminal would, its process group. */
  kill(): void;
}

/** Writes the agent's configuration. */
export function configureAgent(setup: AgentSetup): void {
  mkdirSync(setup.home, { recursive: true });
  mkdirSync(setup.project, { recursive: true });
  const { file, text } = CONFIGURATION[setup.name](setup);
  const path = join(setup.home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export function runAgent(setup: AgentSetup, prompt: string): RunningAgent {
  const child = spawn(setup.program, ARGUMENTS[setup.name](setup, prompt), {
    cwd: setup.project,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: setup.home, ...environment(setup) },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (piece: string) => (output += piece));
  }
  return {
    ended: new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve({ code, output }));
    }),
    kill: () => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch (error) {
        // ESRCH: the whole group has ended.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    },
  };
}

export function agentTitle(name: AgentName): string {
  const { title, version } = AGENT_PACKAGES[name];
  return `${title} ${version}`;
}

const CONFIGURATION = {
  claude: ({ mcp }: AgentSetup) => ({
    file: "mcp.json",
    text: JSON.stringify({ mcpServers: { errand: mcp } }),
  }),
  codex: ({ mcp, models }: AgentSetup) => ({
    file: join(".codex", "config.toml"),
    text: [
      'model = "scripted"',
      'model_provider = "local"',
      "[model_providers.local]",
      'name = "local"',
      `base_url = ${JSON.stringify(`${models}/v1`)}`,
      'env_key = "LOCAL_KEY"',
      'wire_api = "responses"',
      "[mcp_servers.errand]",
      `command = ${JSON.stringify(mcp.command)}`,
      `args = ${JSON.stringify(mcp.args)}`,
      "startup_timeout_sec = 120",
      // Without it the first turn begins before the tools are there.
      "required = true",
      "tool_timeout_sec = 120",
      "[mcp_servers.errand.env]",
      ...Object.entries(mcp.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
      "",
    ].join("\n"),
  }),
  gemini: ({ mcp }: AgentSetup) => ({
    file: join(".gemini", "settings.json"),
    text: JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" } },
      mcpServers: { errand: { ...mcp, trust: true, timeout: 120_000 } },
    }),
  }),
} as const;

const ARGUMENTS: Readonly<Record<AgentName, (setup: AgentSetup, prompt: string) => readonly string[]>> = {
  claude: ({ home }, prompt) => [
    "-p",
    prompt,
    `--mcp-config=${join(home, "mcp.json")}`,
    "--strict-mcp-config",
    "--allowedTools=mcp__errand",
    "--output-format=json",
  ],
  codex: (_setup, prompt) => [
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    prompt,
  ],
  gemini: (_setup, prompt) => ["-m", "gemini-2.5-flash", "-p", prompt, "--yolo", "--skip-trust", "-o", "json"],
};

function environment({ name, models }: AgentSetup): Readonly<Record<string, string>> {
  if (name === "codex") return { LOCAL_KEY: "local" };
  if (name === "gemini") {
    return { GEMINI_API_KEY: "local", GOOGLE_GEMINI_BASE_URL: models, GEMINI_CLI_TRUST_WORKSPACE: "true" };
  }
  return {
    ANTHROPIC_API_KEY: "local",
    ANTHROPIC_BASE_URL: models,
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // All tools are offered at once instead of being searched for.
    ENABLE_TOOL_SEARCH: "false",
    MCP_TOOL_TIMEOUT: "120000",
  };
}
