/** `errand resume [TREE]`: what its words mean. The lines of `--json` are those of `run`, without the past; several trees mix. */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { TreeId } from "../../core/ids.ts";
import { ErrandError } from "../../errors.ts";
import { createErrand, openStoreAt } from "../../runtime/create-runtime.ts";
import type { Errand } from "../../runtime/errand.ts";
import type { CommandAction, CommandCall } from "../command.ts";
import { EXIT } from "../exit-code.ts";
import { agentOptions } from "../run/agent-options.ts";
import { explainModel } from "../run/explain-model.ts";
import { RECORDED, requireBaseUrlFits } from "../run/choose-model.ts";
import { commandWork } from "../run/command-work.ts";
import { OFFLINE, offlineIs } from "../run/offline.ts";
import { timeoutOf } from "../run/timeout.ts";
import type { WorkRequest } from "../run/work-on-trees.ts";
import { findId } from "../store/find-id.ts";
import { explainOwned, requireJournal, withView } from "../store/open-view.ts";
import { readTree, recordedModel } from "../store/read-tree.ts";
import { countLabel } from "../text/amounts.ts";

interface Unfinished {
  readonly tree: TreeRecord;
  /** Mail that nobody has taken yet. */
  readonly mail: ReadonlySet<string>;
  readonly model: string;
}

export const resumeCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const { store } = options;
  const timeoutMs = timeoutOf(options.timeout);
  const found = await withView(store, (view) => unfinished(view, call));
  const [first] = found;
  const released = found.filter(({ tree }) => tree.status === "quarantined").map(({ tree }) => tree.id);
  if (first === undefined) {
    host.err("nothing to resume: every tree is at rest\n");
    return EXIT.done;
  }
  requireBaseUrlFits(
    options.baseUrl,
    found.map((one) => one.model),
  );
  requireModels(found, call);
  const { model } = first;
  const open: WorkRequest["open"] = (onFailure) => openReleased(call, released, { model, onFailure });
  const begin = found.map(({ tree, mail }): WorkRequest["begin"][number] => async (errand, channel) => ({
    agent: await errand.agent(tree.id, { channel }),
    past: tree.nextSeq - 1,
    begun: begunAfter(tree.nextSeq - 1, mail),
  }));
  return commandWork(call, { model, because: RECORDED, store, timeoutMs, open, begin });
};

/** True from the end of the past on, once the mail that waited there was taken. */
function begunAfter(past: number, mail: ReadonlySet<string>): WorkTargetBegun {
  const waiting = new Set(mail);
  return ({ seq, facts: [input] }) => {
    if (input !== undefined && "id" in input) waiting.delete(input.id);
    return seq >= past && waiting.size === 0;
  };
}

/** A tree whose model cannot be had would only fail; it is left as it is. */
function requireModels(found: readonly Unfinished[], { models }: CommandCall): void {
  for (const { model } of found) {
    const tried = models.map((provider) => provider.resolve(model));
    const [refusal] = tried.flatMap((one) => ("unavailable" in one ? [one.unavailable] : []));
    const had = offlineIs(model) || tried.some((one) => !("unavailable" in one));
    if (!had) throw explainModel(new ErrandError("model-unknown", refusal ?? model), model);
  }
}

type WorkTargetBegun = Awaited<ReturnType<WorkRequest["begin"][number]>>["begun"];

async function openReleased(
  call: CommandCall,
  released: readonly TreeId[],
  how: { readonly model: string; readonly onFailure: Parameters<WorkRequest["open"]>[0] },
): Promise<Errand> {
  let store: Store;
  try {
    store = await openStoreAt(call.options.store, "own");
  } catch (thrown) {
    throw explainOwned(thrown);
  }
  try {
    for (const tree of released) await store.release(tree);
    return await createErrand({ ...agentOptions(call), recover: true, store, ...how });
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/** The tree that was named, or all that have something to do; and those that wait for a person are told of. */
async function unfinished(store: Store, { args: [given], options, host }: CommandCall): Promise<Unfinished[]> {
  const mail = new Map<string, Set<string>>();
  for (const { tree, id } of await store.pendingMail(Number.MAX_SAFE_INTEGER)) {
    mail.set(tree, (mail.get(tree) ?? new Set()).add(id));
  }
  const outbox = new Set<string>(await store.outboxTrees());
  const asking = (await store.trees({ asking: true, limit: Number.MAX_SAFE_INTEGER })).map((tree) => tree.id);
  const busy = await store.unfinished(Number.MAX_SAFE_INTEGER);
  const work = new Set<string>([...busy, ...mail.keys(), ...outbox, ...asking]);
  const trees: TreeRecord[] = [];
  if (given === undefined) {
    for (const id of work) {
      const tree = await store.tree(id as TreeId);
      if (tree?.status === "open") trees.push(tree);
    }
    const waiting = await store.trees({ status: "quarantined", limit: Number.MAX_SAFE_INTEGER });
    const [first] = waiting;
    if (first !== undefined)
      host.err(`${countLabel(waiting.length, "quarantined tree")}; release one with: errand resume ${first.id}\n`);
  } else {
    const { tree } = await findId(store, given, options.store);
    requireJournal(tree);
    if (work.has(tree.id) || tree.status === "quarantined") trees.push(tree);
  }
  const found = trees.map(async (tree) => {
    const model = recordedModel(await readTree(store, tree.id, tree.nextSeq - 1), undefined);
    return { tree, mail: mail.get(tree.id) ?? new Set<string>(), model: model ?? OFFLINE };
  });
  return Promise.all(found);
}
