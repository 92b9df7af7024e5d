/** The agent of a chat: of a new tree, or of one in the store. */

import type { TreeRecord } from "../../../contracts/store.ts";
import { ErrandError } from "../../../errors.ts";
import type { ErrandOptions } from "../../../runtime/errand-options.ts";
import type { CommandCall } from "../../command.ts";
import { DEFAULT_AGENT, folderDefinitions } from "../../definitions/folder-definitions.ts";
import { printDefinitionNotices } from "../../definitions/definition-notices.ts";
import { agentOptions } from "../../running/agent-options.ts";
import { type ModelChoice, RECORDED, requireBaseUrlFits } from "../../running/choose-model.ts";
import { newRoot } from "../../running/new-root.ts";
import { OFFLINE } from "../../rehearsal/rehearsal-provider.ts";
import { findId } from "../../store/find-id.ts";
import { requireJournal, requireTrusted, withView } from "../../store/open-view.ts";
import { readTree, recordedModel } from "../../store/read-tree.ts";

export interface ChatTarget extends ModelChoice {
  /** Null: the first message opens one. */
  readonly tree: TreeRecord | null;
  /** The store that has the tree; null: the first store that no process owns. */
  readonly path: string | null;
  /** The name of the agent's definition. */
  readonly agent: string;
  readonly runtimeOptions: Omit<ErrandOptions, "store" | "onFailure">;
}

export async function chatTarget(call: CommandCall): Promise<ChatTarget> {
  const { args, options, host } = call;
  const [given] = args;
  if (given === undefined) {
    const { choice, read, ...root } = await newRoot(call);
    printDefinitionNotices(read, root.agent, host);
    return { ...choice, ...root, tree: null, path: null };
  }
  const known = await knownTree(given, call);
  const { agent, model } = known;
  requireBaseUrlFits(options.baseUrl, [model]);
  const agents = agentOptions(call);
  if (options.model === undefined) return { ...known, because: RECORDED, runtimeOptions: { ...agents, model } };
  const definitions = await folderDefinitions(call, agents.tools, () => undefined);
  printDefinitionNotices(definitions.read, agent, host);
  const runtimeOptions = { ...agents, ...definitions.options, model, renewDefinitions: true };
  return { ...known, because: "--model names it", runtimeOptions };
}

/** The named tree, with its agent and the model to continue with. */
function knownTree(
  given: string,
  { options, scope }: CommandCall,
): Promise<Pick<ChatTarget, "tree" | "path" | "agent" | "model">> {
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
    const recorded = await readTree(store, tree.id, tree.nextSeq - 1);
    const agent = recorded.agents.get(0)?.definition ?? DEFAULT_AGENT;
    const model = options.model ?? recordedModel(recorded, undefined) ?? OFFLINE;
    return { tree, path: file.path, agent, model };
  });
}
