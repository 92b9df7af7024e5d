/**
 * `errand result RUN|TREE`: of a run, all its findings on standard output, and how it ended on standard error; of a
 * tree, its last answer. The exit code is 1 if a run did not end well.
 */

import type { Store, StoredRun, TreeRecord } from "../../../contracts/store.ts";
import type { HistoryItem } from "../../../view/history.ts";
import { answerOf } from "../../../view/channel-message.ts";
import { ErrandError } from "../../../errors.ts";
import { sha256 } from "../../../runtime/create-runtime.ts";
import { readHistory } from "../../../runtime/journals/read-history.ts";
import { runResult } from "../../../runtime/journals/run-result.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { agentText } from "../../display/agent-text.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { outcomeOf } from "../../running/tree-outcome.ts";
import { findId } from "../../store/find-id.ts";
import { requireJournal, withView } from "../../store/open-view.ts";
import { readTree } from "../../store/read-tree.ts";
import { endedWords, terminalLine } from "../../text/terminal-text.ts";
import { treeIdle } from "../../../view/tree-model.ts";

export const resultCommand: CommandAction = (call) =>
  withView(call.scope, async (store) => {
    const found = await findId(store, call.args[0] ?? "", call.scope);
    if (found.kind === "run") return printRun(store, found.run, call);
    await printTree(store, found.tree, call);
    return EXIT.done;
  });

async function printRun(store: Store, run: StoredRun, { options, host }: CommandCall): Promise<ExitCode> {
  const { id, tree, name, state, status, reason, report } = run;
  if (state !== "ended") {
    throw new ErrandError("run-open", `The run ${id} has not ended: it is ${state}`, {
      remedy: `Watch it with: errand logs -f ${tree}`,
    });
  }
  const { result, error } = await runResult(store, run);
  const { text: findings, artifacts, data = null } = result;
  if (options.json === true) {
    const rest = { status, reason, error, report, text: findings, artifacts, data };
    host.out(jsonLine({ type: "result", run: id, tree, name, ...rest }));
  } else {
    const how = endedWords(status ?? "unknown", reason, error);
    host.err(terminalLine(`${run.definition} "${name}" ended: ${how} (report: ${report ?? "none"})`) + "\n");
    host.out(`${agentText(findings, host)}\n`);
  }
  return status === "ok" ? EXIT.done : EXIT.failed;
}

async function printTree(store: Store, tree: TreeRecord, { options, host }: CommandCall): Promise<void> {
  requireJournal(tree);
  const model = await readTree(store, tree.id, tree.nextSeq - 1);
  if (!treeIdle(model)) {
    const asks = model.questions.size > 0;
    throw new ErrandError("run-open", `The tree ${tree.id} is not at rest yet, so that it has no answer`, {
      remedy: asks ? "See what it asks you with: errand answer" : `Watch it with: errand logs -f ${tree.id}`,
    });
  }
  const { problem } = outcomeOf(model);
  // Null: the root never had a turn.
  if (problem !== null && model.agents.get(0)?.outcome !== null) throw problem.thrown;
  const text = lastAnswer(await readHistory(store, tree.id, 0, sha256));
  if (options.json === true) {
    const rest = { status: "ok", reason: null, error: null, report: null, text, artifacts: [], data: null };
    host.out(jsonLine({ type: "result", run: null, tree: tree.id, name: tree.agent, ...rest }));
  } else if (text === null) host.err("the agent has said nothing\n");
  else host.out(`${agentText(text, host)}\n`);
}

/** The answer to the user's last message, as `run` prints it (rule D13). */
function lastAnswer(history: readonly HistoryItem[]): string | null {
  const asked = history.findLastIndex(({ from, kind }) => from === "user" && kind !== "permission");
  const sinceThen = history.slice(asked + 1);
  return answerOf(
    sinceThen.flatMap(({ kind, text }) => (kind === undefined || kind === "permission" ? [] : [{ kind, text }])),
  );
}
