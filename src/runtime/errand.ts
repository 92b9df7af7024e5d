/** The public face of a runtime: agents, messages, runs and events, in the words of the documentation. */

import type { Channel } from "../contracts/channel.ts";
import type { RunQuery, StoredRun, TreeQuery, TreeRecord } from "../contracts/store.ts";
import { asPostId, asTreeId, type PostId, type TreeId, uuidIs } from "../core/values/ids.ts";
import type { ReplayReport } from "../core/journal/replay.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import { ErrandError } from "../errors.ts";
import { type Agent, AWAIT_TIMEOUT_MS, createAgent } from "./agent.ts";
import { postedMessage } from "./messages/posted-message.ts";
import { isolated } from "./listeners.ts";
import { exportLines } from "./journals/journal-file.ts";
import { replayJournal } from "./journals/replay-tree.ts";
import { storedRows } from "./journals/stored-rows.ts";
import { runResult } from "./journals/run-result.ts";
import { toldStore } from "./journals/durable-reads.ts";
import { type OpenQuestion, openQuestions, questionNamed } from "./messages/open-questions.ts";
import type { Attachment, ChannelState } from "./messages/channel-line.ts";
import { createRuntime, type RuntimeParts } from "./runtime.ts";
import { type TreeEvent, treeEventOf } from "../view/tree-event.ts";
import type { Reply } from "./messages/turn-outcome.ts";
import type { OutputSchema } from "./definitions/output-schema.ts";
import { eventFeed, type FeedSource, type PlacedEvent, type TextPiece } from "./tasks/event-feed.ts";
import type { EventStream } from "./tasks/event-stream.ts";
import { createTasks, type OutputOf, type StreamOptions, type TaskOptions, type TaskResult } from "./tasks/tasks.ts";

export type { TreeEvent } from "../view/tree-event.ts";

export interface OpenAgentOptions {
  /**
   * Makes the conversation idempotent: the same key gives the same conversation, in this process or a later one. The same key with another agent or
   * first message is refused (`id-reused`).
   */
  readonly key?: string;
  /** Name of the definition it is made from. Default: `orchestrator`. */
  readonly agent?: string;
  /** `foreground` speaks to a user through its channel. Default: `foreground`. */
  readonly kind?: "foreground" | "background";
  /**
   * Where its messages to the user go. Once the conversation has worked and rests, only the agent that you get keeps the channel:
   * hold it to hear more. A message without a channel stays in the outbox until one is attached.
   */
  readonly channel?: Channel;
}

/** A live piece of text that an agent is saying. Not recorded. */
export interface TextDelta {
  readonly tree: string;
  readonly agent: string;
  readonly text: string;
}

/** A conversation that has begun. */
export interface Started {
  readonly agent: Agent;
  /** The id of its first message: after a restart the answer is asked for again under it. */
  readonly id: string;
  /** Waits for the answer to its first message, as `postAndAwait` does. */
  reply(options?: { readonly timeoutMs?: number }): Promise<Reply>;
}

/** A user's answer to a question. */
export interface GivenAnswer {
  readonly allow: boolean;
  /** What the agent reads when it is refused. */
  readonly note?: string | undefined;
  /** The mark of the file as the user saw it: the change fails if the file has changed since. */
  readonly seen?: string | undefined;
  /** The same call is not asked about again in this tree. */
  readonly always?: true | undefined;
}

