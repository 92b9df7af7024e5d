/**
 * A conversation as its user saw it: what the user wrote and what was sent to the user. Nudges, announcements and
 * system messages are internal, and so are the task and the replies of an agent that speaks to no user. Internal items
 * are left out, or shown on request.
 */

import type { Fact } from "../core/event.ts";
import { type AgentNumber, type StepKey, stepKey } from "../core/values/ids.ts";
import type { JournalRow } from "../core/journal/journal.ts";
import type { Json } from "../core/values/json.ts";
import { replyPartsOf, replyText } from "../core/values/message.ts";
import { questionText } from "../core/text/prompts/question-text.ts";
import { bodyRead, headRead } from "../core/journal/row.ts";
import { channelText } from "../core/text/prompts/channel-text.ts";
import { type ChannelMessageKind, channelMessageKind } from "./channel-message.ts";
import { type Tree, treeFold, treeNew, type TreeSource } from "../core/tree.ts";

/** A message of a conversation, of the user or of the agent. */
export interface HistoryItem {
  readonly seq: number;
  readonly at: number;
  /** `user`: the user wrote it. `agent`: it was sent to the user. `internal`: only the model saw it. */
  readonly from: "user" | "agent" | "internal";
  /** The part of a sent message in the answer. `permission`: a question about a call, or the user's answer to it. */
  readonly kind?: ChannelMessageKind | "permission";
  readonly text: string;
}

/** The conversation of an agent, folded row by row. */
export function historyBegin(number: AgentNumber, source: TreeSource): (row: JournalRow) => HistoryItem[] {
  const tree = treeNew(source);
  const asked = new Set<StepKey>();
  return (row) => {
    const relays = new Map(tree.contexts.relays);
    const waiting = new Map(tree.contexts.messages);
    const replies = unseenReplies(tree, number);
    treeFold(tree, row);
    const head = headRead(row.head);
    if (head.rejected !== undefined) return [];
    const { texts } = bodyRead(row.body);
    const item = (from: HistoryItem["from"], text: string): HistoryItem => ({ seq: row.seq, at: head.at, from, text });
    return [head.input, ...(head.events ?? [])].flatMap((fact) => {
      if (fact.type === "channel-sent" && fact.agent === number) {
        const text = channelText(relays, fact, texts[0]);
        return [{ ...item("agent", text), kind: channelMessageKind(fact, texts[0]) }];
      }
      if (fact.type === "question-asked" && fact.to === number) {
        asked.add(stepKey(row.seq, fact.n));
        return [{ ...item("agent", questionText(tree.contexts, fact, fact.calls ?? 0)), kind: "permission" }];
      }
      if (fact.type === "answer-given" && asked.has(fact.question)) {
        const note = typeof texts[0] === "string" ? texts[0] : "";
        const text = `${fact.allow ? "yes" : "no"}${note === "" ? "" : `: ${note}`}`;
        return [{ ...item("user", text), kind: "permission" }];
      }
      if (fact.type === "message-posted" && fact.to === number && fact.kind !== "system") {
        return [item("user", typeof texts[0] === "string" ? texts[0] : "")];
      }
      const before = { waiting, replies, reply: texts[0] };
      return internals(tree, number, fact, before).map((text) => item("internal", text));
    });
  };
}

/** Read from the contexts before the row was folded. */
interface Before {
  readonly waiting: Tree["contexts"]["messages"];
  readonly replies: ReadonlySet<StepKey>;
  readonly reply: Json | undefined;
}

/** Open model calls of agents without a user: no user is shown their replies. */
function unseenReplies({ state, contexts }: Tree, number: AgentNumber): ReadonlySet<StepKey> {
  if (state.agents.get(number)?.kind !== "background" || contexts.agents.get(number)?.compacting !== false) return NONE;
  const keys = [...contexts.effects].filter(([, { agent, call }]) => agent === number && call === null);
  return new Set(keys.map(([key]) => key));
}

const NONE: ReadonlySet<StepKey> = new Set();

/** What a fact added to the context that no user wrote, and the reply of an agent without a user. */
function internals(tree: Tree, number: AgentNumber, fact: Fact, before: Before): string[] {
  const messages = tree.contexts.agents.get(number)?.messages ?? [];
  if (fact.type === "model-replied") return before.replies.has(fact.effect) ? repliedText(before.reply) : [];
  const newest = messages.flatMap((message) => (message.role === "user" ? message.text : [])).slice(-1);
  if (fact.type === "run-created" && fact.run === number) return newest;
  if (fact.type === "nudge-given" && fact.agent === number) return newest;
  if ((fact.type !== "turn-started" && fact.type !== "messages-joined") || fact.agent !== number) return [];
  if (fact.type === "turn-started" && fact.announcement !== undefined) return newest;
  return fact.take.flatMap((key) => {
    const message = before.waiting.get(key);
    return message !== undefined && message.internal ? [message.text] : [];
  });
}

/** A reply of an agent without a user: its words and its calls. */
function repliedText(reply: Json | undefined): string[] {
  const parts = replyPartsOf(reply);
  const calls = parts.flatMap((part) =>
    part.type === "tool-call" ? [`[${part.name} ${JSON.stringify(part.input)}]`] : [],
  );
  const text = [replyText(parts), ...calls].filter((line) => line !== "").join("\n");
  return text === "" ? [] : [text];
}
