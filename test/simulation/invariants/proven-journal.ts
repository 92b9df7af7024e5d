/**
 * I20, row by row: replays a journal while it is committed. So a row that cannot be decided again is found at its
 * commit, and the expected request of each model call is known.
 */

import type { DefinitionText } from "../../../src/core/values/definition.ts";
import type { AgentNumber, StepKey } from "../../../src/core/values/ids.ts";
import { stepKey } from "../../../src/core/values/ids.ts";
import type { JournalRow } from "../../../src/core/journal/journal.ts";
import { replayBegin } from "../../../src/core/journal/replay.ts";
import { type Stepped, treeSource } from "../../../src/core/tree.ts";
import { sha256 } from "./chain.ts";
import { demand } from "./violation.ts";

export interface ProvenJournal {
  /** Adds the text of a definition. */
  learn(hash: string, text: string): void;
  /** Takes the next row, with its head if it was parsed already. */
  take(row: JournalRow): void;
  /** JSON text of the messages of the agent's newest model call. */
  request(agent: AgentNumber): string | null;
}

const NO_DEFINITION: DefinitionText = { name: "", description: "", prompt: "", tools: [] };

export function createProvenJournal(): ProvenJournal {
  const texts = new Map<string, string>();
  const definitions = new Map<string, DefinitionText>();
  const requests = new Map<AgentNumber, string>();
  const replay = replayBegin(treeSource(sha256, definition), decided);

  function definition(hash: string): DefinitionText {
    const text = texts.get(hash);
    const known = definitions.get(hash) ?? (text === undefined ? NO_DEFINITION : (JSON.parse(text) as DefinitionText));
    definitions.set(hash, known);
    return known;
  }

  function decided(stepped: Stepped): void {
    for (const [key, request] of stepped.requests) {
      const agent = callerOf(stepped, key);
      if (agent !== null) requests.set(agent, JSON.stringify(request.messages));
    }
  }

  /** The agents whose models the step calls or calls again, by the key of the call. */
  function callerOf({ row, decision }: Stepped, key: StepKey): AgentNumber | null {
    for (const event of decision.events) {
      if (event.type === "model-called" && stepKey(row.seq, event.n) === key) return event.agent;
    }
    return replay.tree.state.effects.get(key)?.agent ?? null;
  }

  return {
    learn: (hash, text) => void texts.set(hash, text),
    take(row) {
      const same = replay.take(row);
      demand(
        "I20",
        same,
        () => `row ${row.seq} cannot be decided again: ${JSON.stringify(replay.report().difference)}`,
      );
    },
    request: (agent) => requests.get(agent) ?? null,
  };
}