export interface Errand {
  /**
   * Gives a task to an agent, waits until nothing of it is under way, and gives what came of it. Rejects if it did not end well. With `output`
   * the task is one run of the agent, whose data are checked and typed.
   */
  run<Schema extends OutputSchema | undefined = undefined>(
    task: string,
    options?: TaskOptions<Schema>,
  ): Promise<TaskResult<OutputOf<Schema>>>;
  /** `run` as a stream of events, with the result at its end. Nothing begins before the stream is read. */
  stream<Schema extends OutputSchema | undefined = undefined>(
    task: string,
    options?: StreamOptions<Schema>,
  ): EventStream<TaskResult<OutputOf<Schema>>>;
  /** Opens an agent with its first message. Resolves when both are durable: a crash leaves both or neither. */
  start(message: string, options?: OpenAgentOptions): Promise<Started>;
  openAgent(options?: OpenAgentOptions): Promise<Agent>;
  /** An agent of the store, by its id. */
  agent(id: string, options?: { readonly channel?: Channel }): Promise<Agent>;
  listTrees(query?: Partial<TreeQuery>): Promise<readonly TreeRecord[]>;
  /** Runs of one tree or of all: in spawn order within a tree, the newest tree first; 100 unless `limit` says otherwise. */
  listRuns(query?: Omit<Partial<RunQuery>, "tree"> & { readonly tree?: string }): Promise<readonly StoredRun[]>;
  getRun(id: string): Promise<StoredRun>;
  /** All that an ended run left: its findings with artifacts, data and earlier reports. */
  result(run: string): Promise<string>;
  /** Cancels a run and everything below it. Returns false if it had ended. */
  cancel(run: string): Promise<boolean>;
  /** Calls that wait for a user's answer, of one tree or of all. */
  questions(query?: { readonly tree?: string }): Promise<readonly OpenQuestion[]>;
  /** Allows or refuses the call that a question is about. The agent reads `note` when it is refused. Rejects if the question is not open. */
  answer(question: string, answer: GivenAnswer): Promise<void>;
  /** What happens in a tree, as readable events, from the cursor `after` on (default: from the first), those to come included. */
  events(tree: string, options?: { readonly after?: string }): AsyncGenerator<PlacedEvent | TextPiece, void, void>;
  /** Every committed step of a tree after `after` (default: from the first), those to come included. */
  journal(tree: string, options?: { readonly after?: number }): AsyncGenerator<TreeEvent, void, void>;
  /** Live text, from now on. Returns a function that ends it. */
  onText(listener: (delta: TextDelta) => void): () => void;
  /** Proves a tree's journal: chain, fold, every decision and every context. Calls and changes nothing. */
  replay(tree: string): Promise<ReplayReport>;
  /** The lines of a file that holds the whole journal of a tree. */
  export(tree: string): AsyncGenerator<string, void, void>;
  /**
   * A new agent that shares the history of `tree` up to step `at` and goes on from there; what was under way at that point is interrupted.
   * With `agent` it goes on as another definition.
   */
  fork(
    tree: string,
    options: { readonly at: number; readonly agent?: string; readonly channel?: Channel },
  ): Promise<Agent>;
  /** Every delegation as it ends or is refused, from now on: what to log or count. Returns a function that ends it. */
  onDelegation(listener: (record: DelegationRecord & { readonly tree: string }) => void): () => void;
  /** The channels that are attached here, and which of them are blocked. */
  channels(): readonly ChannelState[];
  /** How many trees are in memory. */
  treesInMemory(): number;
  /** Trees that an earlier process left unfinished and that were taken up when this one started. */
  readonly recovered: number;
  /** Stops taking work, lets what is under way finish within the bound, parks the rest, and closes the store. */
  close(options?: { readonly withinMs?: number }): Promise<void>;
}

const CLOSE_WITHIN_MS = 5_000;
const LIST_LIMIT = 100;
const ROOT_AGENT = "orchestrator";

type DelegationListener = (record: DelegationRecord & { readonly tree: string }) => void;

interface ErrandParts extends Omit<RuntimeParts, "onText" | "onDelegation"> {
  /** True: what an earlier process left unfinished is taken up at once. */
  readonly recover: boolean;
}

