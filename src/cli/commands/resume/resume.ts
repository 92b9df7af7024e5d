/** `errand resume [TREE]`: continues one tree, or all trees with work to do. */

import type { Store, TreeRecord } from "../../../contracts/store.ts";
import type { TreeId } from "../../../core/values/ids.ts";
import { ErrandError } from "../../../errors.ts";
import { createErrand, openStoreAt } from "../../../runtime/create-runtime.ts";
import { treeUnplaced } from "../../../runtime/trees/tree-errors.ts";
import type { Errand } from "../../../runtime/errand.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { outsideAgents } from "../../definitions/folder-definitions.ts";
import { agentOptions } from "../../running/agent-options.ts";
import { explainModel, modelRefusal, RECORDED, requireBaseUrlFits } from "../../running/choose-model.ts";
import { type RuntimeHandlers, workOnTrees, type WorkRequest } from "../../running/work-on-trees.ts";
import { OFFLINE } from "../../rehearsal/rehearsal-provider.ts";
import { timeoutOf } from "../../running/timeout.ts";
import { findId } from "../../store/find-id.ts";
import { requireJournal, requireTrusted, type View, withView } from "../../store/open-view.ts";
import { ownFile } from "../../store/own-store.ts";
import { readTree, recordedModel } from "../../store/read-tree.ts";
import { countLabel } from "../../../view/amounts.ts";

interface Unfinished {
  readonly tree: TreeRecord;
  /** Ids of mail that no process has taken yet. */
  readonly mail: ReadonlySet<string>;
  readonly model: string;
}

/** The work to do in one store. */
interface StoreWork {
  readonly path: string;
  readonly found: readonly Unfinished[];
  /** The process that owns the store, or null. */
  readonly owner: string | null;
}

export const resumeCommand: CommandAction = async (call) => {
  const { args, options, scope, host } = call;
  const timeoutMs = timeoutOf(options.timeout);
  const stores = await withView(scope, (_store, view) => unfinishedWork(view, call));
  const named = args[0] !== undefined || scope.kind === "named";
  // Stores that other processes own are left to them, unless the user named one.
  const free = stores.filter(({ owner }) => named || owner === null);
  const found = free.flatMap((store) => store.found);
  if (found.length === 0) {
    const owned = stores.filter(({ owner }) => owner !== null).map(({ owner }) => owner);
    if (owned.length > 0 && !named) throw underWay(owned.join(", "));
    host.err("nothing to resume: every tree is at rest\n");
    return EXIT.done;
  }
  requireBaseUrlFits(
    options.baseUrl,
    found.map((one) => one.model),
  );
  requireModels(found, call);
  let code: ExitCode = EXIT.done;
  // One store after the other, because each must be owned while its trees are worked on.
  for (const store of free) {
    const ended = await resumeStore(call, store, timeoutMs);
    if (code === EXIT.done) code = ended;
    if (ended === EXIT.interrupted || ended === EXIT.terminated || ended === EXIT.hangup) break;
  }
  return code;
};

async function resumeStore(call: CommandCall, { path, found }: StoreWork, timeoutMs: number | null): Promise<ExitCode> {
  const [first] = found;
  if (first === undefined) return EXIT.done;
  const released = found.filter(({ tree }) => tree.status === "quarantined").map(({ tree }) => tree.id);
  const { model } = first;
  const open: WorkRequest["open"] = (handlers) =>
    ownFile(path, (store) => openReleased(call, store, released, { model, ...handlers }));
  let left = found.length;
  const begin = found.map(({ tree, mail }): WorkRequest["begin"][number] => async (errand, channel) => {
    const reason = await unplacedReason(errand, tree.id);
    if (reason !== null) {
      left -= 1;
      // A notice was printed. If no tree is left, this is the error of the command.
      if (left === 0) throw treeUnplaced(tree.id, reason);
      return null;
    }
    return {
      agent: await errand.agent(tree.id, { channel }),
      past: tree.nextSeq - 1,
      begun: begunAfter(tree.nextSeq - 1, mail),
    };
  });
  return workOnTrees(call, { model, because: RECORDED, timeoutMs, open, begin });
}

function underWay(owners: string): ErrandError {
  return new ErrandError("store-owned", `What is unfinished here is worked on by ${owners}`, {
    remedy: "Watch it with errand logs -f TREE, tell it more with errand send TREE, or stop that process.",
  });
}

