/** `errand replay TREE|RUN|FILE|-`: proves a journal of a store or of a file. */

import { ErrandError } from "../../../errors.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import type { JsonLine } from "../../display/json-types.ts";
import { jsonLine, print } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { differenceLines } from "./difference-lines.ts";
import { fileChunks, fileThere, linesOf } from "../../files/file-lines.ts";
import { type Proof, proveFile, proveStored } from "../../../runtime/journals/prove-journal.ts";
import { findId } from "../../store/find-id.ts";
import { requireJournal, withView } from "../../store/open-view.ts";
import { storeName } from "../../../stores/store-url.ts";
import { countLabel, elapsedLabel } from "../../../view/amounts.ts";
import { createColours } from "../../text/colours.ts";
import { terminalLine } from "../../text/terminal-text.ts";

/** How often the progress is printed. */
const PROGRESS_MS = 1_000;
const ID_LIKE = /^(?:[0-9a-f-]{6,36}|last)(?:\/\d+)?$/i;
const ROWS_LISTED = 20;

export const replayCommand: CommandAction = async (call) => {
  const { host } = call;
  const [given = ""] = call.args;
  const began = host.world.monotonic();
  const { source, proof } = await prove(given, call);
  const elapsedMs = host.world.monotonic() - began;
  print(call, record(source, proof, elapsedMs), () => lines(source, proof, elapsedMs, call).join("\n"));
  return proof.good ? EXIT.done : EXIT.failed;
};

async function prove(given: string, call: CommandCall): Promise<{ source: string; proof: Proof }> {
  const { host, scope } = call;
  const onRow = progress(call);
  if (given === "-") return { source: "standard input", proof: await proveFile(linesOf(host.input()), onRow) };
  if (fileThere(given)) return { source: given, proof: await proveFile(linesOf(fileChunks(given)), onRow) };
  if (!ID_LIKE.test(given)) {
    throw new ErrandError("usage", `There is no file ${given}, and it is no id`, {
      remedy: "Name a tree, a run, an exported file, or - for standard input.",
    });
  }
  return withView(scope, async (store, view) => {
    const { tree } = await findId(store, given, scope);
    requireJournal(tree);
    return { source: storeName((await view.holder(tree.id)).path), proof: await proveStored(store, tree, onRow) };
  });
}

/** Prints the number of rows now and then. */
function progress({ options, host }: CommandCall): () => void {
  let rows = 0;
  let next = host.world.monotonic() + PROGRESS_MS;
  return () => {
    rows += 1;
    if (host.world.monotonic() < next) return;
    next = host.world.monotonic() + PROGRESS_MS;
    if (options.json === true) host.out(jsonLine({ type: "progress", rows }));
    else host.err(`proving: ${rows} rows so far\n`);
  };
}

function record(source: string, proof: Proof, elapsedMs: number): JsonLine {
  const { tree, agent, report, verdict, good, line, damage } = proof;
  const { rows, facts, agents, decided, erased, foreign, difference } = report;
  const counts = { rows, facts, agents, decided, erased, foreign };
  const place = { row: difference?.seq ?? null, line };
  const shown =
    difference !== null
      ? { ...place, what: difference.what, recorded: difference.recorded, expected: difference.expected }
      : damage !== null
        ? { ...place, what: "file", recorded: damage.problem, expected: "a line of an export" }
        : null;
  return { type: "replay", source, tree, agent, ...counts, verdict, ok: good, difference: shown, elapsedMs };
}

function lines(source: string, proof: Proof, elapsedMs: number, { host }: CommandCall): string[] {
  const { tree, agent, report, verdict, good, line } = proof;
  const colours = createColours(host.colours.out);
  const { rows, facts, agents, decided, erased, difference } = report;
  const counts = [countLabel(rows, "row"), countLabel(facts, "event"), countLabel(agents, "agent")].join(", ");
  const where = difference === null || line === null ? "" : `, line ${line} of ${source}`;
  return [
    terminalLine(`tree ${tree} (${agent}) from ${source}`),
    `${counts}; ${decided} decided again, in ${elapsedLabel(elapsedMs)}`,
    (good ? colours.green : colours.red)(terminalLine(`${verdict}${where}`)),
    ...(difference === null ? [] : differenceLines(difference)),
    ...(erased.length === 0 || !good ? [] : [`rows without their texts: ${listed(erased)}`]),
  ];
}

function listed(rows: readonly number[]): string {
  const more = rows.length > ROWS_LISTED ? `, and ${rows.length - ROWS_LISTED} more` : "";
  return `${rows.slice(0, ROWS_LISTED).join(", ")}${more}`;
}
