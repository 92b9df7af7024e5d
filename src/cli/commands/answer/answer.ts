/**
 * `errand answer [QUESTION] [yes|no|WORDS] [NOTE]`: lists the open questions, or answers one. `seen` is the mark of the
 * file that a call would change. An answer contains it, so that it allows only the change that was shown.
 */

import { choicesOf } from "../../../core/context/outside-texts.ts";
import { asStepKey, asTreeId } from "../../../core/values/ids.ts";
import { ErrandError } from "../../../errors.ts";
import { sha256 } from "../../../runtime/create-runtime.ts";
import { type OpenQuestion, openQuestions } from "../../../runtime/messages/open-questions.ts";
import type { PostInput } from "../../../runtime/messages/mail.ts";
import type { Store } from "../../../contracts/store.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { print } from "../../display/jsonl.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { differentAnswerPending } from "../../questions/pending-answers.ts";
import { deliverAsMail, newPostId } from "../../../runtime/messages/deliver.ts";
import { idFits, LAST, SHORTEST_PART } from "../../store/find-id.ts";
import { requireTrusted, type View, withView } from "../../store/open-view.ts";
import type { Answer } from "../../questions/answer-choices.ts";
import { askInTerminal } from "../../questions/ask-in-terminal.ts";
import { keepProjectRule } from "../../settings/project-rules.ts";
import { type QuestionView, viewLines, viewQuestion } from "../../questions/question-view.ts";
import { createColours } from "../../text/colours.ts";
import { databaseIs } from "../../store/scope.ts";

/** Digits of a mark that are printed. */
const MARK_LENGTH = 12;
const NO_COLOURS = createColours(null);

export const answerCommand: CommandAction = (call) =>
  withView(call.scope, async (store, view) => {
    const [given] = call.args;
    const open = await openQuestions(store, sha256);
    if (given === undefined) await list(open, call);
    else return answer(view, await questionOf(store, open, given), call);
    return EXIT.done;
  });

async function list(open: readonly OpenQuestion[], call: CommandCall): Promise<void> {
  const { options, host } = call;
  if (open.length === 0 && options.json !== true) return host.err("no question waits for an answer\n");
  const colours = createColours(host.colours.out);
  for (const question of open) {
    const view = await viewOf(question, call);
    const { seen = null, rule } = view;
    const changed = viewLines({ ...view, head: [] }, NO_COLOURS, true)
      .slice(1)
      .join("\n");
    const change = view.body.length === 0 ? null : changed;
    print(call, { type: "question", ...question, seen, rule, change }, () => {
      const next = seen === null ? [] : [`  errand answer ${question.id} yes --seen ${seen.slice(0, MARK_LENGTH)}`];
      return [question.id, ...viewLines(view, colours), ...next].join("\n");
    });
  }
}

/**
 * The question as the user sees it. The files of workers that share a database are not on this machine, so no change is
 * shown.
 */
function viewOf({ tool, input, who }: OpenQuestion, { scope, host }: CommandCall): Promise<QuestionView> {
  return viewQuestion({ who, tool, input }, databaseIs(scope) ? null : host.folder);
}

/** The open question that the user typed: its id or the beginning of it, with any part of the tree's id that fits. */
async function questionOf(store: Store, open: readonly OpenQuestion[], given: string): Promise<OpenQuestion> {
  const [part = "", key = ""] = given.toLowerCase().split("/");
  const [newest] = part === LAST ? await store.trees({ limit: 1 }) : [];
  const tree = newest?.id ?? part;
  const fitting = open.filter(({ id }) => id.startsWith(given));
  const found =
    fitting.length > 0
      ? fitting
      : open.filter(
          (one) =>
            tree.length >= SHORTEST_PART && idFits(one.tree, tree) && one.id.slice(one.tree.length + 1).startsWith(key),
        );
  const [first] = found;
  if (first === undefined) {
    throw new ErrandError("question-closed", `No question ${given} is open`, {
      remedy: "It was answered, or its turn has ended. The open ones: errand answer",
    });
  }
  if (found.length > 1 && first.id !== given) {
    throw new ErrandError("usage", `"${given}" fits ${found.length} open questions`, {
      remedy: `Write more of the id: ${found.map(({ id }) => id).join(", ")}`,
    });
  }
  return first;
}

