/**
 * `errand result RUN`: the whole findings on standard output, and how the run ended on standard error. With `--json` one object:
 * `{ type: "result", run, tree, name, status, reason, report, text, artifacts, data }`.
 */

import { ErrandError } from "../../errors.ts";
import { runResult } from "../../runtime/run-result.ts";
import type { CommandAction } from "../command.ts";
import { jsonLine } from "../display/jsonl.ts";
import { EXIT } from "../exit-code.ts";
import { findRun } from "../store/find-id.ts";
import { withView } from "../store/open-view.ts";
import { terminalLine, terminalText } from "../text/terminal-text.ts";

export const resultCommand: CommandAction = ({ args: [given = ""], options, host }) =>
  withView(options.store, async (store) => {
    const run = await findRun(store, given, options.store);
    const { id, tree, name, state, status, reason, report } = run;
    if (state !== "ended") {
      throw new ErrandError("run-open", `The run ${id} has not ended: it is ${state}`, {
        remedy: `Watch it with: errand logs -f ${tree}`,
      });
    }
    const { findings, artifacts, data = null } = await runResult(store, run);
    if (options.json === true) {
      const rest = { status, reason, report, text: findings, artifacts, data };
      host.out(jsonLine({ type: "result", run: id, tree, name, ...rest }));
      return EXIT.done;
    }
    const how = reason === null ? `${status}` : `${status}, ${reason}`;
    host.err(terminalLine(`${run.definition} "${name}" ended: ${how} (report: ${report ?? "none"})`) + "\n");
    host.out(`${terminalText(findings).trimEnd()}\n`);
    return EXIT.done;
  });
