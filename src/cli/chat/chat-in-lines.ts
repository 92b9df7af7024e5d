/**
 * A chat without a terminal: a line of standard input is a message, and what the agent answers once it and its runs are at rest goes to
 * standard output, before the next line is read. With `--json` the lines are those of `run`, with an `answer` or an `error` for each message.
 */

import { answerOf } from "../../core/journal/spoken.ts";
import type { CommandCall } from "../command.ts";
import type { Display, Said } from "../display/display.ts";
import { createJsonDisplay, jsonLine, problemRecord } from "../display/jsonl.ts";
import { type AnswerOutput, createAnswerOutput, createPlainDisplay } from "../display/plain.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { linesOf } from "../journal/file-lines.ts";
import { type Problem, problemOf, reportProblem } from "../problem.ts";
import { parkedProblem } from "../run/parked-problem.ts";
import { type Stop, watchStops } from "../run/stops.ts";
import { outcomeOf } from "../run/tree-outcome.ts";
import { treeAtRest, treeParked } from "../../view/tree-model.ts";
import type { ChatSetting } from "./chat-setting.ts";
import { openSession, type Session } from "./session.ts";

export async function chatInLines(call: CommandCall, setting: ChatSetting): Promise<ExitCode> {
  const { options, host } = call;
  const json = options.json === true;
  const output = createAnswerOutput(host);
  const display = json ? createJsonDisplay(host) : createPlainDisplay(host, { output, held: false });
  const rounds = createRounds(display, json ? null : output);
  const stops = watchStops(host, null);
  let session: Session | null = null;
  let code: ExitCode = EXIT.done;

  function tell(problem: Problem): void {
    if (json) host.out(jsonLine(problemRecord(problem)));
    reportProblem(problem, host, options.debug === true);
  }

  /** Sends the lines one after the other. */
  async function converse(opened: Session): Promise<null> {
    for await (const line of linesOf(host.input())) {
      if (line.trim() === "") continue;
      await rounds.answered(await opened.send(line.trim()));
      const { model } = opened.following;
      const { problem, code: failed } = treeParked(model)
        ? { problem: parkedProblem(model, opened.store), code: EXIT.failed }
        : outcomeOf(model);
      if (problem === null) continue;
      tell(problem);
      if (code === EXIT.done) code = failed;
      // Whatever came next would only wait behind the question.
      if (treeParked(model)) break;
    }
    // What an earlier process left may be under way still.
    if (setting.tree !== null) await rounds.rest();
    return null;
  }

  try {
    session = await openSession({
      call,
      setting,
      display: rounds.display,
      onFailure: stops.onFailure,
      allSaid: () => rounds.allSaid(),
      onTaken: rounds.taken,
    });
    rounds.follow(session);
    const stop = await Promise.race([converse(session), stops.first]);
    if (stop !== null) code = await stopped(stop, session, tell);
    await session.close();
    rounds.release();
    const { model, now } = session.following;
    display.end({ code, outcome: outcomeWord(code), problem: null, model, now: now() });
    return code;
  } finally {
    await session?.close();
    stops.close();
  }
}

async function stopped(stop: Stop, session: Session, tell: (problem: Problem) => void): Promise<ExitCode> {
  if (stop.type === "failure") {
    tell(problemOf(stop.error));
    return EXIT.failed;
  }
  if (stop.type === "signal" && stop.signal !== "SIGINT")
    return stop.signal === "SIGHUP" ? EXIT.hangup : EXIT.terminated;
  await session.cancel();
  return EXIT.interrupted;
}

function outcomeWord(code: ExitCode): "done" | "failed" | "interrupted" | "terminated" {
  if (code === EXIT.done) return "done";
  if (code === EXIT.interrupted) return "interrupted";
  return code === EXIT.hangup || code === EXIT.terminated ? "terminated" : "failed";
}

interface Rounds {
  /** The display, listened to. */
  readonly display: Display;
  follow(session: Session): void;
  taken(post: string): void;
  allSaid(): void;
  /** Resolves once the tree has come to rest, or waits for an answer, after it had taken this message. */
  answered(post: string): Promise<void>;
  /** Resolves once nothing is under way that could go on by itself. */
  rest(): Promise<void>;
  /** Shows what was held back of an answer that is not whole. */
  release(): void;
}

/**
 * From what is said to an answer for each time that the tree comes to rest. With `output` an answer is held back until then, so that a
 * program that talks with the agent reads it as one.
 */
function createRounds(display: Display, output: AnswerOutput | null): Rounds {
  let session: Session | null = null;
  let round: Said[] = [];
  let held: (() => void)[] = [];
  let turns: number | null = null;
  const taken = new Set<string>();
  const settled = new Set<string>();
  const waiting = new Map<string, () => void>();
  const resting = Promise.withResolvers<void>();

  function settle(): void {
    resting.resolve();
    for (const post of taken) {
      settled.add(post);
      waiting.get(post)?.();
    }
    taken.clear();
  }

  function release(): void {
    for (const show of held) show();
    held = [];
    output?.restart();
  }

  return {
    release,
    display: {
      ...display,
      said(said, final) {
        round.push(said);
        if (output === null || said.kind === "commentary") display.said(said, final);
        else held.push(() => display.said(said, final));
      },
    },
    follow(opened) {
      session = opened;
    },
    taken: (post) => void taken.add(post),
    allSaid() {
      const model = session?.following.model;
      const root = model?.agents.get(0);
      if (model === undefined || root === undefined) return;
      // A turn that was under way when the chat began is answered here.
      turns ??= treeAtRest(model) ? root.turns : root.turns - 1;
      if (!treeParked(model) && !treeAtRest(model)) return;
      release();
      if (treeParked(model)) return settle();
      if (root.turns > turns && root.outcome === "done") display.answer(answerOf(round));
      turns = root.turns;
      round = [];
      settle();
    },
    answered(post) {
      if (settled.has(post)) return Promise.resolve();
      return new Promise((resolve) => waiting.set(post, resolve));
    },
    rest: () => resting.promise,
  };
}
