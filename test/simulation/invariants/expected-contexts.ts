/** I20 as seen from outside: folds committed rows with the kernel's own fold, and says what each model call must have been sent. */

import { apply } from "../../../src/core/apply.ts";
import { contextsEmpty } from "../../../src/core/context/contexts.ts";
import { observe } from "../../../src/core/context/observe.ts";
import { contextRequest } from "../../../src/core/context/request.ts";
import type { DefinitionText } from "../../../src/core/definition.ts";
import type { Fact } from "../../../src/core/event.ts";
import type { JournalRow } from "../../../src/core/journal.ts";
import type { Json } from "../../../src/core/json.ts";
import { bodyRead, type RowHead } from "../../../src/core/row.ts";
import { stateEmpty, type TreeState } from "../../../src/core/state.ts";
import { sha256 } from "./chain.ts";

export interface ExpectedContexts {
  readonly state: TreeState;
  learn(hash: string, text: string): void;
  /** Takes a row and its head, read. */
  take(row: JournalRow, head: RowHead): void;
  /** JSON text of the messages of the agent's newest model call. */
  of(agent: number): string | null;
}

const NO_DEFINITION: DefinitionText = { name: "", description: "", prompt: "", tools: [] };

export function createExpectedContexts(): ExpectedContexts {
  const state = stateEmpty();
  const contexts = contextsEmpty();
  const texts = new Map<string, string>();
  const definitions = new Map<string, DefinitionText>();
  const expected = new Map<number, string>();
  const observing = {
    state,
    contexts,
    sha256,
    definition,
  };

  function definition(hash: string): DefinitionText {
    const text = texts.get(hash);
    const known = definitions.get(hash) ?? (text === undefined ? NO_DEFINITION : (JSON.parse(text) as DefinitionText));
    definitions.set(hash, known);
    return known;
  }

  function called(fact: Fact): number | null {
    if (fact.type === "model-called") return fact.agent;
    if (fact.type !== "effect-repeated") return null;
    const effect = state.effects.get(fact.effect);
    return effect?.kind === "model" ? effect.agent : null;
  }

  return {
    state,
    learn: (hash, text) => void texts.set(hash, text),
    take(row, head) {
      const { at, input, events = [], late } = head;
      const { texts } = bodyRead(row.body);
      const place = { seq: row.seq, at };
      const textAt = (index: number): Json | undefined => texts[index];
      for (const fact of late === undefined ? [input, ...events] : []) {
        apply(state, fact, place);
        observe(observing, fact, place, textAt);
        const agent = called(fact);
        const request = agent === null ? null : contextRequest(state, contexts, agent, at);
        if (agent !== null && request !== null) expected.set(agent, JSON.stringify(request.messages));
      }
      state.seq = row.seq;
      state.at = Math.max(state.at, at);
    },
    of: (agent) => expected.get(agent) ?? null,
  };
}
