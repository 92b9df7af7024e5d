/**
 * A chat without a terminal. Each line of standard input is a message; its answer is printed when the agent and its
 * runs are at rest, before the next line is read. With `--json` it prints the lines of `run`, with an `answer` or an
 * `error` for each message.
 */

import { answerOf } from "../../../view/channel-message.ts";
import type { CommandCall } from "../../command.ts";
import type { Display, UserMessage } from "../../display/display.ts";
import { createJsonDisplay, jsonLine, problemRecord } from "../../display/jsonl.ts";
import { createPlainDisplay } from "../../display/plain.ts";
import { EXIT, type ExitCode, signalExit } from "../../exit-code.ts";
import { linesOf } from "../../files/file-lines.ts";
import { type Problem, problemOf, reportProblem } from "../../problem.ts";
import { DONE, type Ended, outcomeOf, parkedProblem } from "../../running/tree-outcome.ts";
import { type Stop, watchStops } from "../../running/stops.ts";
import { terminalText } from "../../text/terminal-text.ts";
import { treeAtRest, treeParked, type TreeModel } from "../../../view/tree-model.ts";
import type { ChatTarget } from "./chat-target.ts";
import { openSession, type Session } from "./session.ts";

export async function chatInLines(call: CommandCall, target: ChatTarget): Promise<ExitCode> {
  const { options, host } = call;
  const json = options.json === true;
  const display = json
    ? { ...createJsonDisplay(host), flush: () => undefined }
    : createPlainDisplay(host, (text) => host.out(`${terminalText(text)}\n`), true);
  const rounds = createRounds(display, display.flush);
  const stops = watchStops(host, null);
  let session: Session | null = null;
  let ended: Ended = DONE;

  function report(problem: Problem): void {
    if (json) host.out(jsonLine(problemRecord(problem)));
    reportProblem(problem, host, options.debug === true);
  }

  /** Sends the lines one after the other. */
  async function converse(opened: Session): Promise<null> {
    const { model } = opened.following;
    for await (const line of linesOf(host.input())) {
      if (line.trim() === "") continue;
      const answered = rounds.next();
      await opened.send(line.trim());
      await answered;
      const parked = treeParked(model);
      const { problem, code } = parked
        ? { problem: parkedProblem(model, opened.store), code: EXIT.failed }
        : outcomeOf(model);
      if (problem === null) continue;
      report(problem);
      if (ended.code === EXIT.done) ended = { code, outcome: "failed", problem: null };
      // The next message would only wait behind the question.
      if (parked) break;
    }
    // Work that an earlier process left may still run.
    if (target.tree !== null) await rounds.first;
    return null;
  }

  try {
    session = await openSession({
      call,
      target,
      display: rounds.display,
      onFailure: stops.onFailure,
      onShown: rounds.shown,
      onTaken: rounds.taken,
    });
    const stop = await Promise.race([converse(session), stops.first]);
    if (stop?.type === "failure") report(problemOf(stop.error));
    if (stop?.type === "signal" && stop.signal === "SIGINT") await session.cancel();
    if (stop !== null) ended = endedBy(stop);
    await session.close();
    const { model, now } = session.following;
    display.end({ ...ended, model, now: now() });
    return ended.code;
  } finally {
    await session?.close();
    stops.close();
  }
}

function endedBy(stop: Stop): Ended {
  if (stop.type !== "signal") return { code: EXIT.failed, outcome: "failed", problem: null };
  const outcome = stop.signal === "SIGINT" ? "interrupted" : "terminated";
  return { code: signalExit(stop.signal), outcome, problem: null };
}

interface Rounds {
  /** The given display; what it is given is collected for the answer. */
  readonly display: Display;
  taken(): void;
  shown(model: TreeModel): void;
  /** Resolves when the tree, after taking another message, is at rest or waits for an answer. */
  next(): Promise<void>;
  /** Resolves when the tree is at rest, or waits for an answer, for the first time. */
  readonly first: Promise<void>;
}

/** Each time the tree becomes idle, the agent's messages since the last time are one answer. */
function createRounds(display: Display, flush: () => void): Rounds {
  let messages: UserMessage[] = [];
  /** Of the last turn that ended in this round. */
  let outcome: "done" | "failed" | "cancelled" | null = null;
  let taken = false;
  let next = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  return {
    display: {
      ...display,
      changed(model, changes, now) {
        const root = model.agents.get(0)?.id;
        for (const change of changes) if (change.type === "turn-ended" && change.agent === root) ({ outcome } = change);
        display.changed(model, changes, now);
      },
      message(message, final) {
        messages.push(message);
        display.message(message, final);
      },
    },
    taken: () => void (taken = true),
    shown(model) {
      const parked = treeParked(model);
      if (!parked && !treeAtRest(model)) return;
      if (outcome === "done" && !parked) display.answer(answerOf(messages));
      flush();
      messages = [];
      outcome = null;
      first.resolve();
      if (taken) next.resolve();
      taken = false;
    },
    next() {
      next = Promise.withResolvers();
      return next.promise;
    },
    first: first.promise,
  };
}
