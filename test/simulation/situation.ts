/**
 * What a model can read from a request: which agent it is, its newest message, and what it can do.
 */

import type { ContextMessage, ModelRequest } from "../../src/index.ts";

export interface Situation {
  /** The agent's own id; null for a root, whose prompt has no id. */
  readonly agent: string | null;
  readonly parent: string | null;
  readonly byTag: boolean;
  readonly tools: ReadonlySet<string>;
  /** The newest user text. */
  readonly newest: string;
  /** True if the newest message is the runtime's request for the report or for a message to the user. */
  readonly nudged: boolean;
  readonly announced: boolean;
  readonly relayed: boolean;
  readonly compacting: boolean;
  readonly reported: boolean;
  /** Replies so far in this context. */
  readonly replies: number;
  /** Ids of runs in the context. */
  readonly runs: readonly string[];
  /** Agents whose text it got, or whose ids are in a result. */
  readonly others: readonly string[];
}

const CHILD =
  /You are a child agent \(id ([0-9a-f-]{36})\) working on one task for your parent agent \(id ([0-9a-f-]{36})\)/;
const RUN = /(?:run |"run_id":")([0-9a-f-]{36})/g;
const OTHER = /(?:origin="|"agent_id":")([0-9a-f-]{36})/g;

export function situationOf(request: ModelRequest): Situation {
  const child = CHILD.exec(request.system);
  const text = request.messages.map((message) => shown(message)).join("\n");
  const last = request.messages.findLast((message) => message.role === "user");
  const newest = last?.role === "user" ? last.text : "";
  const end = request.messages.at(-1)?.role === "user" ? newest : "";
  return {
    agent: child?.[1] ?? null,
    parent: child?.[2] ?? null,
    byTag: request.system.includes("Wrap your final result in <response>"),
    tools: new Set(request.tools.map((tool) => tool.name)),
    newest,
    nudged:
      end.includes("You haven't sent your results") ||
      end.includes("You must wrap your final answer") ||
      end.includes("has not reached the user yet"),
    announced: end.includes("background task") || end.includes("Background task"),
    relayed: end.includes("<message_for_user"),
    compacting: end.includes("Summarise the conversation so far"),
    reported: text.includes('"report":true'),
    replies: request.messages.filter((message) => message.role === "assistant").length,
    runs: [...text.matchAll(RUN)].map(([, id = ""]) => id),
    others: [...text.matchAll(OTHER)].map(([, id = ""]) => id),
  };
}

function shown(message: ContextMessage): string {
  if (message.role === "user") return message.text;
  if (message.role === "tool") return message.results.map((result) => result.text).join("\n");
  return "";
}
