/** `errand fork AGENT --at SEQ [--agent NAME] [--model M] [TASK]`. */

import { ErrandError } from "../../../errors.ts";
import { createErrand } from "../../../runtime/create-runtime.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { folderDefinitions } from "../../definitions/folder-definitions.ts";
import { requireAgent } from "../../definitions/require-agent.ts";
import { printDefinitionNotices } from "../../definitions/definition-notices.ts";
import { agentOptions } from "../../running/agent-options.ts";
import { type ModelChoice, RECORDED, requireBaseUrlFits } from "../../running/choose-model.ts";
import { workOnTrees } from "../../running/work-on-trees.ts";
import { givenText } from "../../running/task-text.ts";
import { OFFLINE } from "../../rehearsal/rehearsal-provider.ts";
import { timeoutOf } from "../../running/timeout.ts";
import { findId } from "../../store/find-id.ts";
import { requireJournal, requireTrusted, withView } from "../../store/open-view.ts";
import { ownFile } from "../../store/own-store.ts";
import { readTree, recordedModel } from "../../store/read-tree.ts";
import type { TreeModel } from "../../../view/tree-model.ts";

export const forkCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const { agent } = options;
  const timeoutMs = timeoutOf(options.timeout);
  const at = sequenceOf(options.at);
  const [given = "", words] = call.args;
  const example = `errand fork ${given} --at ${at} "…"`;
  const task = words === undefined ? null : await givenText(words, "task", example, host);
  const { tree, path, root, recorded, ...chosen } = await origin(given, at, call);
  const { model } = chosen;
  requireBaseUrlFits(options.baseUrl, [model]);
  const agents = agentOptions(call);
  const definitions = await folderDefinitions(call, agents.tools, (definition) =>
    options.model === undefined ? (recorded.get(definition.name)?.model ?? definition.model) : undefined,
  );
  if (agent !== undefined) requireAgent(agent, definitions, host);
  printDefinitionNotices(definitions.read, agent ?? root, host);
  return workOnTrees(call, {
    ...chosen,
    timeoutMs,
    open: (handlers) =>
      ownFile(path, (store) => createErrand({ ...agents, ...definitions.options, store, model, ...handlers })),
    begin: [
      async (errand, channel) => {
        const fork = await errand.fork(tree, { at, channel, ...(agent === undefined ? {} : { agent }) });
        const post = task === null ? null : (await fork.post(task)).id;
        return {
          agent: fork,
          past: at,
          begun: ({ seq, facts: [input] }) =>
            post === null ? seq > at : input?.type === "message-posted" && input.id === post,
        };
      },
    ],
  });
};

function sequenceOf(given: string | undefined): number {
  if (given !== undefined && /^[1-9]\d{0,14}$/.test(given)) return Number(given);
  throw new ErrandError("usage", `--at takes the number of a row, not "${given ?? ""}"`, {
    remedy: "errand logs TREE shows the numbers of its rows.",
  });
}

interface Origin extends ModelChoice {
  readonly tree: string;
  /** The store that has it. */
  readonly path: string;
  /** The name of its root's definition. */
  readonly root: string;
  /** Its definitions at that row, by their names. */
  readonly recorded: TreeModel["definitions"];
}

/** The tree to fork, and the model to continue with: the typed one, else the one that it had at that row. */
function origin(given: string, at: number, { options, scope }: CommandCall): Promise<Origin> {
  return withView(scope, async (store, view) => {
    const found = await findId(store, given, scope);
    requireJournal(found.tree);
    if (found.kind === "run") {
      throw new ErrandError("usage", `${given} is a run: only the root agent of a tree can be forked`, {
        remedy: `Fork its tree: errand fork ${found.tree.id} --at ${at}`,
      });
    }
    const last = found.tree.nextSeq - 1;
    if (at > last) {
      throw new ErrandError("usage", `The tree has rows 1 to ${last}; it cannot be forked at ${at}`, {
        remedy: `errand logs ${found.tree.id} shows them.`,
      });
    }
    const there = await readTree(store, found.tree.id, at);
    const recorded = recordedModel(there, options.agent);
    const root = there.agents.get(0)?.definition ?? "";
    const choice: ModelChoice =
      options.model === undefined
        ? { model: recorded ?? OFFLINE, because: RECORDED }
        : { model: options.model, because: "--model names it" };
    const file = await view.holder(found.tree.id);
    requireTrusted(file);
    return { tree: found.tree.id, path: file.path, root, recorded: there.definitions, ...choice };
  });
}
