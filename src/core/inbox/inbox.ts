/**
 * Messages wait in an inbox until a turn takes them.
 *
 * Invariants:
 *  1. A sender's messages are taken in the order in which they were sent.
 *  2. A silent message joins the context and causes no inference.
 */

import { requestBegin, runForget } from "../agent/agent-facts.ts";
import type { Call } from "../agent/answer.ts";
import { batchLeave } from "../announcements/batches.ts";
import type { Deciding } from "../step.ts";
import type { FactOf } from "../event.ts";
import type { AgentState, InboxMessage, StateHandlers, Turn } from "../state.ts";
import { type AgentNumber, stepKey, type StepKey } from "../values/ids.ts";

/** Recorded in journals: the words must not change. */
export const INBOX_FULL = "the inbox is full";

/** Accepts a message from outside the tree. Returns why it is refused, or null. */
export function messagePosted(d: Deciding, input: FactOf<"message-posted">): string | null {
  const agent = d.state.agents.get(input.to);
  if (agent === undefined) return "the agent is closed";
  if (agent.kind === "host") return "it belongs to a program, which starts runs and takes no messages";
  if (agent.inbox.length >= d.settings.limits.inboxMessages) return INBOX_FULL;
  d.accept();
  d.later({ do: "next-turn", agent: input.to });
  return null;
}

/** Sends the text of a call to the inbox of another agent. */
export function sendText(
  d: Deciding,
  from: AgentState,
  to: AgentState,
  { id: call, args: { text } }: Call,
  kind: FactOf<"message-sent">["kind"],
  joins?: true,
): void {
  const size = typeof text === "string" ? text.length : 0;
  d.emit({ type: "message-sent", n: d.number(), from: from.number, to: to.number, call, kind, joins, size });
  if (to !== from) d.later({ do: "next-turn", agent: to.number });
}

/** The messages that match. `silent`: also silent ones, unless a message before them stays. */
export function inboxTake(agent: AgentState, matches: (message: InboxMessage) => boolean, silent: boolean): StepKey[] {
  const take: StepKey[] = [];
  let skipped = false;
  for (const message of agent.inbox) {
    if (matches(message) || (silent && message.silent && !skipped)) take.push(message.key);
    else skipped = true;
  }
  return take;
}

/** Lets messages join the context of the agent now. Returns how many. */
export function joinMessages(
  d: Deciding,
  agent: AgentState,
  which: { readonly silent?: true; readonly steers?: true; readonly awaited?: true; readonly everything?: true },
): number {
  const awaited = which.awaited === true ? messagesOfAwaited(agent) : new Set<StepKey>();
  const { steers = false, everything = false } = which;
  const take = inboxTake(
    agent,
    ({ kind, key }) => everything || (steers && kind === "steer") || awaited.has(key),
    which.silent === true,
  );
  if (take.length > 0) d.emit({ type: "messages-joined", agent: agent.number, take });
  return take.length;
}

/** Messages for the user from runs that the turn waits for, and earlier messages of the same senders. */
function messagesOfAwaited(agent: AgentState): ReadonlySet<StepKey> {
  const keys = new Set<StepKey>();
  const senders = new Set<AgentNumber | null>();
  for (const { key, from, joins } of agent.inbox.toReversed()) {
    if (joins) senders.add(from);
    if (senders.has(from)) keys.add(key);
  }
  return keys;
}

/** A message for the user entered the turn. Only what is sent to the channel after it presents it (rule C5). */
function relayTaken(turn: Turn, key: StepKey): void {
  turn.relays = turn.sent ? [key] : [...turn.relays, key];
  turn.sent = false;
}

export const inboxFacts = {
  "message-posted"(state, { id, to, kind, silent, size }, { seq }) {
    if (silent !== true) requestBegin(state);
    const key = stepKey(seq, 0);
    state.agents.get(to)?.inbox.push({ key, kind, silent: silent === true, post: id, from: null, joins: false, size });
  },

  "message-sent"(state, { n, from, to, run, kind, silent, joins, size }, { seq }) {
    const receiver = state.agents.get(to);
    const key = stepKey(seq, n);
    receiver?.inbox.push({ key, kind, silent: silent === true, post: null, from, joins: joins === true, size });
    const sender = state.runs.get(from);
    if (kind === "user-facing" && sender !== undefined) sender.userMessages += 1;
    if (run === undefined) return;
    if ((state.runs.get(run)?.batch ?? null) !== null && receiver !== undefined)
      batchLeave(state, receiver, new Set([run]));
    runForget(state, run);
  },

  "messages-joined"(state, fact) {
    const agent = state.agents.get(fact.agent);
    if (agent === undefined) return;
    const taken = new Set(fact.take);
    for (const message of agent.inbox) {
      if (!taken.has(message.key)) continue;
      agent.bytesSince += message.size;
      if (message.kind === "steer") agent.turnsUnprompted = 0;
      if (agent.turn === null) continue;
      if (message.post !== null) agent.turn.posts.push(message.post);
      if (message.kind === "user-facing") relayTaken(agent.turn, message.key);
    }
    agent.inbox = agent.inbox.filter((message) => !taken.has(message.key));
  },
} satisfies Partial<StateHandlers>;
