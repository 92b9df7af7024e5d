/** `errand run [TASK|-]`: what its words and options mean. */

import { createErrand } from "../../runtime/create-runtime.ts";
import type { TreeEvent } from "../../runtime/errand.ts";
import type { CommandAction } from "../command.ts";
import { agentOptions } from "../run/agent-options.ts";
import { commandWork } from "../run/command-work.ts";
import { givenText } from "../run/given-text.ts";
import { timeoutOf } from "../run/timeout.ts";

const DEMO_TASK = "Explain what this project is, how its source is organised and where its tests are";
const ROOT = "orchestrator";

export const runCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const { store, model = "" } = options;
  const timeoutMs = timeoutOf(options.timeout);
  const [given = DEMO_TASK] = call.args;
  const task = await givenText(given, "task", 'errand run "your task"', host);
  return commandWork(call, {
    model,
    store,
    timeoutMs,
    open: (onFailure) => createErrand({ ...agentOptions(call), store, model, onFailure }),
    begin: [
      async (errand, channel) => {
        const agent = await errand.openAgent({ agent: ROOT, channel });
        await agent.post(task);
        return { agent, past: 0, begun: rootTurned };
      },
    ],
  });
};

function rootTurned(event: TreeEvent): boolean {
  return event.facts.some((fact) => fact.type === "turn-started" && fact.agent === 0);
}
