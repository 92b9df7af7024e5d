/**
 * The real program, with processes of its demonstration that do wrong. FAULT says how:
 *
 * - `untold`: when the second process has ended, the journal says of the last run no longer that its parent was told of
 *   it;
 * - `lost`: the second process cannot begin;
 * - `early`: the first process ends by itself before it was killed.
 */

import { DatabaseSync } from "node:sqlite";
import { createProcessHost } from "../../../src/cli/process-host.ts";
import { runProgram } from "../../../src/cli/program.ts";

const fault = process.env["FAULT"];
const [, , command, ...args] = process.argv;
const host = createProcessHost();

/** The runs that the announcement places stand in their row as `1,2,3,4`. */
function forgetLastRun(): void {
  const db = new DatabaseSync(args[args.indexOf("--store") + 1] ?? "");
  db.exec("update journal set head = replace(head, '1,2,3,4', '1,2,3')");
  db.close();
}

if (command === "resume" && fault === "lost") {
  host.err("error: the disk is gone (store-failed)\n");
  host.end(1);
} else if (command === "run" && fault === "early") host.end(0);
else {
  const code = await runProgram(process.argv.slice(2), host);
  if (command === "resume" && fault === "untold") forgetLastRun();
  host.end(code);
}
