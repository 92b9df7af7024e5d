/** What messages do to the state: they wait in an inbox until a turn takes them. */

import { requestBegin, runForget } from "../agent/apply-agent.ts";
import type { Fact } from "../event.ts";
import { stepKey, type StepKey } from "../ids.ts";
import type { Place } from "../place.ts";
import { batchTold } from "../announcements/apply-announcements.ts";
import type { TreeState, Turn } from "../state.ts";

type FactOf<Type extends Fact["type"]> = Extract<Fact, { type: Type }>;

export function applyMessagePosted(state: TreeState, fact: FactOf<"message-posted">, place: Place): void {
  if (fact.silent !== true) requestBegin(state);
  state.agents.get(fact.to)?.inbox.push({
    key: stepKey(place.seq, 0),
    kind: fact.kind,
    silent: fact.silent === true,
    post: fact.id,
    from: null,
    joins: false,
    size: fact.size,
  });
}

export function applyMessageSent(state: TreeState, fact: FactOf<"message-sent">, place: Place): void {
  state.agents.get(fact.to)?.inbox.push({
    key: stepKey(place.seq, fact.n),
    kind: fact.kind,
    silent: fact.silent === true,
    post: null,
    from: fact.from,
    joins: fact.joins === true,
    size: fact.size,
  });
  const sender = state.runs.get(fact.from);
  if (fact.kind === "user-facing" && sender !== undefined) sender.userMessages += 1;
  if (fact.run === undefined) return;
  const told = state.runs.get(fact.run);
  const parent = state.agents.get(fact.to);
  if (told !== undefined && told.batch !== null && parent !== undefined) {
    batchTold(state, parent, new Set([fact.run]));
  }
  runForget(state, fact.run);
}

export function applyMessagesJoined(state: TreeState, fact: FactOf<"messages-joined">): void {
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
}

/** What was sent to the channel before counts for the messages before: the new one must be presented after it was placed. */
function relayTaken(turn: Turn, key: StepKey): void {
  turn.relays = turn.sent ? [key] : [...turn.relays, key];
  turn.sent = false;
}
