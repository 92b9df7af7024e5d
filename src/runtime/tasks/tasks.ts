/**
 * Whole tasks: one call that starts the work and returns its result once the whole tree is idle.
 *
 * Invariants:
 *  1. A task that did not end well rejects; it never gives a result.
 *  2. The same key names the same task in every process: it is begun once, and its result is the same each time.
 */

import type { Channel } from "../../contracts/channel.ts";
import type { ModelProvider } from "../../contracts/model.ts";
import type { Store } from "../../contracts/store.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import { asPostId, asTreeId, type PostId, type TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { postedMessage, type PostOptions } from "../messages/posted-message.ts";
import type { OutputSchema } from "../definitions/output-schema.ts";
import { isolated } from "../listeners.ts";
import type { Reply } from "../messages/turn-outcome.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { runMadeBy, runOutcome, runRequest, toldRun } from "../runs.ts";
import type { Runtime } from "../runtime.ts";
import { type Begin, createBeginning } from "./beginning.ts";
import type { StreamEvent } from "../../view/readable-event.ts";
import type { FeedSource } from "./event-feed.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { keyedId } from "./keyed-id.ts";
import type { AskOptions, OutputOf, StreamOptions, TaskOptions, TaskResult } from "./task-options.ts";
import { createTaskReader, endsPost, recordsPost, type TaskReader, type TaskRecord } from "./task-reader.ts";

/** An agent of a tree, as tasks need it. */
export interface Addressee {
  readonly tree: TreeId;
  readonly number: number;
  post(text: string, options: PostOptions): Promise<{ readonly id: string }>;
}

export interface Tasks {
  stream<Schema extends OutputSchema | undefined>(
    task: string,
    options: StreamOptions<Schema>,
  ): EventStream<TaskResult<OutputOf<Schema>>>;
  run<Schema extends OutputSchema | undefined>(
    task: string,
    options: TaskOptions<Schema>,
  ): Promise<TaskResult<OutputOf<Schema>>>;
  /** The same within a conversation. */
  streamOf(agent: Addressee, text: string, options: AskOptions & { readonly after?: string }): EventStream<TaskResult>;
  ask(agent: Addressee, text: string, options: AskOptions & Pick<TaskOptions, "onEvent">): Promise<TaskResult>;
  /** Resolves once the whole tree is idle. */
  settled(tree: TreeId): Promise<void>;
  readonly begin: Begin;
  treeOfKey(key: string | undefined): TreeId;
  messageOfKey(key: string | undefined): PostId;
}

interface TasksParts {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly models: ModelProvider;
  readonly sha256: Sha256;
  readonly redactor: Redactor;
  readonly source: FeedSource;
  readonly onFailure: (error: ErrandError) => void;
}

const ROOT_AGENT = "orchestrator";
const CHILD_AGENT = "worker";
/** The messages of a task are its result: without another channel they need no other way out. */
const TAKEN: Channel = { deliver: async () => undefined };

