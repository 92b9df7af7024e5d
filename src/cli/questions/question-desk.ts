/**
 * Puts the questions of trees to the user, one at a time, and takes the lines that answer them. Whoever has the keyboard gives it those lines.
 *
 * Invariants:
 *  1. A line answers the question that is shown, and only once that could be read (answer-gate.ts).
 *  2. What is allowed is what was shown: the answer carries the mark of the file as it was then.
 */

import type { StepKey } from "../../core/values/ids.ts";
import type { PermissionRule } from "../../core/permissions/permissions.ts";
import type { GivenAnswer } from "../../runtime/errand.ts";
import type { Display } from "../display/display.ts";
import type { Host, Off } from "../host.ts";
import { createColours } from "../text/colours.ts";
import type { TreeModel } from "../../view/tree-model.ts";
import { openGate } from "./answer-gate.ts";
import { choiceLines, readChoice } from "./answer-words.ts";
import { type QuestionView, viewLines, viewQuestion } from "./question-view.ts";

export interface QuestionDesk {
  /** The tree may have a question, or one less: called whenever it has moved. */
  look(model: TreeModel, display: Display): void;
  /** `early`: a question is shown, and keys do not answer it yet. */
  readonly state: "none" | "early" | "open";
  /** What was typed of a line so far. */
  typing(text: string): void;
  /** A line that was typed while it was open. False: it is no answer. */
  take(line: string): boolean;
  close(): void;
}

interface DeskParts {
  readonly host: Host;
  answer(question: string, answer: GivenAnswer): void;
  /** Keeps the rule among the user's own choices for this folder. */
  allowInProject(rule: PermissionRule, display: Display): void;
  /** A question is shown now, or none any more. */
  changed?(asking: boolean): void;
}

interface Current {
  readonly id: string;
  readonly model: TreeModel;
  readonly key: StepKey;
  readonly display: Display;
  view: QuestionView | null;
  open: boolean;
  offGate: Off;
}

export function createQuestionDesk({ host, answer, allowInProject, changed }: DeskParts): QuestionDesk {
  const trees = new Map<TreeModel, Display>();
  const colours = createColours(host.colours.out);
  /** Answered here; the tree does not know it yet. */
  const answered = new Set<string>();
  let current: Current | null = null;

  function put(): void {
    if (current === null) return;
    current.offGate();
    if (current.view !== null) {
      current.display.ask(null);
      changed?.(false);
    }
    current = null;
  }

  function next(): void {
    if (current !== null && current.model.questions.has(current.key)) return;
    put();
    for (const [model, display] of trees) {
      for (const key of model.questions.keys()) {
        const id = `${model.tree}/${key}`;
        if (answered.has(id)) continue;
        current = { id, model, key, display, view: null, open: false, offGate: () => undefined };
        void show(current);
        return;
      }
    }
  }

  async function show(shown: Current): Promise<void> {
    const question = shown.model.questions.get(shown.key);
    if (question === undefined) return;
    const asker = shown.model.agents.get(question.agent);
    const who = asker === undefined || asker.run === null ? null : asker.name;
    const view = await viewQuestion({ who, tool: question.tool, input: question.input }, host.folder);
    if (current !== shown) return;
    shown.view = view;
    changed?.(true);
    shown.display.ask({ text: viewLines(view, colours).join("\n"), choices: [] });
    shown.offGate = openGate(host, () => {
      shown.open = true;
      shown.display.ask({ text: null, choices: choiceLines(view) });
    });
  }

  return {
    get state() {
      if (current === null || current.view === null) return "none";
      return current.open ? "open" : "early";
    },
    look(model, display) {
      trees.set(model, display);
      next();
    },
    typing(text) {
      if (current?.view !== null && current?.open === true)
        current.display.ask({ text: null, choices: choiceLines(current.view), typed: text });
    },
    take(line) {
      if (current === null || current.view === null || !current.open) return false;
      const { id, view, display } = current;
      const choice = readChoice(line, view);
      if (choice === null) return false;
      if (choice.type === "details") {
        display.ask({ text: viewLines(view, colours, true).join("\n"), choices: choiceLines(view) });
        return true;
      }
      answered.add(id);
      put();
      if (choice.type === "project" && view.rule !== null) allowInProject(view.rule, display);
      const always = choice.type === "conversation" || choice.type === "project" ? ({ always: true } as const) : {};
      answer(
        id,
        choice.type === "no" ? { allow: false, note: choice.note } : { allow: true, seen: view.seen, ...always },
      );
      next();
      return true;
    },
    close: put,
  };
}
