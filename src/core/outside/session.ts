/**
 * The session of an outside child: its start, and the messages that it gets. A message is an open effect until the
 * session has taken it, so that a resumed session gets what an earlier one was not told.
 *
 * Invariant: an outside child has one turn, whose `model` is its session. Its agent calls no model.
 */

import { joinMessages } from "../inbox/inbox.ts";
import type { FactOf } from "../event.ts";
import type { AgentState } from "../state.ts";
import type { Deciding } from "../step.ts";
import type { RunnerMessageKind } from "../values/definition.ts";
import type { AgentNumber, StepKey } from "../values/ids.ts";

/** The limit of the tree that is used up, or null. */
export function limitUsedUp({ settings, state }: Deciding): "token-limit" | "cost-limit" | null {
  const { tokensPerTree, costPerTree } = settings.limits;
  if (tokensPerTree !== null && state.ledger.tokens >= tokensPerTree) return "token-limit";
  return costPerTree !== null && state.ledger.cost >= costPerTree ? "cost-limit" : null;
}

export function startSession(d: Deciding, { number }: AgentState): void {
  const reason = limitUsedUp(d);
  if (reason !== null) return d.later({ do: "end-run", run: number, end: { status: "error", reason } });
  const n = d.number();
  d.emit({ type: "runner-started", agent: number, n });
  d.effect({ type: "start-runner", key: d.key(n), attempt: 1, agent: number });
  d.later({ do: "pass-messages", agent: number });
}

export function runnerTakes({ definition }: Pick<AgentState, "definition">, kind: RunnerMessageKind): boolean {
  return definition.runner?.takes.includes(kind) === true;
}

/** Sends a message to the session. A runner that does not take its kind is not sent it. */
export function tellSession(
  d: Deciding,
  agent: AgentState,
  message: Omit<FactOf<"runner-message-sent">, "type" | "agent" | "n">,
): void {
  const session = agent.turn?.model ?? null;
  if (session === null || !runnerTakes(agent, message.kind)) return;
  const n = d.number();
  d.emit({ type: "runner-message-sent", agent: agent.number, n, ...message });
  d.effect({ type: "tell-runner", key: d.key(n), attempt: 1, agent: agent.number, session });
}

/** The process that had the message is gone: the session gets it again. */
export function tellAgain(d: Deciding, key: StepKey, agent: AgentNumber, attempt: number): void {
  const session = d.state.agents.get(agent)?.turn?.model ?? null;
  if (session !== null) d.effect({ type: "tell-runner", key, attempt, agent, session });
}

/** The session gets what waits in the child's inbox. Silent messages wait for one that is not. */
export function passMessages(d: Deciding, number: AgentNumber): void {
  const agent = d.state.agents.get(number);
  if (agent === undefined || agent.turn === null || agent.turn.model === null || !runnerTakes(agent, "steer")) return;
  if (agent.inbox.every(({ silent }) => silent)) return;
  for (const { key } of agent.inbox) tellSession(d, agent, { kind: "steer", message: key });
  joinMessages(d, agent, { everything: true });
}