export function createTasks({ runtime, store, models, sha256, redactor, source, onFailure }: TasksParts): Tasks {
  const begin = createBeginning({ runtime, store, redactor });
  const treeOfKey = (key: string | undefined): TreeId =>
    asTreeId(key === undefined ? runtime.newId() : keyedId("tree", key, sha256));
  const messageOfKey = (key: string | undefined): PostId =>
    asPostId(key === undefined ? runtime.newId() : keyedId("message", key, sha256));

  /** Begins the task, follows it, and cancels it when the signal aborts. */
  async function* follow(
    tree: TreeId,
    reader: TaskReader,
    { signal, after }: Pick<StreamOptions, "signal" | "after">,
    beginning: () => Promise<void>,
  ): AsyncGenerator<StreamEvent, void, void> {
    signal?.throwIfAborted();
    await beginning();
    const cancelled = Promise.withResolvers<void>();
    // A reader that leaves early does not wait for it.
    cancelled.promise.catch(() => undefined);
    const cancel = (): void => {
      const input = { type: "cancel-asked", id: asPostId(runtime.newId()), run: null } as const;
      runtime.post(tree, input, [], true).then(() => cancelled.resolve(), cancelled.reject);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    try {
      yield* reader.events(after);
      if (signal?.aborted === true) await cancelled.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
    signal?.throwIfAborted();
  }

  async function resultOf<Data>(
    tree: TreeId,
    reader: TaskReader,
    finish: (record: TaskRecord) => Promise<{ readonly text: string; readonly data: Data }>,
  ): Promise<TaskResult<Data>> {
    const record = reader.record();
    if (record === null)
      throw new ErrandError("store-closed", "Errand was closed before the task was done.", {
        remedy: "The next process that opens the store goes on with it: ask for it again under its key.",
        details: { tree },
      });
    const { messages, usage, cost, from, to } = record;
    const { text, data } = await finish(record);
    const all = await store.runs({ tree, limit: Number.MAX_SAFE_INTEGER });
    const mine = all.filter(({ createdSeq }) => createdSeq >= from && createdSeq <= to);
    const runs = await Promise.all(mine.map((run) => toldRun(store, run)));
    return { text, messages, data, usage, cost, runs, tree };
  }

  function conversation(task: string, options: StreamOptions): EventStream<TaskResult> {
    const { agent = ROOT_AGENT, key, data } = options;
    const tree = treeOfKey(key);
    const post = messageOfKey(key);
    const reader = postReader(tree, post);
    const first = { input: postedMessage(post, 0, task), text: task };
    const events = follow(tree, reader, options, async () => {
      await begin({ tree, keyed: key !== undefined, definition: agent, kind: "foreground", data, first });
      await runtime.reattach({ tree, channel: TAKEN });
    });
    return createEventStream(events, () => answered(tree, post, reader, true));
  }

  function postReader(tree: TreeId, post: PostId): TaskReader {
    return createTaskReader(source, tree, {
      begins: (event) => recordsPost(event, post),
      done: (event) => endsPost(event, post),
    });
  }

  function answered(tree: TreeId, post: PostId, reader: TaskReader, speaks: boolean): Promise<TaskResult> {
    return resultOf(tree, reader, async ({ answer, outcome }) => {
      const reply = await replyTo(tree, post);
      if (outcome !== null && outcome.status !== "done") throw endedBadly(tree, outcome);
      return { text: speaks ? (answer ?? "") : reply.text, data: undefined };
    });
  }

  /** The turn has ended: its reply is there, or the reason why there is none. */
  function replyTo(tree: TreeId, post: PostId): Promise<Reply> {
    return runtime.reply(tree, post, REPLY_MS);
  }

  function singleRun(
    task: string,
    output: OutputSchema,
    options: StreamOptions<OutputSchema>,
  ): EventStream<TaskResult<unknown>> {
    const { agent = CHILD_AGENT, key, data } = options;
    const tree = treeOfKey(key);
    const post = messageOfKey(key);
    const { input, args } = runRequest({ task, agent, output }, { parent: 0, asked: post, models });
    let started = false;
    const reader = createTaskReader(source, tree, {
      begins: (event) => recordsPost(event, post),
      done: ({ facts }) => (started ||= facts.some(({ type }) => type === "run-created")),
    });
    const first = { input, text: args };
    const events = follow(tree, reader, options, () =>
      begin({ tree, keyed: key !== undefined, definition: agent, kind: "host", data, first }),
    );
    return createEventStream(events, () =>
      resultOf(tree, reader, async () => {
        const run = await runMadeBy(store, tree, post);
        const { status, reason, error, summary: text, data } = await runOutcome(store, run, output);
        if (status !== "ok" || data === undefined) {
          const why = status === "ok" ? "it reported no data" : (error ?? status);
          throw new ErrandError("run-failed", `The run "${run.name}" did not give the data: ${why}.`, {
            remedy: `See what it did with: errand show ${run.id}`,
            details: { tree, run: run.id, status, reason },
          });
        }
        return { text, data };
      }),
    );
  }

  const tasks: Tasks = {
    treeOfKey,
    messageOfKey,
    begin,
    stream<Schema extends OutputSchema | undefined>(task: string, options: StreamOptions<Schema>) {
      const { output, ...rest } = options;
      const stream = output === undefined ? conversation(task, rest) : singleRun(task, output, rest);
      return stream as EventStream<TaskResult<OutputOf<Schema>>>;
    },
    run: (task, { onEvent, ...options }) => readThrough(tasks.stream(task, options), onEvent),
    streamOf({ tree, number, post }, text, { signal, after, ...options }) {
      const id = options.id ?? runtime.newId();
      const reader = postReader(tree, asPostId(id));
      const following = { ...(signal === undefined ? {} : { signal }), ...(after === undefined ? {} : { after }) };
      const events = follow(tree, reader, following, async () => {
        await post(text, { ...options, id });
        if (number === 0) await runtime.reattach({ tree, channel: TAKEN });
      });
      return createEventStream(events, async () => {
        const speaks = number === 0 && (await store.tree(tree))?.kind === "foreground";
        return answered(tree, asPostId(id), reader, speaks);
      });
    },
    ask: (agent, text, { onEvent, ...options }) => readThrough(tasks.streamOf(agent, text, options), onEvent),
    async settled(tree) {
      const { nextSeq = 1 } = (await store.tree(tree)) ?? {};
      const reader = createTaskReader(source, tree, {
        begins: () => true,
        done: ({ seq }) => seq >= nextSeq - 1,
      });
      const events = reader.events();
      for (let next = await events.next(); next.done !== true;) next = await events.next();
      if (reader.record() === null)
        throw new ErrandError("store-closed", "Errand was closed before the conversation was at rest.");
    },
  };

  async function readThrough<Result>(
    stream: EventStream<Result>,
    onEvent: ((event: StreamEvent) => void) | undefined,
  ): Promise<Result> {
    const listener = onEvent === undefined ? undefined : isolated("onEvent", onEvent, onFailure);
    for await (const event of stream) listener?.(event);
    return stream.result;
  }

  return tasks;
}

const REPLY_MS = 10_000;

function endedBadly(tree: string, { status, reason, error }: NonNullable<TaskRecord["outcome"]>): ErrandError {
  const why = error === null ? "" : `: ${error}`;
  return new ErrandError("turn-failed", `The last turn ended without an answer (${reason ?? status})${why}.`, {
    remedy: "The conversation is kept; send another message to go on.",
    details: { tree, reason: reason ?? status, outcome: status },
  });
}