function allowOf(word: string | undefined, given: string): boolean {
  const allow = { yes: true, y: true, no: false, n: false }[word?.toLowerCase() ?? ""];
  if (allow !== undefined) return allow;
  const problem = word === undefined ? "The answer is missing" : `The answer is yes or no, not "${word}"`;
  throw new ErrandError("usage", problem, {
    remedy: `errand answer ${given} yes, or: errand answer ${given} no "why not"`,
  });
}

function requireSeen({ id }: OpenQuestion, { seen = "" }: QuestionView, wanted: string): void {
  if (!/^[0-9a-f]{8,64}$/.test(wanted)) {
    throw new ErrandError("usage", `--seen takes a mark of a file, not "${wanted}"`, {
      remedy: "errand answer shows it with the question.",
    });
  }
  if (seen.startsWith(wanted)) return;
  throw new ErrandError("file-changed", `The file of question ${id} is not as it was when it was shown`, {
    remedy: "Look at the change as it would be now: errand answer",
  });
}

async function answer(view: View, question: OpenQuestion, call: CommandCall): Promise<ExitCode> {
  const { host } = call;
  const tree = asTreeId(question.tree);
  const key = asStepKey(question.id.slice(question.tree.length + 1));
  const file = await view.holder(tree);
  requireTrusted(file);
  const shown = await viewOf(question, call);
  const choice = await choiceOf(question, shown, call);
  if (choice === null) return EXIT.interrupted;
  const allow = choice.type !== "no";
  const always = choice.type === "conversation" || choice.type === "project" ? ({ always: true } as const) : {};
  const seen = allow && shown.seen !== undefined ? { seen: shown.seen } : {};
  const text = choice.type === "text" ? ({ text: true } as const) : {};
  const id = newPostId(host.world);
  const input: PostInput = { type: "answer-given", id, question: key, allow, ...seen, ...always, ...text };
  const words = choice.type === "text" ? choice.text : null;
  const note = choice.type === "no" ? choice.note : (words ?? "");
  requireChoice(question, words);
  const given = { tree, input, texts: [host.redactor.text(note)] };
  if (await differentAnswerPending(file.store, given)) throw answeredAlready(question);
  const { taken, rejected } = await deliverAsMail(file, given, host.world);
  // Of two answers that came at the same time the first one in the mail counts.
  if (rejected !== null || (!taken && (await differentAnswerPending(file.store, given))))
    throw answeredAlready(question);
  if (choice.type === "project" && shown.rule !== null) host.out(`${await keepProjectRule(host, shown.rule)}\n`);
  const next = taken ? `watch it with: errand logs -f ${tree}` : `go on with: errand resume ${tree}`;
  print(
    call,
    { type: "answered", id: question.id, tree, allow, taken },
    () => `${words === null ? (allow ? "allowed" : "refused") : "answered"}; ${next}`,
  );
  return EXIT.done;
}

/** What a child asks may have a list of answers. */
function requireChoice({ id, input }: OpenQuestion, words: string | null): void {
  const choices = words === null ? [] : choicesOf(input);
  if (words === null || choices.length === 0 || choices.includes(words)) return;
  throw new ErrandError("answer-unfit", `"${words}" is none of the answers that the question takes`, {
    remedy: `errand answer ${id} ${choices.map((choice) => JSON.stringify(choice)).join(" | ")}`,
  });
}

function answeredAlready({ id }: OpenQuestion): ErrandError {
  return new ErrandError("question-closed", `Question ${id} is not open any more`, {
    remedy: "It was answered otherwise, or its turn has ended. The open ones: errand answer",
  });
}

/** The answer of the arguments, or of the user in the terminal; null if the user left. */
function choiceOf(question: OpenQuestion, shown: QuestionView, call: CommandCall): Promise<Answer | null> {
  const { options, host } = call;
  const [given = "", word, note = ""] = call.args;
  if (word === undefined && options.json !== true && host.keys !== null && host.screen !== null)
    return askInTerminal(host, host.keys, shown);
  const words = shown.words === true && word !== undefined ? { type: "text" as const, text: word } : null;
  const allow = words === null ? allowOf(word, given) : true;
  if (allow && options.seen !== undefined) requireSeen(question, shown, options.seen);
  if (options.json !== true) host.out(`${viewLines(shown, createColours(host.colours.out)).join("\n")}\n`);
  if (words !== null) return Promise.resolve(words);
  return Promise.resolve(allow ? { type: "once" } : { type: "no", note });
}