export async function openErrand(parts: ErrandParts): Promise<Errand> {
  const store = toldStore(parts.store);
  const listeners = new Map<(delta: TextDelta) => void, (delta: TextDelta) => void>();
  const watchers = new Map<DelegationListener, DelegationListener>();
  /** Resolves when all delegations so far were told, in their order. */
  let told = Promise.resolve();
  const runtime = createRuntime({
    ...parts,
    onText: (tree, agent, text) => {
      for (const listener of listeners.values()) listener({ tree, agent, text });
    },
    onDelegation: (tree, record) => {
      if (watchers.size > 0) told = told.then(() => tellDelegation({ tree, ...record }));
    },
  });
  const recovered = parts.recover ? await recover() : 0;
  const { models, sha256 } = parts;
  const source: FeedSource = {
    rows: (tree, after, signal) => runtime.rows(asTreeId(tree), after, signal),
    onText(listener) {
      listeners.set(listener, listener);
      return () => void listeners.delete(listener);
    },
  };
  const tasks = createTasks({ runtime, store, models, sha256, source, onFailure: parts.onFailure });
  const agentParts = { runtime, store, models, sha256, tasks };

  async function tellDelegation(record: DelegationRecord & { readonly tree: string }): Promise<void> {
    try {
      await parts.store.flush?.();
    } catch {
      // Nobody is told what may be lost; the runtime tells that the store failed.
      return;
    }
    for (const watcher of watchers.values()) watcher(structuredClone(record));
  }

  async function recover(): Promise<number> {
    try {
      return await runtime.recover();
    } catch (error) {
      await runtime.close(0);
      throw error;
    }
  }

  async function attach(tree: TreeId, channel: Channel | undefined): Promise<Attachment | null> {
    if (channel === undefined) return null;
    const attachment = { tree, channel };
    await runtime.attach(attachment);
    return attachment;
  }

  function postId(): PostId {
    return asPostId(runtime.newId());
  }

  async function findRun(id: string): Promise<StoredRun> {
    const run = uuidIs(id) ? await store.run(id) : null;
    if (run === null) throw new ErrandError("run-unknown", `There is no run ${id} in ${store.description}.`);
    return run;
  }

  async function findTree(id: string): Promise<TreeRecord> {
    const tree = uuidIs(id) ? await store.tree(asTreeId(id)) : null;
    if (tree === null) throw new ErrandError("tree-unknown", `There is no tree ${id} in ${store.description}.`);
    return tree;
  }

  return {
    recovered,
    channels: runtime.channels,
    treesInMemory: runtime.loaded,
    run: async (task, options = {}) => tasks.run(task, options),
    stream: (task, options = {}) => tasks.stream(task, options),
    events: (tree, { after } = {}) => eventFeed(source, tree, { after }),
    async start(message, { agent = ROOT_AGENT, kind = "foreground", channel, key } = {}) {
      const tree = tasks.treeOfKey(key);
      const id = tasks.messageOfKey(key);
      const input = postedMessage(id, 0, message);
      const attachment = await attach(tree, channel);
      try {
        const first = { input, text: message };
        await tasks.begin({ tree, keyed: key !== undefined, definition: agent, kind, first });
      } catch (error) {
        runtime.detach(tree);
        throw error;
      }
      return {
        agent: createAgent(agentParts, tree, 0, tree, attachment),
        id,
        reply: ({ timeoutMs = AWAIT_TIMEOUT_MS } = {}) => runtime.reply(tree, id, timeoutMs),
      };
    },
    async openAgent({ agent = ROOT_AGENT, kind = "foreground", channel, key } = {}) {
      const tree = tasks.treeOfKey(key);
      await tasks.begin({ tree, keyed: key !== undefined, definition: agent, kind });
      return createAgent(agentParts, tree, 0, tree, await attach(tree, channel));
    },
    async agent(id, options = {}) {
      const tree = asTreeId(id);
      if (runtime.holds(tree) || (uuidIs(id) && (await store.tree(tree)) !== null)) {
        return createAgent(agentParts, tree, 0, id, await attach(tree, options.channel));
      }
      const run = uuidIs(id) ? await store.runOfAgent(id) : null;
      if (run === null) throw new ErrandError("agent-unknown", `There is no agent ${id} in ${store.description}.`);
      return createAgent(agentParts, run.tree, run.number, id);
    },
    listTrees: (query = {}) => store.trees({ limit: LIST_LIMIT, ...query }),
    async listRuns({ tree, ...query } = {}) {
      if (tree !== undefined && !uuidIs(tree)) return [];
      return store.runs({ limit: LIST_LIMIT, ...query, ...(tree === undefined ? {} : { tree: asTreeId(tree) }) });
    },
    getRun: findRun,
    result: async (id) => (await runResult(store, await findRun(id))).whole,
    async cancel(id) {
      const run = await findRun(id);
      const rejected = await runtime.post(run.tree, { type: "cancel-asked", id: postId(), run: run.number }, []);
      return rejected === null;
    },
    questions: ({ tree } = {}) => openQuestions(store, parts.sha256, tree === undefined ? undefined : asTreeId(tree)),
    async answer(question, { allow, note = "", seen, always }) {
      const named = questionNamed(question);
      const tree = named === null ? null : await store.tree(named.tree);
      if (named === null || tree === null) throw questionClosed(question);
      const input = {
        type: "answer-given",
        id: postId(),
        question: named.key,
        allow,
        ...(seen === undefined ? {} : { seen }),
        ...(always === true ? { always } : {}),
      } as const;
      const rejected = await runtime.post(tree.id, input, [note]);
      if (rejected !== null) throw questionClosed(question);
    },
    async *journal(tree, options = {}) {
      for await (const row of runtime.rows(asTreeId(tree), options.after ?? 0)) {
        yield treeEventOf(tree, row);
      }
    },
    onText(listener) {
      listeners.set(listener, isolated("onText", listener, parts.onFailure));
      return () => void listeners.delete(listener);
    },
    replay: async (id) => {
      const tree = await findTree(id);
      return replayJournal(
        { rows: storedRows(store, tree.id), blob: (hash) => store.blob(tree.id, hash) },
        parts.sha256,
      );
    },
    async *export(id) {
      yield* exportLines(store, await findTree(id), parts.sha256);
    },
    async fork(id, { at, agent, channel }) {
      const root = agent === undefined ? undefined : parts.catalog.facts.find((facts) => facts.name === agent);
      if (agent !== undefined && root === undefined) {
        throw new ErrandError("definition-unknown", `There is no agent definition "${agent}".`);
      }
      const tree = await runtime.fork((await findTree(id)).id, at, root);
      return createAgent(agentParts, tree, 0, tree, await attach(tree, channel));
    },
    onDelegation(listener) {
      watchers.set(listener, isolated("onDelegation", listener, parts.onFailure));
      return () => void watchers.delete(listener);
    },
    async close(options = {}) {
      await runtime.close(options.withinMs ?? CLOSE_WITHIN_MS);
      await told;
    },
  };
}

function questionClosed(question: string): ErrandError {
  return new ErrandError("question-closed", `No question ${question} is open.`, {
    remedy: "It was answered, or the turn it belonged to has ended. The open ones: errand answer",
  });
}
