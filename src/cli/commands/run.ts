/** `errand run [TASK|-]`: what its words and options mean. */

import { createErrand } from "../../runtime/create-runtime.ts";
import type { TreeEvent } from "../../runtime/errand.ts";
import type { CommandAction } from "../command.ts";
import { DEFAULT_AGENT, folderDefinitions } from "../definitions/folder-definitions.ts";
import { requireAgent } from "../definitions/require-agent.ts";
import { tellOfDefinitions } from "../definitions/tell-of-definitions.ts";
import { agentOptions } from "../run/agent-options.ts";
import { commandWork } from "../run/command-work.ts";
import { givenText } from "../run/given-text.ts";
import { OFFLINE } from "../run/offline.ts";
import { timeoutOf } from "../run/timeout.ts";

const DEMO_TASK = "Explain what this project is, how its source is organised and where its tests are";
export const runCommand: CommandAction = async (call) => {
  const { options, host, settings } = call;
  const { store, agent: root = DEFAULT_AGENT } = options;
  const timeoutMs = timeoutOf(options.timeout);
  const [given = DEMO_TASK] = call.args;
  const task = await givenText(given, "task", 'errand run "your task"', host);
  const agents = agentOptions(call);
  const definitions = await folderDefinitions(call, agents.tools, ({ model }) =>
    options.model === undefined ? model : undefined,
  );
  const definition = requireAgent(root, definitions, host);
  const usual = options.model ?? settings.model ?? OFFLINE;
  tellOfDefinitions(definitions.read, root, host);
  return commandWork(call, {
    model: definition.model ?? usual,
    store,
    timeoutMs,
    open: (onFailure) => createErrand({ ...agents, ...definitions.options, store, model: usual, onFailure }),
    begin: [
      async (errand, channel) => {
        const agent = await errand.openAgent({ agent: root, channel });
        await agent.post(task);
        return { agent, past: 0, begun: rootTurned };
      },
    ],
  });
};

function rootTurned(event: TreeEvent): boolean {
  return event.facts.some((fact) => fact.type === "turn-started" && fact.agent === 0);
}
