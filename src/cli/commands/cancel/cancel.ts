/** `errand cancel TREE|RUN`. */

import type { Store, StoredRun } from "../../../contracts/store.ts";
import { ErrandError } from "../../../errors.ts";
import type { PostInput } from "../../../runtime/messages/mail.ts";
import { workspaceTools } from "../../../tools/index.ts";
import type { CommandAction } from "../../command.ts";
import { print } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { deliver, newPostId } from "../../../runtime/messages/deliver.ts";
import { findId, type Found } from "../../store/find-id.ts";
import { readTitle } from "../../store/titles.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { requireTrusted, withView } from "../../store/open-view.ts";
import { countLabel } from "../../../view/amounts.ts";

export const cancelCommand: CommandAction = (call) =>
  withView(call.scope, async (store, view) => {
    const { args, scope, host } = call;
    const [given = ""] = args;
    const found = await findId(store, given, scope);
    const file = await view.holder(found.tree.id);
    requireTrusted(file);
    const open = await openRuns(store, found);
    if (found.kind === "run" && found.run.state === "ended") throw ended(found.run);
    if (found.kind === "tree" && open.length === 0 && !found.tree.busy) throw resting(found.tree.id);
    const tree = found.tree.id;
    const run = found.kind === "run" ? found.run : null;
    const input: PostInput = { type: "cancel-asked", id: newPostId(host.world), run: run?.number ?? null };
    const { by, taken, rejected } = await deliver(
      file,
      {
        tree,
        input,
        texts: [],
        async asOwner(errand) {
          if (run !== null) return (await errand.cancel(run.id)) ? null : "the run has ended";
          await (await errand.agent(tree)).cancel();
          return null;
        },
      },
      { world: host.world, tools: workspaceTools({ world: host.world, environment: {} }) },
    );
    if (rejected !== null) throw run === null ? resting(tree) : ended(run);
    const left = taken ? await openRuns(store, found) : open;
    const runs = Math.max(0, open.length - left.length);
    const { words } = await readTitle(store, found.tree);
    const what = run === null ? `tree ${tree} "${words}"` : `run ${run.id} "${terminalLine(run.name)}"`;
    print(call, { type: "cancelled", tree, run: run?.id ?? null, runs, by, taken }, () =>
      taken ? `cancelled ${what}: ${countLabel(runs, "run")} ended` : `asked the owner to cancel ${what}`,
    );
    return EXIT.done;
  });

/** The runs that have not ended: all of a tree, or a run and all below it. */
async function openRuns(store: Store, found: Found): Promise<readonly StoredRun[]> {
  const runs = await store.runs({ tree: found.tree.id, limit: Number.MAX_SAFE_INTEGER });
  const within = new Set(found.kind === "tree" ? [0] : []);
  return runs.filter((run) => {
    const inside = within.has(run.parent) || (found.kind === "run" && run.number === found.run.number);
    if (inside) within.add(run.number);
    return inside && run.state !== "ended";
  });
}

function ended(run: StoredRun): ErrandError {
  const message = `There is nothing to cancel: the run ${run.id} has ended (${run.status ?? "now"})`;
  return new ErrandError("nothing-to-cancel", message, { remedy: `Read what it found with: errand result ${run.id}` });
}

function resting(tree: string): ErrandError {
  return new ErrandError("nothing-to-cancel", `There is nothing to cancel: the tree ${tree} is at rest`, {
    remedy: "errand ps lists the trees that have something to do.",
  });
}
