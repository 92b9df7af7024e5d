/**
 * `errand logs TREE [-f]`: the journal for people. With `--json` a line is a row, with the facts as src/core/event.ts
 * names them.
 */

import type { Store, TreeRecord } from "../../../contracts/store.ts";
import { readEvent } from "../../store/read-tree.ts";
import type { CommandAction } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import type { Host } from "../../host.ts";
import { createEventLines } from "./event-lines.ts";
import { requireFormat } from "../../../runtime/trees/tree-errors.ts";
import { findId } from "../../store/find-id.ts";
import { withView } from "../../store/open-view.ts";
import { createColours } from "../../text/colours.ts";

const ROWS_AT_A_TIME = 100;
const POLL_MS = 200;

export const logsCommand: CommandAction = ({ args: [given = ""], options, scope, host }) =>
  withView(scope, async (store) => {
    const { tree } = await findId(store, given, scope);
    requireFormat(tree);
    const lines = createEventLines(createColours(host.colours.out));
    let seen = 0;

    /** False if the reader of the output has gone. */
    async function print(): Promise<boolean> {
      for (let page = await store.rows(tree.id, seen + 1, ROWS_AT_A_TIME); page.length > 0;) {
        for (const row of page) {
          const event = readEvent(tree.id, row);
          seen = row.seq;
          if (options.json === true) host.out(jsonLine({ type: "event", ...event }));
          else host.out(`${lines(event).join("\n")}\n`);
          if (!(await host.drained())) return false;
        }
        page = await store.rows(tree.id, seen + 1, ROWS_AT_A_TIME);
      }
      return true;
    }

    const read = await print();
    return options.follow === true && read ? follow(store, tree, print, host) : EXIT.done;
  });

/** Prints new rows until the tree is closed or expired, or until it is interrupted. */
async function follow(
  store: Store,
  tree: TreeRecord,
  print: () => Promise<boolean>,
  host: Host,
): Promise<typeof EXIT.done | typeof EXIT.interrupted> {
  const interrupted = Promise.withResolvers<"interrupted">();
  const off = host.onSignal("SIGINT", () => interrupted.resolve("interrupted"));
  try {
    for (;;) {
      const record = await store.tree(tree.id);
      // A tree that was just closed may have a last row.
      const read = await Promise.race([print(), interrupted.promise]);
      if (read === "interrupted") return EXIT.interrupted;
      if (!read || record === null || record.status === "closed" || record.status === "expired") return EXIT.done;
      const polled = new Promise<"polled">((resolve) => host.world.after(POLL_MS, () => resolve("polled")));
      if ((await Promise.race([polled, interrupted.promise])) === "interrupted") return EXIT.interrupted;
    }
  } finally {
    off();
  }
}
