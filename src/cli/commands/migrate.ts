/**
 * `errand migrate --from FILE --to URL` and `errand migrate --finish`. With `--json` a `{ type: "progress", pass, trees, of, rows }` now and then,
 * and at the end `{ type: "migrated", from, to, trees, rows, mail, already, elapsedMs }` or `{ type: "format", store, before, format }`.
 */

import { JOURNAL_FORMAT } from "../../core/journal/revision.ts";
import { ErrandError } from "../../errors.ts";
import { readClock } from "../../runtime/clock.ts";
import { openStoreAt } from "../../runtime/create-runtime.ts";
import { storeName } from "../../stores/store-url.ts";
import type { CommandAction, CommandCall } from "../command.ts";
import { jsonLine } from "../display/jsonl.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { type Move, type Moved, moveStore } from "../migrate/move-store.ts";
import { requireEnds, withEnds } from "../migrate/open-move.ts";
import { explainOwned, withView } from "../store/open-view.ts";
import { countLabel, elapsedLabel } from "../../view/amounts.ts";

/** Work that takes longer says how far it is, this often. */
const PROGRESS_MS = 1_000;
/** Clocks that differ by less move no deadline that anybody would notice. */
const CLOCKS_DIFFER_MS = 60_000;

export const migrateCommand: CommandAction = async (call) => {
  const { from, to, finish } = call.options;
  if (finish === true && from === undefined && to === undefined) return finishUpgrade(call);
  if (finish === true || from === undefined || to === undefined) {
    throw new ErrandError("usage", "Give --from with --to, or --finish alone", {
      remedy: "errand migrate --from FILE --to postgres://user@host/database",
    });
  }
  return move(from, to, call);
};

async function move(from: string, to: string, call: CommandCall): Promise<ExitCode> {
  const { options, host } = call;
  requireEnds(from, to);
  const began = host.world.monotonic();
  const name = storeName(to);
  const moved = await withEnds(from, to, host.world, async (source, target) => {
    const ahead = (target.shared?.now() ?? 0) - (await readClock(source, host.world)).now();
    if (Math.abs(ahead) >= CLOCKS_DIFFER_MS && source.movedTo() === null) {
      const come = `${elapsedLabel(Math.abs(ahead))} ${ahead > 0 ? "earlier" : "later"}`;
      host.err(`the clock of the database is another one than that of the file: deadlines come ${come}\n`);
    }
    return moveStore({ source, target, to: name, onProgress: progress(call) });
  });
  const elapsedMs = host.world.monotonic() - began;
  if (options.json === true) host.out(jsonLine({ type: "migrated", from, to: name, ...moved, elapsedMs }));
  else host.out(`${lines(from, name, moved, elapsedMs).join("\n")}\n`);
  return EXIT.done;
}

function progress({ options, host }: CommandCall): Move["onProgress"] {
  let next = host.world.monotonic() + PROGRESS_MS;
  return (now) => {
    if (host.world.monotonic() < next) return;
    next = host.world.monotonic() + PROGRESS_MS;
    if (options.json === true) host.out(jsonLine({ type: "progress", ...now }));
    else
      host.err(`${now.pass}: ${now.trees} of ${countLabel(now.of, "tree")}, ${countLabel(now.rows, "row")} so far\n`);
  };
}

function lines(from: string, to: string, { trees, rows, mail, already }: Moved, elapsedMs: number): string[] {
  const counts = [countLabel(trees, "tree"), countLabel(rows, "row")].join(", ");
  if (already) return [`nothing to do: all of ${from} is in ${to} already (${counts})`];
  return [
    `moved ${from} to ${to}: ${counts}, ${countLabel(mail, "message")} not yet taken, in ${elapsedLabel(elapsedMs)}`,
    "every row was compared, and every journal proven on both sides",
    `${from} is kept and says where its trees went; go on with --store ${to} or ERRAND_DATABASE_URL`,
  ];
}

async function finishUpgrade({ options, scope, host }: CommandCall): Promise<ExitCode> {
  const stores = await withView(scope, (_store, { files }) =>
    Promise.all(files.map(async ({ path, store }) => ({ path, before: await store.format() }))),
  );
  for (const { path, before } of stores) {
    if (before > JOURNAL_FORMAT) {
      throw new ErrandError(
        "store-too-new",
        `New trees are written in format ${before}; this version of Errand knows formats up to ${JOURNAL_FORMAT}.`,
        { remedy: "Update Errand." },
      );
    }
    if (before < JOURNAL_FORMAT) await raiseFormat(path);
    const now = { store: storeName(path), before, format: JOURNAL_FORMAT };
    if (options.json === true) host.out(jsonLine({ type: "format", ...now }));
    else if (before === JOURNAL_FORMAT)
      host.out(`nothing to do: new trees are written in format ${before}, the newest that this version knows\n`);
    else host.out(`new trees are written in format ${JOURNAL_FORMAT} from now on; it was ${before}\n`);
  }
  return EXIT.done;
}

async function raiseFormat(path: string): Promise<void> {
  try {
    const store = await openStoreAt(path, "own");
    try {
      await store.raiseFormat(JOURNAL_FORMAT);
    } finally {
      await store.close();
    }
  } catch (thrown) {
    throw explainOwned(thrown);
  }
}
