/** A chat at a keyboard: what keys, lines and signals do, until the user leaves. */

import { ErrandError } from "../../../errors.ts";
import type { CommandCall } from "../../command.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import type { Key, Keys, Off, Screen } from "../../host.ts";
import { type Problem, problemOf, reportProblem } from "../../problem.ts";
import { createQuestionQueue } from "../../questions/question-queue.ts";
import { keepProjectRule } from "../../settings/project-rules.ts";
import { countLabel } from "../../../view/amounts.ts";
import { createColours } from "../../text/colours.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { openRuns, treeIdle, type TreeModel } from "../../../view/tree-model.ts";
import { idFits, SHORTEST_PART } from "../../store/find-id.ts";
import { HELP, readCommand } from "./chat-commands.ts";
import { createChatScreen } from "./chat-screen.ts";
import type { ChatTarget } from "./chat-target.ts";
import { createLineEditor } from "./line-editor.ts";
import { openSession, type Session } from "./session.ts";

export async function chatInTerminal(
  call: CommandCall,
  target: ChatTarget,
  { screen, keys }: { readonly screen: Screen; readonly keys: Keys },
): Promise<ExitCode> {
  const { host, options } = call;
  const colours = createColours(host.colours.out);
  const left = Promise.withResolvers<{ readonly code: ExitCode; readonly problem: Problem | null }>();
  const leave = (code: ExitCode, problem: Problem | null = null): void => left.resolve({ code, problem });
  const opened = Promise.withResolvers<Session>();
  let session: Session | null = null;
  let cancelling = false;
  /** Lines are handled one after the other. */
  let handled = Promise.resolve();

  const editor = createLineEditor();
  const typing = {
    paused: () => stopListening(),
    resumed() {
      stopListening();
      stopListening = keys.listenForEditing(pressed);
    },
  };
  const shown = createChatScreen({ host, screen, editor, typing });
  // Listens before the prompt is shown, so that the terminal does not echo early typing.
  let stopListening = keys.listenForEditing(pressed);

  const questions = createQuestionQueue({
    host,
    answer: (question, given) => void opened.promise.then((talk) => talk.answer(question, given)).catch(printProblem),
    allowInProject: (rule) => void keepProjectRule(host, rule).then((words) => shown.print([words])),
    asking: (asking) => (asking ? editor.putAside() : editor.bringBack()),
  });

  function printProblem(thrown: unknown): void {
    const { message, remedy } = problemOf(thrown);
    shown.print([colours.red(terminalLine(message)), ...(remedy === undefined ? [] : [terminalLine(remedy)])]);
  }

  function idle(): boolean {
    const model = session?.following.model;
    return model === undefined || model.tree === "" || treeIdle(model);
  }

  /** Ctrl-C cancels the current work, then clears the line, then leaves. */
  function interrupted(): void {
    if (cancelling) return host.leave(EXIT.interrupted);
    if (!idle() && session !== null) {
      cancelling = true;
      shown.notice("cancelling; Ctrl-C again leaves at once");
      void session.cancel().then(
        () => void (cancelling = false),
        (thrown: unknown) => leave(EXIT.failed, problemOf(thrown)),
      );
    } else if (editor.text === "") leave(EXIT.interrupted);
    else {
      editor.clear();
      shown.typed();
    }
  }

  async function handle(line: string, talk: Session): Promise<void> {
    const command = readCommand(line);
    shown.sent(line);
    if (command === null) await talk.send(line);
    else if (command.name === null) shown.print(["There is no such command; /help lists those that there are."]);
    else if (command.name === "help") shown.print(HELP);
    else if (command.name === "quit") leave(EXIT.done);
    else if (command.name === "runs" && talk.following.model.agents.size > 1) shown.printTree();
    else if (command.name === "runs") shown.print(["There are no runs yet."]);
    else shown.print([await cancelRun(command.argument, talk)]);
  }

  function pressed(key: Key): void {
    if (key.ctrl && key.name === "d" && editor.text === "") return leave(EXIT.done);
    // The user cannot have read the question yet.
    if (questions.state === "early") return;
    const line = editor.press(key);
    shown.typed();
    if (line === null) return;
    if (questions.enter(line)) shown.sent(line);
    else handled = handled.then(async () => handle(line, await opened.promise)).catch(printProblem);
  }

  const offs: Off[] = [
    host.onSignal("SIGINT", interrupted),
    host.onSignal("SIGTERM", () => leave(EXIT.terminated)),
    host.onSignal("SIGHUP", () => leave(EXIT.hangup)),
  ];
  const release = (): void => {
    stopListening();
    questions.close();
    shown.close();
  };
  try {
    session = await openSession({
      call,
      target,
      display: {
        ...shown,
        changed(model, changes, now) {
          shown.changed(model, changes, now);
          questions.update(model, shown);
        },
      },
      onFailure: (error) => leave(EXIT.failed, problemOf(error)),
    });
    shown.printHistory(session.past);
    editor.remember(session.past.filter(({ from }) => from === "user").map(({ text }) => text));
    opened.resolve(session);
    const { code, problem } = await left.promise;
    release();
    const { model } = session.following;
    await session.close();
    for (const line of leavingLines(model, session.store)) host.out(`${line}\n`);
    if (problem !== null) reportProblem(problem, host, options.debug === true);
    return code;
  } finally {
    for (const off of offs) off();
    release();
    await session?.close();
  }
}

/** `given`: the number of a run, or the beginning or the end of its id. Returns what to tell the user. */
async function cancelRun(given: string, { following: { model }, cancelRun }: Session): Promise<string> {
  const found = [...model.agents.values()].filter(
    ({ number, run }) =>
      run !== null && (String(number) === given || (given.length >= SHORTEST_PART && idFits(run.id, given))),
  );
  const [{ number, run } = { number: 0, run: null }] = found;
  if (run === null || found.length > 1) {
    throw new ErrandError(
      "run-unknown",
      `"${given}" is ${run === null ? "no run" : "a part of the ids of several runs"}`,
      {
        remedy: "/runs lists the runs with their numbers.",
      },
    );
  }
  return (await cancelRun(run.id)) ? `Run ${number} is cancelled.` : `Run ${number} had ended.`;
}

/** Lines about stored and open work, and how to come back. */
function leavingLines(model: TreeModel, store: string): string[] {
  if (model.tree === "") return [];
  if (store === "memory") return ["the conversation is gone, because the store was in memory"];
  const back = `the conversation is kept; come back with: errand chat ${model.tree}`;
  if (treeIdle(model)) return [back];
  const open = openRuns(model).length;
  const what = open === 0 ? "a turn" : countLabel(open, "run");
  const [was, waits] = open > 1 ? ["were", "wait"] : ["was", "waits"];
  return [`${what} ${was} under way and ${waits} in the store; errand resume goes on, and so does errand chat`, back];
}
