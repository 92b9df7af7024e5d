/**
 * Shows the questions of trees to the user, one at a time, and takes the lines that answer them. The caller has the
 * keyboard and passes on the lines that the user enters.
 *
 * Invariants:
 *  1. A line answers the question that is shown, and only when the user could read it (when-readable.ts).
 *  2. An answer allows only the shown change: it contains the mark of the file at that time.
 */

import type { StepKey } from "../../core/values/ids.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import type { GivenAnswer } from "../../runtime/errand.ts";
import type { Display } from "../display/display.ts";
import type { Host, Off } from "../host.ts";
import { createColours } from "../text/colours.ts";
import type { TreeModel } from "../../view/tree-model.ts";
import { choiceLines, readChoice } from "./answer-choices.ts";
import { type QuestionView, viewLines, viewQuestion } from "./question-view.ts";
import { whenReadable } from "./when-readable.ts";

export interface QuestionQueue {
  /** Call it whenever the tree has changed: it may have a new question, or one less. */
  update(model: TreeModel, display: Display): void;
  /** `early`: a question is shown that the user cannot have read yet. */
  readonly state: "none" | "early" | "open";
  /** Shows the typed part of a line. */
  showTyped(text: string): void;
  /** Takes a line that the user entered. Returns false if it does not answer the question. */
  enter(line: string): boolean;
  close(): void;
}

interface QuestionQueueParts {
  readonly host: Host;
  answer(question: string, answer: GivenAnswer): void;
  /** Keeps the rule among the user's own choices for this folder. */
  allowInProject(rule: PermissionRule, display: Display): void;
  /** Called with true when a question is shown, and with false when it is gone. */
  asking?(asking: boolean): void;
}

interface Current {
  readonly id: string;
  readonly model: TreeModel;
  readonly key: StepKey;
  readonly display: Display;
  /** Null until it is shown. */
  view: QuestionView | null;
  open: boolean;
  stopWaiting: Off;
}

export function createQuestionQueue({ host, answer, allowInProject, asking }: QuestionQueueParts): QuestionQueue {
  const trees = new Map<TreeModel, Display>();
  const colours = createColours(host.colours.out);
  /** Answered here; the trees may not know it yet. */
  const answered = new Set<string>();
  let current: Current | null = null;

  function dismiss(): void {
    if (current === null) return;
    current.stopWaiting();
    if (current.view !== null) {
      current.display.ask(null);
      asking?.(false);
    }
    current = null;
  }

  function next(): void {
    if (current !== null && current.model.questions.has(current.key)) return;
    dismiss();
    for (const [model, display] of trees) {
      for (const key of model.questions.keys()) {
        const id = `${model.tree}/${key}`;
        if (answered.has(id)) continue;
        current = { id, model, key, display, view: null, open: false, stopWaiting: () => undefined };
        void show(current);
        return;
      }
    }
  }

  async function show(shown: Current): Promise<void> {
    const { model, key, display } = shown;
    const question = model.questions.get(key);
    if (question === undefined) return;
    const asker = model.agents.get(question.agent);
    const who = asker === undefined || asker.run === null ? null : asker.name;
    const view = await viewQuestion({ who, tool: question.tool, input: question.input }, host.folder);
    if (current !== shown) return;
    shown.view = view;
    asking?.(true);
    display.ask({ text: viewLines(view, colours).join("\n"), choices: [] });
    shown.stopWaiting = whenReadable(host, () => {
      shown.open = true;
      display.ask({ text: null, choices: choiceLines(view) });
    });
  }

  return {
    get state() {
      if (current === null || current.view === null) return "none";
      return current.open ? "open" : "early";
    },
    update(model, display) {
      trees.set(model, display);
      next();
    },
    showTyped(typed) {
      if (current === null || current.view === null || !current.open) return;
      current.display.ask({ text: null, choices: choiceLines(current.view), typed });
    },
    enter(line) {
      if (current === null || current.view === null || !current.open) return false;
      const { id, view, display } = current;
      const choice = readChoice(line, view);
      if (choice === null) return false;
      if (choice.type === "details") {
        display.ask({ text: viewLines(view, colours, true).join("\n"), choices: choiceLines(view) });
        return true;
      }
      answered.add(id);
      dismiss();
      if (choice.type === "project" && view.rule !== null) allowInProject(view.rule, display);
      if (choice.type === "text") answer(id, { text: choice.text });
      else if (choice.type === "no") answer(id, { allow: false, note: choice.note });
      else answer(id, { allow: true, seen: view.seen, ...(choice.type === "once" ? {} : { always: true }) });
      next();
      return true;
    },
    close: dismiss,
  };
}
