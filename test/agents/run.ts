/**
 * `npm run test:agents [-- --agent NAME]`: real coding agents delegate to Errand, are killed, come back and get their
 * results. Without `--agent` it also runs the protocol's conformance suite and inspector. It installs all of them into a
 * folder of their own. Models are a local server; nothing is paid for.
 *
 * Exit codes: 0 passed, 1 a test failed, 2 wrong use.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { commandOptions } from "../support/command-options.ts";
import { agentTitle } from "./agent-client.ts";
import { delegate } from "./delegation.ts";
import { AGENT_PACKAGES, type AgentName, installAgents } from "./installed-agents.ts";
import { type Tried, tryProtocolPeers } from "./protocol-peers.ts";

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
  const all = values.agent.length === 0;
  const names = NAMES.filter((name) => all || values.agent.includes(name));
  const programs = installAgents(values.folder, names);
  let failed = 0;
  const print = ({ title, problems }: Tried): void => {
    if (problems.length > 0) failed += 1;
    process.stdout.write(`${problems.length === 0 ? "ok    " : "FAILED"} ${title}\n`);
    for (const problem of problems) process.stdout.write(`       ${problem}\n`);
  };
  for (const name of names) {
    const title = agentTitle(name);
    const results = await tried(title, async (root) => {
      const { problems, childCalls } = await delegate(name, programs[name], root);
      return [{ title: `${title}, ${childCalls} model calls of its children`, problems }];
    });
    results.forEach(print);
  }
  if (all) (await tried("protocol peers", (root) => tryProtocolPeers(values.folder, root))).forEach(print);
  return failed === 0 ? 0 : 1;
}

/** In a folder of its own. */
async function tried(title: string, go: (root: string) => Promise<readonly Tried[]>): Promise<readonly Tried[]> {
  const root = mkdtempSync(join(tmpdir(), "errand-agents-"));
  try {
    return await go(root);
  } catch (error) {
    return [{ title, problems: [error instanceof Error ? error.message : String(error)] }];
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 500 });
  }
}

process.exitCode = await main();
