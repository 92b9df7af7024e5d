/** A chat at a keyboard: what keys and signals do, from the first to leaving. */

import { ErrandError } from "../../errors.ts";
import type { CommandCall } from "../command.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Key, Keys, Off, Screen } from "../host.ts";
import { type Problem, problemOf, reportProblem } from "../problem.ts";
import { createQuestionDesk } from "../questions/question-desk.ts";
import { keepProjectRule } from "../settings/project-rules.ts";
import { createColours } from "../text/colours.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { treeIdle } from "../../view/tree-model.ts";
import { HELP, readCommand } from "./chat-commands.ts";
import { createChatScreen } from "./chat-screen.ts";
import type { ChatSetting } from "./chat-setting.ts";
import { leavingLines } from "./leaving-lines.ts";
import { createLineEditor } from "./line-editor.ts";
import { openSession, type Session } from "./session.ts";

interface Leaving {
  readonly code: ExitCode;
  readonly problem: Problem | null;
}

interface Terminal {
  readonly screen: Screen;
  readonly keys: Keys;
}

export async function chatInTerminal(
  call: CommandCall,
  setting: ChatSetting,
  { screen, keys }: Terminal,
): Promise<ExitCode> {
  const { host, options } = call;
  const colours = createColours(host.colours.out);
  const left = Promise.withResolvers<Leaving>();
  const leave = (code: ExitCode, problem: Problem | null = null): void => left.resolve({ code, problem });
  const editor = createLineEditor();
  const shown = createChatScreen(host, screen, editor);
  let session: Session | null = null;
  let cancelling = false;
  const opened = Promise.withResolvers<Session>();
  /** Lines are taken one after the other. */
  let taking = Promise.resolve();
  // Before the prompt is seen: what is typed early is kept, and not taken by the terminal.
  let offKeys = keys.listenForEditing(pressed);

  const desk = createQuestionDesk({
    host,
    answer: (question, given) => void opened.promise.then((talk) => talk.answer(question, given)).catch(tell),
    allowInProject: (rule) => void keepProjectRule(host, rule).then((words) => shown.print([words])),
    changed: (asking) => (asking ? editor.putAside() : editor.bringBack()),
  });

  function tell(thrown: unknown): void {
    const { message, remedy } = problemOf(thrown);
    shown.print([colours.red(terminalLine(message)), ...(remedy === undefined ? [] : [terminalLine(remedy)])]);
  }

  function idle(): boolean {
    const model = session?.following.model;
    return model === undefined || model.tree === "" || treeIdle(model);
  }

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

  async function take(line: string, talk: Session): Promise<void> {
    const command = readCommand(line);
    shown.heard(line);
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
    // Too early to be meant for the question that is shown now.
    if (desk.state === "early") return;
    const line = editor.press(key);
    shown.typed();
    if (line === null) return;
    if (desk.take(line)) shown.heard(line);
    else taking = taking.then(async () => take(line, await opened.promise)).catch(tell);
  }

  const offs: Off[] = [
    host.onSignal("SIGINT", interrupted),
    host.onSignal("SIGTERM", () => leave(EXIT.terminated)),
    host.onSignal("SIGHUP", () => leave(EXIT.hangup)),
  ];
  try {
    session = await openSession({
      call,
      setting,
      display: {
        ...shown,
        changed(model, changes, now) {
          shown.changed(model, changes, now);
          desk.look(model, shown);
        },
      },
      onFailure: (error) => leave(EXIT.failed, problemOf(error)),
      onText: shown.saying,
    });
    shown.past(session.past);
    editor.remember(session.past.filter(({ from }) => from === "user").map(({ text }) => text));
    opened.resolve(session);
    offs.push(
      host.onSignal("SIGTSTP", () => {
        offKeys();
        shown.pause();
        host.suspend();
      }),
      host.onSignal("SIGCONT", () => {
        offKeys();
        offKeys = keys.listenForEditing(pressed);
        shown.goOn();
      }),
    );
    const { code, problem } = await left.promise;
    offKeys();
    desk.close();
    shown.close();
    const { model } = session.following;
    await session.close();
    for (const line of leavingLines(model, session.store)) host.out(`${line}\n`);
    if (problem !== null) reportProblem(problem, host, options.debug === true);
    return code;
  } finally {
    for (const off of offs) off();
    offKeys();
    desk.close();
    shown.close();
    await session?.close();
  }
}

async function cancelRun(given: string, { following: { model }, cancelRun }: Session): Promise<string> {
  const found = [...model.agents.values()].filter(
    ({ number, run }) => run !== null && (String(number) === given || (given.length >= 6 && run.id.startsWith(given))),
  );
  const [{ number, run } = { number: 0, run: null }] = found;
  if (run === null || found.length > 1) {
    throw new ErrandError("run-unknown", `"${given}" is ${run === null ? "no run" : "the beginning of several runs"}`, {
      remedy: "/runs lists the runs with their numbers.",
    });
  }
  return (await cancelRun(run.id)) ? `Run ${number} is cancelled.` : `Run ${number} had ended.`;
}
