/**
 * Follows one task in its tree until the whole tree is idle, and collects its result.
 *
 * Invariant: the result follows from the journal alone, so that a task that is asked for again after a restart has the
 * same result.
 */

import type { Fact } from "../../core/event.ts";
import { answerOf, type ChannelMessageKind } from "../../view/channel-message.ts";
import type { TreeEvent } from "../../view/tree-event.ts";
import type { ReadableEvent } from "../../view/readable-event.ts";
import { treeIdle, type TreeModel } from "../../view/tree-model.ts";
import type { StreamEvent } from "../../view/readable-event.ts";
import { eventFeed, type FeedSource } from "./event-feed.ts";

/** A message of the agent for its user. */
export interface UserMessage {
  readonly id: string;
  readonly agent: string;
  readonly name: string;
  /**
   * `answer`: a turn ended with it. `relay`: a child's message, passed on as it is. `commentary`: said beside a tool
   * call.
   */
  readonly kind: ChannelMessageKind;
  readonly text: string;
}

/** Tokens of all model calls. */
export interface TaskUsage {
  readonly input: number;
  readonly output: number;
  /** The part that no provider counted. */
  readonly estimated: number;
}

/** What the journal says of a task. */
export interface TaskRecord {
  /** The last texts of the turns, joined by a blank line; null if there are none. */
  readonly answer: string | null;
  readonly messages: readonly UserMessage[];
  readonly usage: TaskUsage;
  /** Micro-dollars. */
  readonly cost: number;
  /** The first and the last row of the task. */
  readonly from: number;
  readonly to: number;
  /** How the newest turn of the root ended: null if it had none. */
  readonly outcome: { readonly status: string; readonly reason: string | null; readonly error: string | null } | null;
}

export interface TaskReader {
  /** The events of the tree after the cursor, the last one `rest`. Ends without `rest` if Errand is closed before. */
  events(after?: string): AsyncGenerator<StreamEvent, void, void>;
  /** What came of the task, once `events` gave `rest`; null before. */
  record(): TaskRecord | null;
}

/**
 * The task begins with the step for which `begins` is true, and is done with the first one after it, or it, for which
 * `done` is.
 */
export function createTaskReader(
  source: FeedSource,
  tree: string,
  { begins, done }: { readonly begins: (event: TreeEvent) => boolean; readonly done: (event: TreeEvent) => boolean },
): TaskReader {
  let record: TaskRecord | null = null;
  return {
    record: () => record,
    async *events(after) {
      const messages: UserMessage[] = [];
      const usage = { input: 0, output: 0, estimated: 0 };
      let cost = 0;
      let from = 0;
      let over = false;
      let rests = false;

      function gather(event: ReadableEvent): void {
        if (event.type === "message") {
          const { id, agent, name, kind, text } = event;
          messages.push({ id, agent, name, kind, text });
        } else if (event.type === "usage") {
          usage.input += event.input;
          usage.output += event.output;
          if (event.estimated) usage.estimated += event.input + event.output;
          cost += event.cost;
        }
      }

      function ends(event: TreeEvent, model: TreeModel, events: readonly ReadableEvent[]): boolean {
        if (from === 0 && begins(event)) from = event.seq;
        if (from === 0) return false;
        for (const one of events) gather(one);
        over ||= done(event);
        rests = over && treeIdle(model);
        if (rests)
          record = {
            answer: answerOf(messages),
            messages,
            usage,
            cost,
            from,
            to: event.seq,
            outcome: outcomeOf(model),
          };
        return rests;
      }

      yield* eventFeed(source, tree, { after, ends });
      if (rests) yield { type: "rest", tree };
    },
  };
}

function outcomeOf(model: TreeModel): TaskRecord["outcome"] {
  const root = model.agents.get(0);
  if (root === undefined || root.outcome === null) return null;
  return { status: root.outcome, reason: root.reason, error: root.error };
}

/** True if this step recorded the post. */
export function recordsPost({ facts: [input] }: TreeEvent, post: string): boolean {
  return input !== undefined && "id" in input && input.id === post;
}

/** True if the turn that took the post ended with this step, or will never come. */
export function endsPost({ facts }: TreeEvent, post: string): boolean {
  return facts.some((fact) => postsOf(fact)?.some((id) => id === post) === true);
}

function postsOf(fact: Fact): readonly string[] | undefined {
  return fact.type === "turn-ended" || fact.type === "run-ended" || fact.type === "tree-closed"
    ? fact.posts
    : undefined;
}
