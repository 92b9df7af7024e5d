/** `errand ps`: the trees of the stores, one a line, newest first. */

import type { Store, TreeRecord } from "../../../contracts/store.ts";
import { readClock } from "../../../runtime/clock.ts";
import type { CommandAction } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { type View, withView } from "../../store/open-view.ts";
import { shortIds } from "../../store/short-ids.ts";
import { treeWord } from "../../store/state-words.ts";
import { readTitles } from "../../store/titles.ts";
import { agoLabel, countLabel } from "../../../view/amounts.ts";
import { fitWidth, tableLines } from "../../text/display-width.ts";
import { terminalLine } from "../../text/terminal-text.ts";

const HEADINGS = ["TREE", "TITLE", "STATE", "OPEN RUNS", "LAST ACTIVITY", "AGENT"] as const;
/** What the other columns usually take. Where there is less room, the last columns are cut. */
const BESIDE_TITLE = 60;
const NARROWEST_TITLE = 16;

export const psCommand: CommandAction = ({ options, scope, host }) =>
  withView(scope, async (store, view) => {
    const trees = options.all === true ? await everyTree(store) : await treesWithWork(store);
    const open = await openRuns(store);
    if (options.json === true) {
      const titles = await readTitles(store, trees);
      for (const tree of trees) {
        const owner = await (await view.holder(tree.id)).owner();
        const title = titles.get(tree.id)?.title ?? null;
        host.out(jsonLine({ type: "tree", title, ...treeFields(tree, open.get(tree.id) ?? 0, owner) }));
      }
      return EXIT.done;
    }
    const all = await everyTree(store);
    if (trees.length === 0) {
      const rest = all.length === 0 ? "" : `; errand ps --all lists ${countLabel(all.length, "tree")} at rest`;
      host.err(options.all === true ? "the store is empty\n" : `no tree has anything to do${rest}\n`);
      return EXIT.done;
    }
    const { now } = await readClock(store, host.world);
    const short = shortIds(all.map(({ id }) => id));
    const titles = await readTitles(store, trees);
    const { columns } = host.screen?.size() ?? { columns: Number.MAX_SAFE_INTEGER };
    const titleWidth = Math.max(NARROWEST_TITLE, columns - BESIDE_TITLE);
    const rows = trees.map((tree) => [
      terminalLine(short.get(tree.id) ?? tree.id),
      fitWidth(titles.get(tree.id)?.words ?? "", titleWidth),
      treeWord(tree),
      String(open.get(tree.id) ?? 0),
      agoLabel(tree.updatedAt, now()),
      terminalLine(tree.agent),
    ]);
    const lines = tableLines([HEADINGS, ...rows]);
    host.out(`${lines.map((line) => fitWidth(line, columns)).join("\n")}\n`);
    for (const { id, unplaced } of trees)
      if (unplaced !== null) host.err(`${terminalLine(`${short.get(id) ?? id} is unplaced: ${unplaced}`)}\n`);
    for (const line of await ownerLines(view, trees)) host.err(`${line}\n`);
    return EXIT.done;
  });

/** Which processes work on the trees. */
async function ownerLines({ files }: View, trees: readonly TreeRecord[]): Promise<string[]> {
  if (files.some((file) => !file.trusted)) return ["the store is not trusted: it can be read, and nothing of it runs"];
  const owners = (await Promise.all(files.map((file) => file.owner()))).filter((owner) => owner !== null);
  if (owners.length > 0) return owners.map((owner) => terminalLine(`owned by ${owner}`));
  const waiting = trees.some((tree) => tree.status === "open" && (tree.busy || tree.wakeAt !== null));
  return [`no process owns the store${waiting ? "; errand resume goes on with what waits" : ""}`];
}

/** Trees that have something to do, and those that wait for a person. */
async function treesWithWork(store: Store): Promise<TreeRecord[]> {
  const asking = await store.trees({ asking: true, limit: Number.MAX_SAFE_INTEGER });
  const ids = new Set([...(await store.unfinished(Number.MAX_SAFE_INTEGER)), ...asking.map((tree) => tree.id)]);
  for (const { tree } of await store.pendingMail(Number.MAX_SAFE_INTEGER)) ids.add(tree);
  const trees = await Promise.all([...ids].map((id) => store.tree(id)));
  const quarantined = await store.trees({ status: "quarantined", limit: Number.MAX_SAFE_INTEGER });
  const found = new Map([...trees.filter((tree) => tree !== null), ...quarantined].map((tree) => [tree.id, tree]));
  return [...found.values()].toSorted((a, b) => b.createdAt - a.createdAt);
}

/** How many runs of each tree have not ended. */
async function openRuns(store: Store): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const state of ["queued", "running", "waiting", "needs_input"] as const) {
    const runs = await store.runs({ state, limit: Number.MAX_SAFE_INTEGER });
    for (const { tree } of runs) counts.set(tree, (counts.get(tree) ?? 0) + 1);
  }
  return counts;
}

export function treeFields(tree: TreeRecord, openRuns: number, owner: string | null): object {
  const { id, agent, kind, nextSeq, createdAt, updatedAt, unplaced } = tree;
  const rows = nextSeq - 1;
  return { id, agent, kind, state: treeWord(tree), openRuns, rows, createdAt, updatedAt, owner, unplaced };
}
