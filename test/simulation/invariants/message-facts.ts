/**
 * Messages and turns: I12 (order, no gap, no duplicate), I16 (no turn without a cause), I6 (in the context from the row
 * that places it).
 */

import type { Fact } from "../../../src/core/event.ts";
import { demand } from "./violation.ts";
import { liveAgent, type WatchedAgent, type WatchedMessage, type WatchedTree, type Moment } from "./watched-tree.ts";

export function takeMessageFact(tree: WatchedTree, fact: Fact, moment: Moment): void {
  const { seq } = moment;
  switch (fact.type) {
    case "message-posted":
      return arrive(tree, fact.to, seq, {
        key: `${seq}.0`,
        sender: `outside:${fact.kind}`,
        silent: fact.silent === true,
        kind: fact.kind,
        post: fact.id,
        run: null,
      });
    case "message-sent":
      return arrive(tree, fact.to, seq, {
        key: `${seq}.${fact.n}`,
        // The line about a run's end comes from the runtime; a steer may overtake other messages.
        sender:
          fact.run !== undefined ? `end:${fact.run}` : `${fact.from}:${fact.kind === "steer" ? "steer" : "message"}`,
        silent: fact.silent === true,
        kind: fact.kind,
        post: null,
        run: fact.run ?? null,
      });
    case "turn-started": {
      const agent = speaking(tree, fact.agent, seq);
      demand("I16", agent.turn === null, () => `agent ${fact.agent} starts a turn in row ${seq} while one goes on`);
      agent.turns += 1;
      agent.turn = { iterations: 0, nudges: 0, number: agent.turns, posts: [], summing: false };
      const taken = take(tree, agent, fact.take, seq);
      const nudge = moment.facts.some((other) => other.type === "nudge-given" && other.agent === fact.agent);
      const cause = nudge || fact.announcement !== undefined || taken.some((message) => !message.silent);
      demand("I16", cause, () => `agent ${fact.agent} starts a turn about nothing in row ${seq}`);
      if (fact.announcement !== undefined) {
        demand("I16", (fact.placed ?? []).length > 0, () => `row ${seq} places an announcement of nothing`);
      }
      return;
    }
    case "messages-joined":
      take(tree, speaking(tree, fact.agent, seq), fact.take, seq);
      return;
    case "turn-ended": {
      const agent = speaking(tree, fact.agent, seq);
      demand("I16", agent.turn !== null, () => `row ${seq} ends a turn of agent ${fact.agent} that never began`);
      agent.turn = null;
      return;
    }
    case "tree-closed": {
      const root = speaking(tree, 0, seq);
      root.alive = false;
      root.turn = null;
      root.inbox = [];
      tree.closed = true;
      return;
    }
    default:
  }
}

function speaking(tree: WatchedTree, number: number, seq: number): WatchedAgent {
  const agent = liveAgent(tree, number);
  demand("I19", agent !== undefined, () => `agent ${number} is gone, and row ${seq} goes on with it`);
  return agent;
}

function arrive(tree: WatchedTree, to: number, seq: number, message: WatchedMessage): void {
  speaking(tree, to, seq).inbox.push(message);
}

/** I12: a taken message is in the inbox once, and does not overtake others of the same sender. */
function take(tree: WatchedTree, agent: WatchedAgent, keys: readonly string[], seq: number): WatchedMessage[] {
  const taken: WatchedMessage[] = [];
  for (const key of keys) {
    const index = agent.inbox.findIndex((message) => message.key === key);
    const message = agent.inbox[index];
    demand(
      "I12",
      message !== undefined,
      () => `row ${seq} takes message ${key}, which agent ${agent.number} does not have`,
    );
    const overtaken = agent.inbox.slice(0, index).find((other) => other.sender === message.sender);
    demand("I12", overtaken === undefined, () => `row ${seq}: message ${key} overtakes ${overtaken?.key}`);
    agent.inbox.splice(index, 1);
    taken.push(message);
    const told = message.run === null ? undefined : tree.runs.get(message.run);
    if (told !== undefined) agent.owed.add(told.agent);
  }
  return taken;
}