/** True from row `past` on, once the mail that was waiting there has been taken. */
function begunAfter(past: number, mail: ReadonlySet<string>): WorkTargetBegun {
  const waiting = new Set(mail);
  return ({ seq, facts: [input] }) => {
    if (input !== undefined && "id" in input) waiting.delete(input.id);
    return seq >= past && waiting.size === 0;
  };
}

/** A tree whose model is not available would only fail, so it is left as it is. */
function requireModels(found: readonly Unfinished[], { models }: CommandCall): void {
  for (const { model } of found) {
    const refusal = modelRefusal(model, models);
    if (refusal !== null) throw explainModel(new ErrandError("model-unknown", refusal), model);
  }
}

async function unplacedReason(errand: Errand, id: TreeId): Promise<string | null> {
  const trees = await errand.listTrees({ limit: Number.MAX_SAFE_INTEGER });
  return trees.find((tree) => tree.id === id)?.unplaced ?? null;
}

type WorkTargetBegun = NonNullable<Awaited<ReturnType<WorkRequest["begin"][number]>>>["begun"];

async function openReleased(
  call: CommandCall,
  path: string,
  released: readonly TreeId[],
  how: { readonly model: string } & RuntimeHandlers,
): Promise<Errand> {
  const agents = await outsideAgents(call);
  const store = await openStoreAt(path, "own");
  try {
    for (const tree of released) await store.release(tree);
    return await createErrand({ ...agentOptions(call), agents, recover: true, store, ...how });
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/**
 * The tree that was named, or all that have something to do, by their stores. Prints how many quarantined trees wait
 * for a person.
 */
async function unfinishedWork(view: View, call: CommandCall): Promise<StoreWork[]> {
  const { args, scope, host } = call;
  for (const file of view.files) requireTrusted(file);
  const [given] = args;
  if (given !== undefined) {
    const { tree } = await findId(view.store, given, scope);
    requireJournal(tree);
    const { path, store, owner } = await view.holder(tree.id);
    const work = await workOf(store);
    const found = work.ids.has(tree.id) || tree.status === "quarantined" ? [tree] : [];
    return [
      { path, owner: await owner(), found: await Promise.all(found.map((one) => asUnfinished(store, one, work))) },
    ];
  }
  const waiting = await view.store.trees({ status: "quarantined", limit: Number.MAX_SAFE_INTEGER });
  const [first] = waiting;
  if (first !== undefined)
    host.err(`${countLabel(waiting.length, "quarantined tree")}; release one with: errand resume ${first.id}\n`);
  const stores: StoreWork[] = [];
  for (const { path, store, owner } of view.files) {
    const work = await workOf(store);
    const trees = await Promise.all([...work.ids].map((id) => store.tree(id as TreeId)));
    const open = trees.filter((tree) => tree?.status === "open").filter((tree) => tree !== null);
    const found = await Promise.all(open.map((tree) => asUnfinished(store, tree, work)));
    if (found.length > 0) stores.push({ path, owner: await owner(), found });
  }
  return stores;
}

interface Work {
  /** Trees that have something to do. */
  readonly ids: ReadonlySet<string>;
  readonly mail: ReadonlyMap<string, ReadonlySet<string>>;
}

async function workOf(store: Store): Promise<Work> {
  const mail = new Map<string, Set<string>>();
  for (const { tree, id } of await store.pendingMail(Number.MAX_SAFE_INTEGER)) {
    mail.set(tree, (mail.get(tree) ?? new Set()).add(id));
  }
  const asking = (await store.trees({ asking: true, limit: Number.MAX_SAFE_INTEGER })).map((tree) => tree.id);
  const busy = await store.unfinished(Number.MAX_SAFE_INTEGER);
  return { ids: new Set<string>([...busy, ...mail.keys(), ...(await store.outboxTrees()), ...asking]), mail };
}

async function asUnfinished(store: Store, tree: TreeRecord, { mail }: Work): Promise<Unfinished> {
  const model = recordedModel(await readTree(store, tree.id, tree.nextSeq - 1), undefined);
  return { tree, mail: mail.get(tree.id) ?? new Set<string>(), model: model ?? OFFLINE };
}
