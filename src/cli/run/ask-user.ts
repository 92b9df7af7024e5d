/** Puts the questions of trees to the user at the keyboard, one at a time, and brings the answers back. */

import { type StepKey } from "../../core/ids.ts";
import { questionWords } from "../../core/questions/question-text.ts";
import type { Display } from "../display/display.ts";
import type { Keys, Off } from "../host.ts";
import type { TreeModel } from "../tree/tree-model.ts";

export interface Asker {
  /** The tree may have a question, or one less: called whenever it has moved. */
  look(model: TreeModel, display: Display): void;
  close(): void;
}

interface Asked {
  readonly model: TreeModel;
  readonly key: StepKey;
  readonly display: Display;
  readonly off: Off;
}

export function createAsker(keys: Keys, answer: (question: string, allow: boolean) => void): Asker {
  const trees = new Map<TreeModel, Display>();
  /** Answered here; the tree does not know it yet. */
  const answered = new Set<string>();
  let asked: Asked | null = null;

  function put(): void {
    asked?.off();
    asked?.display.ask(null);
    asked = null;
  }

  function next(): void {
    if (asked !== null && asked.model.questions.has(asked.key)) return;
    if (asked !== null) put();
    for (const [model, display] of trees) {
      for (const [key, { agent, tool, input }] of model.questions) {
        const id = `${model.tree}/${key}`;
        if (answered.has(id)) continue;
        const asker = model.agents.get(agent);
        const off = keys.listen((typed) => {
          const allow = { y: true, n: false }[typed.toLowerCase()];
          if (allow === undefined) return;
          answered.add(id);
          put();
          answer(id, allow);
          next();
        });
        asked = { model, key, display, off };
        display.ask(questionWords(asker === undefined || asker.run === null ? null : asker.name, tool, input));
        return;
      }
    }
  }

  return {
    look(model, display) {
      trees.set(model, display);
      next();
    },
    close: put,
  };
}
