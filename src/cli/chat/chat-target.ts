/** With whom a chat is, a new tree or one of the store, and what its agents are made from in either case. */

import type { TreeRecord } from "../../contracts/store.ts";
import { ErrandError } from "../../errors.ts";
import type { ErrandOptions } from "../../runtime/create-runtime.ts";
import type { CommandCall } from "../command.ts";
import { DEFAULT_AGENT, folderDefinitions } from "../definitions/folder-definitions.ts";
import { requireAgent } from "../definitions/require-agent.ts";
import { printDefinitionNotices } from "../definitions/definition-notices.ts";
import { agentOptions } from "../run/agent-options.ts";
import { chooseModel, type ModelChoice, modelOfDefinition, RECORDED, requireBaseUrlFits } from "../run/choose-model.ts";
import { OFFLINE } from "../run/offline.ts";
import { findId } from "../store/find-id.ts";
import { requireJournal, requireTrusted, withView } from "../store/open-view.ts";
import { readTree, recordedModel } from "../store/read-tree.ts";
import type { TreeModel } from "../../view/tree-model.ts";

export interface ChatTarget extends ModelChoice {
  /** Null: the first message makes one. */
  readonly tree: TreeRecord | null;
  /** The store that has the tree; null: the first that is free. */
  readonly path: string | null;
  /** The definition of the agent that is spoken with. */
  readonly agent: string;
  readonly runtimeOptions: Omit<ErrandOptions, "store" | "onFailure">;
}

export async function chatTarget(call: CommandCall): Promise<ChatTarget> {
  const [given] = call.args;
  if (given === undefined) return newTree(call);
  const { tree, model, path } = await knownTree(given, call);
  const agent = model.agents.get(0)?.definition ?? DEFAULT_AGENT;
  return call.options.model === undefined
    ? asRecorded(call, { tree, path, agent, model: recordedModel(model, undefined) ?? OFFLINE })
    : withModel(call, { tree, path, agent, model: call.options.model });
}

async function newTree(call: CommandCall): Promise<ChatTarget> {
  const { options, host } = call;
  const { agent = DEFAULT_AGENT } = options;
  const agents = agentOptions(call);
  const definitions = await folderDefinitions(call, agents.tools, ({ model }) =>
    options.model === undefined ? model : undefined,
  );
  const definition = requireAgent(agent, definitions, host);
  const usual = await chooseModel(call);
  const own = modelOfDefinition(definition, usual);
  requireBaseUrlFits(options.baseUrl, [own.model, usual.model]);
  printDefinitionNotices(definitions.read, agent, host);
  return {
    ...own,
    tree: null,
    path: null,
    agent,
    runtimeOptions: { ...agents, ...definitions.options, model: usual.model },
  };
}

type KnownTree = Pick<ChatTarget, "tree" | "path" | "agent" | "model">;

function asRecorded(call: CommandCall, known: KnownTree): ChatTarget {
  const { model } = known;
  requireBaseUrlFits(call.options.baseUrl, [model]);
  return { ...known, because: RECORDED, runtimeOptions: { ...agentOptions(call), model } };
}

/** A tree that goes on with another model than it was recorded with. */
async function withModel(call: CommandCall, known: KnownTree): Promise<ChatTarget> {
  const { options, host } = call;
  const { agent, model } = known;
  requireBaseUrlFits(options.baseUrl, [model]);
  const agents = agentOptions(call);
  const definitions = await folderDefinitions(call, agents.tools, () => undefined);
  printDefinitionNotices(definitions.read, agent, host);
  const runtimeOptions = { ...agents, ...definitions.options, model, renewDefinitions: true };
  return { ...known, because: "--model names it", runtimeOptions };
}

/** The tree that was named, and what it was when it was last written. */
function knownTree(
  given: string,
  { options, scope }: CommandCall,
): Promise<{ readonly tree: TreeRecord; readonly model: TreeModel; readonly path: string }> {
  return withView(scope, async (store, view) => {
    const found = await findId(store, given, scope);
    const { tree } = found;
    requireJournal(tree);
    if (found.kind === "run") {
      throw new ErrandError("usage", `${given} is a run: a chat is with the root agent of a tree`, {
        remedy: `Chat with its tree: errand chat ${tree.id}. Write to the run with errand send.`,
      });
    }
    if (options.agent !== undefined) {
      throw new ErrandError("usage", "--agent is for a new conversation: one that exists has its agent", {
        remedy: `Go on with another one from some step of it: errand fork ${tree.id} --at SEQ --agent ${options.agent}`,
      });
    }
    if (tree.status !== "open") {
      throw new ErrandError("agent-unknown", `The tree ${tree.id} is ${tree.status}`, {
        remedy:
          tree.status === "quarantined" ? `Release it first: errand resume ${tree.id}` : "Begin another: errand chat",
      });
    }
    const file = await view.holder(tree.id);
    requireTrusted(file);
    return { tree, path: file.path, model: await readTree(store, tree.id, tree.nextSeq - 1) };
  });
}
