/**
 * `errand trust --store PATH`: shows what is in a store from elsewhere, and trusts it. With `--json` one object:
 * `{ type: "trusted-store" | "revoked-store", path, id, trees, unfinished, questions, mail }`; of a revocation without
 * the last four.
 *
 * Invariant: the user trusts exactly the shown contents. A file that has changed since is refused.
 */

import { ErrandError } from "../../../errors.ts";
import { storeTrustStatus, thisProcess, trustParts } from "../../../runtime/create-runtime.ts";
import { canonicalPath } from "../../../stores/sqlite/open-database.ts";
import { postgresUrlIs } from "../../../stores/store-url.ts";
import { openForeignStore } from "../../../stores/trust/foreign-store.ts";
import { registerOf } from "../../../stores/trust/trust-status.ts";
import { trustStore } from "../../../stores/trust/trust-store.ts";
import type { CommandCall } from "../../command.ts";
import { print } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import type { Host, Keys } from "../../host.ts";
import { explainForeign, requireFile } from "../../store/open-view.ts";
import { type StoreContents, contentLines, storeContents } from "./store-contents.ts";
import { terminalLine } from "../../text/terminal-text.ts";

export async function storeTrust(given: string, call: CommandCall): Promise<ExitCode> {
  requireFile(given);
  if (postgresUrlIs(given)) {
    throw new ErrandError("usage", "A database is trusted by naming it with --store or ERRAND_DATABASE_URL", {
      remedy: "Who can write a database can act on everybody who works with it: name only your own.",
    });
  }
  const path = canonicalPath(given);
  if (call.options.revoke === true) return revoke(path, call);
  const found = storeTrustStatus(path);
  if (found.status === "new") {
    throw new ErrandError("store-unreadable", `There is no store ${given}`, { remedy: "Name the file of a store." });
  }
  if (found.status === "trusted" && found.entry !== null) {
    const { id } = found;
    print(call, { type: "trusted-store", path, id }, () => terminalLine(`already trusted: ${path} (id ${id})`));
    return EXIT.done;
  }
  return trust(path, call);
}

async function trust(path: string, call: CommandCall): Promise<ExitCode> {
  const { options, host } = call;
  const json = options.json === true;
  const foreign = openForeignStore(path);
  let contents: StoreContents;
  try {
    contents = await storeContents(foreign);
  } catch (thrown) {
    throw explainForeign(thrown);
  } finally {
    await foreign.close();
  }
  if (!json) for (const line of contentLines(path, contents)) host.out(`${line}\n`);
  if (!json && host.keys !== null && !(await agreed(host, host.keys))) {
    host.err("not trusted\n");
    return EXIT.failed;
  }
  const id = await trustStore({ path, digest: foreign.digest, owner: thisProcess() }, trustParts());
  const text = `trusted: ${path} (id ${id}); go on with it: errand resume --store ${path}`;
  print(call, { type: "trusted-store", path, id, ...contents }, () => terminalLine(text));
  return EXIT.done;
}

function revoke(path: string, call: CommandCall): ExitCode {
  const register = registerOf(trustParts());
  const id = register.find(path)?.id ?? null;
  register.remove(path);
  const text = id === null ? `${path} was not trusted` : `no longer trusted: ${path}`;
  print(call, { type: "revoked-store", path, id }, () => terminalLine(text));
  return EXIT.done;
}

/** Asks the user; any key except y is no. */
function agreed(host: Host, keys: Keys): Promise<boolean> {
  host.err("May it run from now on? y or n ");
  return new Promise((resolve) => {
    const off = keys.listen((typed) => {
      off();
      host.err("\n");
      resolve(typed.toLowerCase() === "y");
    });
  });
}
