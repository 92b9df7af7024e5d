/** `errand export TREE [--out FILE]`. Without `--out` the file itself goes to standard output, also with `--json`. */

import { sha256 } from "../../../runtime/create-runtime.ts";
import { exportLines } from "../../../runtime/journals/journal-file.ts";
import { countLabel } from "../../../view/amounts.ts";
import type { CommandAction } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { writePrivateFile } from "../../files/write-private-file.ts";
import { findId } from "../../store/find-id.ts";
import { requireJournal, withView } from "../../store/open-view.ts";

export const exportCommand: CommandAction = ({ args: [given = ""], options, scope, host }) =>
  withView(scope, async (store) => {
    const { tree } = await findId(store, given, scope);
    requireJournal(tree);
    const lines = exportLines(store, tree, sha256);
    if (options.out === undefined) {
      for await (const line of lines) {
        host.out(`${line}\n`);
        if (!(await host.drained())) break;
      }
      return EXIT.done;
    }
    const written = await writePrivateFile(options.out, lines, host.world);
    if (options.json === true) host.out(jsonLine({ type: "exported", tree: tree.id, file: options.out, ...written }));
    else {
      const size = `${countLabel(written.lines, "line")}, ${written.bytes} bytes`;
      host.err(`exported tree ${tree.id} to ${options.out}: ${size}\n`);
    }
    return EXIT.done;
  });
