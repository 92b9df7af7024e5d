/** `errand migrate --from FILE --to URL` and `errand migrate --finish`. */

import { JOURNAL_FORMAT } from "../../../core/journal/revision.ts";
import { ErrandError } from "../../../errors.ts";
import { finishUpgrade, migrateStore } from "../../../runtime/moving/migrate-store.ts";
import type { Move, Moved } from "../../../runtime/moving/move-store.ts";
import { postgresUrlIs, storeName } from "../../../stores/store-url.ts";
import { countLabel, elapsedLabel } from "../../../view/amounts.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { jsonLine, print } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { explainOwned, withView } from "../../store/open-view.ts";

/** How often the progress is printed. */
const PROGRESS_MS = 1_000;

export const migrateCommand: CommandAction = async (call) => {
  const { from, to, finish: finishes } = call.options;
  if (finishes === true && from === undefined && to === undefined) return finish(call);
  if (finishes === true || from === undefined || to === undefined) {
    throw new ErrandError("usage", "Give --from with --to, or --finish alone", {
      remedy: "errand migrate --from FILE --to postgres://user@host/database",
    });
  }
  return move(from, to, call);
};

async function move(from: string, to: string, call: CommandCall): Promise<ExitCode> {
  const { host } = call;
  requireEnds(from, to);
  const began = host.world.monotonic();
  const toName = storeName(to);
  const moved = await migrateStore({
    from,
    to,
    toName,
    world: host.world,
    onProgress: progress(call),
    onClocksDiffer(aheadMs) {
      const come = `${elapsedLabel(Math.abs(aheadMs))} ${aheadMs > 0 ? "earlier" : "later"}`;
      host.err(`the clock of the database is another one than that of the file: deadlines come ${come}\n`);
    },
  });
  const elapsedMs = host.world.monotonic() - began;
  print(call, { type: "migrated", from, to: toName, ...moved, elapsedMs }, () =>
    lines(from, toName, moved, elapsedMs).join("\n"),
  );
  return EXIT.done;
}

function requireEnds(from: string, to: string): void {
  const wrong = (message: string): ErrandError =>
    new ErrandError("usage", message, { remedy: "errand migrate --from FILE --to postgres://user@host/database" });
  if (from === to) throw wrong("--from and --to name the same store");
  if (postgresUrlIs(from)) throw wrong("A store moves from a file to a database, not out of one");
  if (from === "memory") throw wrong("A store in memory is gone with its process");
  if (!postgresUrlIs(to)) throw wrong("--to names no PostgreSQL database");
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

async function finish(call: CommandCall): Promise<ExitCode> {
  const stores = await withView(call.scope, (_store, { files }) =>
    Promise.all(files.map(async ({ path, store }) => ({ path, before: await store.format() }))),
  );
  for (const { path, before } of stores) {
    await finishUpgrade(path, before).catch((thrown: unknown) => {
      throw explainOwned(thrown);
    });
    print(call, { type: "format", store: storeName(path), before, format: JOURNAL_FORMAT }, () =>
      before === JOURNAL_FORMAT
        ? `nothing to do: new trees are written in format ${before}, the newest that this version knows`
        : `new trees are written in format ${JOURNAL_FORMAT} from now on; it was ${before}`,
    );
  }
  return EXIT.done;
}
