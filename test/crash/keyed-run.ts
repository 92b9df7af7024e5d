/**
 * The killed program with one call of `errand.run` under a key, a tool that can say what became of a call, the caller's
 * data and a `beforeDelegation` that rewrites tasks. Each life asks for the same task and prints its result.
 */

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { type createErrand, type ErrandOptions, type Tool, tool } from "../../src/index.ts";
import { byContext, callTool, createScriptedModels, say } from "../../src/testing/index.ts";
import type { ProgramOptions, Tell } from "./program-options.ts";

export const ACCOUNT = "a-1";
export const REWRITTEN = "Pay the invoice, and nothing else.";
/** The payments of the task: one by the agent, one by its child. */
export const PAYMENTS = 2;

export interface Payment {
  readonly callId: string;
  readonly account: unknown;
}

export function paymentsIn(file: string): readonly Payment[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Payment);
}

/** Not safe to repeat. The ledger is outside of Errand, and survives every kill. */
function payTool({ toolFile, killTool }: ProgramOptions, tell: Tell): Tool {
  let calls = 0;
  const die = (when: "before" | "after"): void => {
    if (killTool?.when === when && killTool.call === calls) process.kill(process.pid, "SIGKILL");
  };
  return tool({
    name: "pay",
    description: "Pays an invoice.",
    run(_input, { callId, data, attempt }) {
      calls += 1;
      die("before");
      const account = typeof data === "object" && data !== null && "account" in data ? data.account : null;
      appendFileSync(toolFile, `${JSON.stringify({ callId, account })}\n`);
      die("after");
      tell({ paid: callId, attempt });
      return "paid";
    },
    recover(_input, { callId }) {
      const happened = paymentsIn(toolFile).some((payment) => payment.callId === callId);
      tell({ recovered: callId, happened });
      return happened ? { happened, result: "paid" } : { happened };
    },
  });
}

const models = () =>
  createScriptedModels({
    "scripted/parent": byContext([callTool("subagent", { task: "Pay!" }), callTool("pay", {}), say("All is paid.")]),
    "scripted/child": byContext([
      callTool("pay", {}),
      callTool("send_agent_message", { text: "It is paid.", final: true }),
    ]),
  });

export async function runKeyed(
  open: (more: Partial<ErrandOptions>) => ReturnType<typeof createErrand>,
  options: ProgramOptions,
  tell: Tell,
): Promise<void> {
  const errand = await open({
    models: [models()],
    tools: [payTool(options, tell)],
    beforeDelegation: () => ({ task: REWRITTEN }),
  });
  const { text, tree, runs } = await errand.run("Pay both.", { key: "invoices", data: { account: ACCOUNT } });
  tell({ result: text, tree, runs: runs.map(({ name, status }) => `${name} ${status}`) });
  if (options.kill?.when === "done") process.kill(process.pid, "SIGKILL");
  tell({ trees: (await errand.listTrees()).length, difference: (await errand.replay(tree)).difference });
  await errand.close();
  tell({ done: true });
}
