/**
 * A coding agent delegates to Errand, is killed while its three children work, comes back and gets their results. The
 * agent is the real program; its model and those of the children are scripts.
 */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { records, runErrand } from "../cli/support/errand-process.ts";
import type { WireCall, WireReply } from "../models/wires/wire.ts";
import { type AgentSetup, configureAgent, runAgent } from "./agent-client.ts";
import type { AgentName } from "./installed-agents.ts";
import { type ModelCall, openModelServer, type Script } from "./model-server.ts";

export interface Delegation {
  /** What was not as it must be; empty if all was well. */
  readonly problems: readonly string[];
  /** How often the children's models were called. */
  readonly childCalls: number;
}

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const WORDS = ["one", "two", "three"];
const WITHIN_MS = 180_000;

export async function delegate(name: AgentName, program: string, root: string): Promise<Delegation> {
  const children = heldChildren();
  const waits = Promise.withResolvers<void>();
  const scripts: Readonly<Record<string, Script>> = {
    first: (call) => firstSession(name, call, waits.resolve),
    second: (call) => secondSession(name, call),
    child: children.script,
  };
  const models = await openModelServer((call) => scripts[call.caller]?.(call) ?? null);
  const [project, home] = [join(root, "project"), join(root, "home")];
  for (const folder of [project, home]) mkdirSync(folder, { recursive: true });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_DATA_HOME: join(root, "data"),
    ANTHROPIC_API_KEY: "local",
    ANTHROPIC_BASE_URL: models.url("child"),
  };
  const mcp = { command: process.execPath, args: [MAIN, "mcp", "--model", "anthropic/claude-sonnet-5-5"], env };
  const setup = (session: string): AgentSetup => ({ name, program, home, project, models: models.url(session), mcp });
  try {
    configureAgent(setup("first"));
    const first = runAgent(setup("first"), "Start three children and wait for them.");
    try {
      await within("the first session waits for its children", Promise.all([children.asked(3), waits.promise]), first);
    } finally {
      first.kill();
    }
    await first.ended;
    children.letGo();

    configureAgent(setup("second"));
    const second = runAgent(setup("second"), "List your runs and tell me their results.");
    try {
      const { code, output } = await within("the second session ends", second.ended);
      const problems = [...(code === 0 ? [] : [`it ended with ${code}: ${output}`]), ...toldProblems(output)];
      const proven = await journalProblems({ folder: project, home, env });
      return { problems: [...problems, ...proven], childCalls: children.calls() };
    } finally {
      second.kill();
    }
  } finally {
    await models.close();
  }
}

/** The agent's model starts three runs, then waits for the first. */
function firstSession(name: AgentName, call: ModelCall, waits: () => void): WireReply {
  const start = call.tool("subagent_start");
  // Agents also ask their model for other things, such as a title.
  if (start === undefined) return { text: "Counting" };
  const runs = runsIn(call);
  if (call.sent.results.length === 0) {
    return {
      calls: WORDS.map((word) => wireCall(name, start, `start_${word}`, { task: `Count: ${word}`, key: word })),
    };
  }
  const [first] = runs;
  if (runs.length < WORDS.length || first === undefined) return { text: "Not all have started." };
  waits();
  return { calls: [wireCall(name, call.tool("subagent_wait"), "wait_first", { run_id: first })] };
}

/** The agent's model lists the runs, waits for each, and says what came of them. */
function secondSession(name: AgentName, call: ModelCall): WireReply {
  const list = call.tool("subagent_list");
  if (list === undefined) return { text: "Results" };
  const { length } = call.sent.results;
  if (length === 0) return { calls: [wireCall(name, list, "list", {})] };
  const wait = call.tool("subagent_wait");
  const waiting = runsIn(call).map((run, index) => wireCall(name, wait, `wait_${index}`, { run_id: run }));
  if (length === 1) return waiting.length === 0 ? { text: "FINAL: no runs." } : { calls: waiting };
  const told = call.sent.results.flatMap((result) => [...result.matchAll(/\\*"summary\\*":\s*\\*"(result of \w+)/g)]);
  return { text: `FINAL: ${told.map(([, text]) => text).join(", ")}.` };
}

/** Codex calls the tools of a server within a namespace, and names them without a prefix. */
function wireCall(agent: AgentName, name = "", id: string, input: object): WireCall {
  const call = { id, name, arguments: JSON.stringify(input) };
  return agent === "codex" ? { ...call, namespace: "mcp__errand" } : call;
}

/** The ids of runs in results, each once, in the order of their first mention. */
function runsIn({ sent }: ModelCall): readonly string[] {
  const found = sent.results.flatMap((result) => [...result.matchAll(/\\*"run_id\\*":\s*\\*"([0-9a-f-]{36})/g)]);
  return [...new Set(found.map(([, id = ""]) => id))];
}

/** Children that report once they are let go. */
function heldChildren() {
  let calls = 0;
  const { promise: open, resolve: letGo } = Promise.withResolvers<void>();
  const waiting: { readonly calls: number; readonly resolve: () => void }[] = [];
  const script: Script = async ({ body, tool }) => {
    calls += 1;
    for (const one of waiting) if (one.calls <= calls) one.resolve();
    await open;
    const [, word = "nothing"] = /Count: (\w+)/.exec(body) ?? [];
    const input = { text: `result of ${word}`, final: true };
    const name = tool("send_agent_message") ?? "";
    return { calls: [{ id: `call_${word}`, name, arguments: JSON.stringify(input) }] };
  };
  const asked = (wanted: number): Promise<void> =>
    new Promise((resolve) => (calls >= wanted ? resolve() : waiting.push({ calls: wanted, resolve })));
  return { script, asked, letGo, calls: () => calls };
}

function toldProblems(output: string): readonly string[] {
  const said = [...output.matchAll(/FINAL: [^".\n]*/g)].at(-1)?.[0] ?? "";
  return WORDS.flatMap((word) => {
    const times = said.split(`result of ${word}`).length - 1;
    return times === 1 ? [] : [`the final answer holds "result of ${word}" ${times} times: ${said || output}`];
  });
}

/** Three trees with one ended run each, and each journal is proven. */
async function journalProblems(how: Parameters<typeof runErrand>[1]): Promise<readonly string[]> {
  const { out } = await runErrand(["ps", "--all", "--json"], how);
  const trees = records(out).filter(({ type }) => type === "tree");
  const problems = trees.length === WORDS.length ? [] : [`errand ps shows ${trees.length} trees`];
  for (const { id } of trees) {
    const shown = records((await runErrand(["show", String(id), "--json"], how)).out);
    const runs = shown.filter(({ type }) => type === "run");
    if (runs.length !== 1 || runs[0]?.["status"] !== "ok")
      problems.push(`the tree ${String(id)} has not one run: ${JSON.stringify(runs)}`);
    const proven = await runErrand(["replay", String(id), "--json"], how);
    if (records(proven.out).at(-1)?.["ok"] !== true)
      problems.push(`errand replay ${String(id)}: ${proven.out}${proven.err}`);
  }
  return problems;
}

/** Rejects if it takes too long, or if the agent ends before. */
async function within<Result>(
  what: string,
  promise: Promise<Result>,
  agent?: { readonly ended: Promise<{ readonly output: string }> },
): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what}: not within ${WITHIN_MS / 1_000} s`)), WITHIN_MS);
  void agent?.ended.then(({ output }) => reject(new Error(`${what}: the agent ended before:\n${output}`)), reject);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
