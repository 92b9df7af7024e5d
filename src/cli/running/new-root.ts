/** The root agent that `run` and a new chat start: its definition, its model, and the options of the runtime. */

import type { ReadDefinitions } from "../../definitions/read-definitions.ts";
import type { ErrandOptions } from "../../runtime/errand-options.ts";
import type { CommandCall } from "../command.ts";
import { DEFAULT_AGENT, folderDefinitions } from "../definitions/folder-definitions.ts";
import { requireAgent } from "../definitions/require-agent.ts";
import { agentOptions } from "./agent-options.ts";
import { chooseModel, type ModelChoice, requireBaseUrlFits } from "./choose-model.ts";

export interface NewRoot {
  /** The name of its definition. */
  readonly agent: string;
  /** Its model: the one of its definition, unless `--model` names another. */
  readonly choice: ModelChoice;
  readonly read: ReadDefinitions;
  readonly runtimeOptions: Omit<ErrandOptions, "store" | "onFailure">;
}

export async function newRoot(call: CommandCall): Promise<NewRoot> {
  const { options, host } = call;
  const { agent = DEFAULT_AGENT } = options;
  const agents = agentOptions(call);
  const definitions = await folderDefinitions(call, agents.tools, ({ model }) =>
    options.model === undefined ? model : undefined,
  );
  const { name, model } = requireAgent(agent, definitions, host);
  const usual = await chooseModel(call);
  const choice = model === undefined ? usual : { model, because: `the definition of ${name} names it` };
  requireBaseUrlFits(options.baseUrl, [choice.model, usual.model]);
  const runtimeOptions = { ...agents, ...definitions.options, model: usual.model };
  return { agent, choice, read: definitions.read, runtimeOptions };
}
