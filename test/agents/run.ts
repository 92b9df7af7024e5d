/**
 * `npm run test:agents [-- --agent NAME]`: real coding agents delegate to Errand, are killed, come back and get their
 * results. It installs the agents into a folder of their own. Models are a local server; nothing is paid for.
 *
 * Exit codes: 0 passed, 1 a test failed, 2 wrong use.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { commandOptions } from "../support/command-options.ts";
import { agentTitle } from "./agent-client.ts";
import { delegate, type Delegation } from "./delegation.ts";
import { AGENT_PACKAGES, type AgentName, installAgents } from "./installed-agents.ts";

const NAMES = Object.keys(AGENT_PACKAGES) as AgentName[];

async function main(): Promise<number> {
  const values = commandOptions(
    {
      name: "npm run test:agents --",
      does: "Claude Code, Codex and Gemini CLI delegate to Errand, are killed, and come back. It downloads 900 MB once.",
      examples: ["--agent codex"],
    },
    {
      agent: { kind: "many", help: `Only these: ${NAMES.join(", ")}.` },
      folder: {
        kind: "text",
        default: join(homedir(), ".cache", "errand-agents"),
        help: "Where the agents are installed, and kept for the next time.",
      },
    },
  );
  const unknown = values.agent.filter((name) => !NAMES.some((known) => known === name));
  if (unknown.length > 0) {
    process.stderr.write(`errand: there is no agent ${unknown.join(", ")} here. Known: ${NAMES.join(", ")}.\n`);
    return 2;
  }
  const names = NAMES.filter((name) => values.agent.length === 0 || values.agent.includes(name));
  const programs = installAgents(values.folder, names);
  let failed = 0;
  for (const name of names) {
    const { problems, childCalls } = await tried(name, programs[name]);
    if (problems.length > 0) failed += 1;
    const said = `${agentTitle(name)}, ${childCalls} model calls of its children`;
    process.stdout.write(`${problems.length === 0 ? "ok    " : "FAILED"} ${said}\n`);
    for (const problem of problems) process.stdout.write(`       ${problem}\n`);
  }
  return failed === 0 ? 0 : 1;
}

async function tried(name: AgentName, program: string): Promise<Delegation> {
  const root = mkdtempSync(join(tmpdir(), `errand-${name}-`));
  try {
    return await delegate(name, program, root);
  } catch (error) {
    return { problems: [error instanceof Error ? error.message : String(error)], childCalls: 0 };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  }
}

process.exitCode = await main();
