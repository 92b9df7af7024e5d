/**
 * A conversation as its user knows it: what they said and what they were told. Nudges, announcements and system messages are internal:
 * they are left out, or on request shown for what they are.
 */

import type { Decided, Fact } from "./event.ts";
import { type AgentNumber, type StepKey, stepKey } from "./ids.ts";
import type { JournalRow } from "./journal.ts";
import { replyPartsOf, replyText } from "./message.ts";
import { questionText } from "./questions/question-text.ts";
import { bodyRead, headRead } from "./row.ts";
import { sayBlocks } from "./text/index.ts";
import { type Tree, treeFold, treeNew, type TreeSource } from "./tree.ts";

export interface HistoryItem {
  readonly seq: number;
  readonly at: number;
  /** `user`: what the user said. `agent`: what they were told. `internal`: what only the model saw. */
  readonly from: "user" | "agent" | "internal";
  readonly text: string;
}

/** The conversation of an agent, folded row by row: what comes first, or whether the first turn was an internal one, makes no difference. */
export function historyBegin(number: AgentNumber, source: TreeSource): (row: JournalRow) => HistoryItem[] {
  const tree = treeNew(source);
  const asked = new Set<StepKey>();
  return (row) => {
    const relays = new Map(tree.contexts.relays);
    const waiting = new Map(tree.contexts.messages);
    treeFold(tree, row);
    const head = headRead(row.head);
    if (head.late !== undefined) return [];
    const { texts } = bodyRead(row.body);
    const item = (from: HistoryItem["from"], text: string): HistoryItem => ({ seq: row.seq, at: head.at, from, text });
    return [head.input, ...(head.events ?? [])].flatMap((fact) => {
      if (fact.type === "channel-sent" && fact.agent === number) {
        const relay = fact.relay === undefined ? undefined : relays.get(fact.relay);
        return [item("agent", relay === undefined ? spoken(fact, texts[0]) : `${relay.name}: ${relay.text}`)];
      }
      if (fact.type === "question-asked" && fact.to === number) {
        asked.add(stepKey(row.seq, fact.n));
        return [item("agent", questionText(tree.contexts, fact))];
      }
      if (fact.type === "answer-given" && asked.has(fact.question)) {
        const note = typeof texts[0] === "string" ? texts[0] : "";
        return [item("user", `${fact.allow ? "yes" : "no"}${note === "" ? "" : `: ${note}`}`)];
      }
      if (fact.type === "message-posted" && fact.to === number && fact.kind !== "system") {
        return [item("user", typeof texts[0] === "string" ? texts[0] : "")];
      }
      return internals(tree, number, fact, waiting).map((text) => item("internal", text));
    });
  };
}

function spoken(fact: Extract<Decided, { type: "channel-sent" }>, reply: Parameters<typeof replyPartsOf>[0]): string {
  const text = replyText(replyPartsOf(reply));
  return fact.say === undefined ? text : (sayBlocks(text)[fact.say] ?? "");
}

/** What a fact put before the model that no user wrote. */
function internals(tree: Tree, number: AgentNumber, fact: Fact, waiting: Tree["contexts"]["messages"]): string[] {
  const messages = tree.contexts.agents.get(number)?.messages ?? [];
  const last = messages.findLast((message) => message.role === "user");
  const newest = last?.role === "user" ? [last.text] : [];
  if (fact.type === "nudge-given" && fact.agent === number) return newest;
  if (fact.type !== "turn-started" || fact.agent !== number) return [];
  if (fact.announcement !== undefined) return newest;
  return fact.take.flatMap((key) => {
    const message = waiting.get(stepKey(Number(key.split(".")[0]), Number(key.split(".")[1])));
    return message !== undefined && message.text.startsWith("<") ? [message.text] : [];
  });
}
