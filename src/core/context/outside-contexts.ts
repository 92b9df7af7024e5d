/** How outside children enter the contexts: what they were given, what they do and ask, and what they are told. */

import { NO_WORDS } from "../reports/findings.ts";
import { type StepKey, stepKey } from "../values/ids.ts";
import { asText, type ContextHandlers, contextOf, type Fold } from "./fold.ts";
import type { OutsideMessage } from "./outside-texts.ts";
import type { RunTexts } from "./run-texts.ts";

function runOf({ contexts }: Fold, effect: StepKey): RunTexts | undefined {
  const agent = contexts.effects.get(effect)?.agent;
  return agent === undefined ? undefined : contexts.runs.get(agent);
}

export const outsideContexts = {
  "runner-started"({ contexts }, { agent, n }, _textAt, { seq }) {
    contexts.effects.set(stepKey(seq, n), { agent, call: null });
  },

  "runner-progressed"(fold, { effect, resumable }, textAt) {
    const outside = runOf(fold, effect)?.outside ?? null;
    const context = contextOf(fold, fold.contexts.effects.get(effect)?.agent);
    const text = asText(textAt(0));
    if (outside !== null && resumable === true) outside.token = asText(textAt(1));
    // If it makes no report, its last words are salvaged.
    if (context !== undefined && text !== "") context.earlierWords = { ...NO_WORDS, words: text };
  },

  "runner-asked"(fold, { effect, ask }, textAt) {
    runOf(fold, effect)?.outside?.asked.set(ask, textAt(0) ?? null);
  },

  "runner-ended"({ contexts }, { effect }) {
    contexts.effects.delete(effect);
  },

  "runner-message-sent"({ contexts }, { agent, n, kind, message, ask = "", declined, problem = 0 }, textAt, { seq }) {
    const told = (): OutsideMessage => {
      switch (kind) {
        case "answer":
          return { type: kind, question: ask, text: declined === true ? null : asText(textAt(0)) };
        case "steer":
          return { type: kind, text: (message === undefined ? null : contexts.messages.get(message)?.text) ?? "" };
        case "report-refused":
          return { type: kind, problem: asText(textAt(problem)) };
        case "report-accepted":
          return { type: kind };
      }
    };
    contexts.told.set(stepKey(seq, n), { agent, message: told() });
    if (kind === "answer") contexts.runs.get(agent)?.outside?.asked.delete(ask);
  },

  "runner-told"({ contexts }, { effect }) {
    contexts.told.delete(effect);
  },
} satisfies ContextHandlers;
