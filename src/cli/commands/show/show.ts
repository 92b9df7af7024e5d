/** `errand show TREE|RUN`: a tree with its runs, or a run with its task and its result. */

import type { Store, StoredRun, TreeRecord } from "../../../contracts/store.ts";
import { readClock } from "../../../runtime/clock.ts";
import { runResult } from "../../../runtime/journals/run-result.ts";
import { formatKnown } from "../../../stores/formats.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { findId } from "../../store/find-id.ts";
import { type StoreFile, withView } from "../../store/open-view.ts";
import { shortIds } from "../../store/short-ids.ts";
import { readTitle } from "../../store/titles.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { runLines } from "./run-lines.ts";
import { statusText, treeWord } from "../../store/state-words.ts";
import { readTree } from "../../store/read-tree.ts";
import { readRunTask } from "./run-task-text.ts";
import { agoLabel, costLabel, countLabel, dateLabel, elapsedLabel, tokensLabel } from "../../../view/amounts.ts";
import { createColours } from "../../text/colours.ts";
import { endedWords, errorWords, terminalLine, terminalText } from "../../text/terminal-text.ts";
import { treeFields } from "../ps/ps.ts";

export const showCommand: CommandAction = (call) =>
  withView(call.scope, async (store, view) => {
    const found = await findId(store, call.args[0] ?? "", call.scope);
    const lines =
      found.kind === "tree"
        ? await showTree(store, found.tree, await view.holder(found.tree.id), call)
        : await showRun(store, found.run, call);
    for (const line of lines) call.host.out(`${line}\n`);
    return EXIT.done;
  });

/** Prints the JSON lines, or returns the lines for people. */
async function showTree(
  store: Store,
  tree: TreeRecord,
  file: StoreFile,
  { options, host }: CommandCall,
): Promise<string[]> {
  const runs = await store.runs({ tree: tree.id, limit: Number.MAX_SAFE_INTEGER });
  const open = runs.filter((run) => run.state !== "ended").length;
  const { title, words } = await readTitle(store, tree);
  if (options.json === true) {
    host.out(jsonLine({ type: "tree", title, ...treeFields(tree, open, await file.owner()) }));
    for (const run of runs) host.out(jsonLine({ type: "run", ...run }));
    return [];
  }
  const now = (await readClock(store, host.world)).now();
  const failures = tree.failures > 0 ? `, failed ${countLabel(tree.failures, "time")}` : "";
  const sums = `${countLabel(runs.length, "run")}, ${open} open, ${tokensLabel(sum(runs, "tokens"))} tokens of runs`;
  const colours = createColours(host.colours.out);
  const short = shortIds((await everyTree(store)).map(({ id }) => id)).get(tree.id) ?? tree.id;
  return [
    colours.bold(words),
    `tree ${tree.id}`,
    terminalLine(`${tree.agent} (${tree.kind}), ${treeWord(tree)}${failures}`),
    `${countLabel(tree.nextSeq - 1, "row")}, ${sums}`,
    `created ${dateLabel(tree.createdAt)}, last activity ${agoLabel(tree.updatedAt, now)}`,
    ...(tree.status === "quarantined" ? [`release it with: errand resume ${tree.id}`] : []),
    "",
    ...runLines({ root: tree.agent, short, runs, now, colours, width: host.screen?.size().columns }),
    ...(await failureLines(store, tree, runs)),
  ];
}

/** Why the last turn of the root, and runs, did not end well. */
async function failureLines(store: Store, tree: TreeRecord, runs: readonly StoredRun[]): Promise<string[]> {
  const lines: string[] = [];
  const readable = tree.status !== "expired" && formatKnown(tree);
  const root = readable ? (await readTree(store, tree.id, tree.nextSeq - 1)).agents.get(0) : undefined;
  if (root?.outcome === "failed")
    lines.push(`the last turn of ${tree.agent}: ${endedWords("failed", root.reason, root.error)}`);
  for (const run of runs) {
    if (run.status === null || run.status === "ok") continue;
    const { error } = await runResult(store, run);
    if (error !== null) lines.push(`"${run.name}": ${endedWords(run.status, run.reason, error)}`);
  }
  return lines.length === 0 ? [] : ["", ...lines.map(terminalLine)];
}

function sum(runs: readonly StoredRun[], column: "tokens" | "cost"): number {
  return runs.reduce((total, run) => total + run[column], 0);
}

async function showRun(store: Store, run: StoredRun, { options, host }: CommandCall): Promise<string[]> {
  const asked = await readRunTask(store, run);
  const { result: left, error } = await runResult(store, run);
  const result = run.state === "ended" ? left.text : null;
  if (options.json === true) {
    host.out(jsonLine({ type: "run", ...run, ...asked, error, result }));
    return [];
  }
  const colours = createColours(host.colours.out);
  const now = (await readClock(store, host.world)).now();
  const elapsed = run.startedAt === null ? "not started" : elapsedLabel((run.endedAt ?? now) - run.startedAt);
  const ended = run.endedSeq === null ? "" : `, ended at row ${run.endedSeq}`;
  const cost = run.cost === 0 ? "" : `, ${costLabel(run.cost)}`;
  const section = (title: string, text: string): string[] => ["", colours.bold(title), terminalText(text).trimEnd()];
  return [
    `run ${run.id}`,
    `agent ${run.agent}`,
    `tree ${run.tree}, created at row ${run.createdSeq}${ended}`,
    terminalLine(`${run.definition} "${run.name}", ${run.mode}: ${statusText(run)}`),
    ...(error === null ? [] : [colours.red(`error: ${errorWords(error)}`)]),
    `report: ${run.report ?? "none yet"}${run.nudged ? ", nudged" : ""}; delivery: ${run.delivery}`,
    `${elapsed}, ${tokensLabel(run.tokens)} tokens${cost}`,
    ...section("Task", asked.task ?? "(its text is gone)"),
    ...(asked.context === null ? [] : section("Context", asked.context)),
    ...(asked.files.length === 0 ? [] : section("Files", asked.files.join("\n"))),
    ...section("Result", result ?? "(the run has not ended)"),
  ];
}
