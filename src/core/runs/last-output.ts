/** The newest output of a child's own tools, as its context has it: what a run without any words leaves to its parent (rule B6). */

import { delegationToolIs } from "../agent/delegation-tools.ts";
import type { Fact, TextIndex } from "../event.ts";
import { type RunNumber, stepKey, type StepKey } from "../ids.ts";
import type { JournalRow } from "../journal.ts";
import type { Json } from "../json.ts";
import { replyPartsOf, type ToolCallPart } from "../message.ts";
import { bodyRead, headRead } from "../row.ts";

/** Where it stands: the call, the row of the reply that made it, the row of its text and that text's index. */
export interface LastOutput {
  readonly call: string;
  readonly reply: number;
  readonly seq: number;
  readonly index: TextIndex;
}

interface Gathering {
  readonly run: RunNumber;
  /** Effects of the child: the call that each serves, null for a model call. */
  readonly effects: Map<StepKey, string | null>;
  /** The newest reply with calls, and the results that have come so far. */
  reply: { readonly seq: number; readonly calls: readonly ToolCallPart[] } | null;
  results: Map<string, { readonly seq: number; readonly index: TextIndex; readonly said: boolean }>;
  last: LastOutput | null;
}

export function lastOutput(run: RunNumber, rows: Iterable<JournalRow>): LastOutput | null {
  const gathering: Gathering = { run, effects: new Map(), reply: null, results: new Map(), last: null };
  for (const row of rows) {
    const { late, input, events = [] } = headRead(row.head);
    if (late !== undefined) continue;
    const { texts } = bodyRead(row.body);
    for (const fact of [input, ...events]) take(gathering, fact, row.seq, texts);
  }
  return gathering.last;
}

function take(into: Gathering, fact: Fact, seq: number, texts: readonly Json[]): void {
  const { run, effects } = into;
  const arrived = (call: string, index: TextIndex): void => {
    const text = texts[index];
    into.results.set(call, { seq, index, said: typeof text === "string" && text.trim() !== "" });
    close(into);
  };
  switch (fact.type) {
    case "model-called":
      if (fact.agent === run) effects.set(stepKey(seq, fact.n), null);
      return;
    case "tool-called":
      if (fact.agent === run) effects.set(stepKey(seq, fact.n), fact.call);
      return;
    case "model-replied": {
      if (!effects.has(fact.effect)) return;
      const calls = replyPartsOf(texts[0]).filter((part): part is ToolCallPart => part.type === "tool-call");
      into.reply = { seq, calls };
      into.results = new Map();
      return;
    }
    case "tool-finished": {
      const call = effects.get(fact.effect);
      if (call !== undefined && call !== null) arrived(call, 0);
      return;
    }
    case "tool-answered":
      if (fact.agent === run) arrived(fact.call, fact.text ?? texts.length);
      return;
    default:
      return;
  }
}

/** Results enter the context together, once all calls of their reply have one. */
function close(into: Gathering): void {
  const { reply, results } = into;
  if (reply === null || reply.calls.some((call) => !results.has(call.id))) return;
  const found = reply.calls.findLast((call) => !delegationToolIs(call.name) && results.get(call.id)?.said === true);
  const result = found === undefined ? undefined : results.get(found.id);
  if (found !== undefined && result !== undefined) {
    into.last = { call: found.id, reply: reply.seq, seq: result.seq, index: result.index };
  }
  into.reply = null;
}
