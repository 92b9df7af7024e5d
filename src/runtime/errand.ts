/** The public face of a runtime: agents, messages, runs and events, in the words of the documentation. */

import type { Channel } from "../contracts/channel.ts";
import type { RunQuery, StoredRun, TreeQuery, TreeRecord } from "../contracts/store.ts";
import type { Fact } from "../core/event.ts";
import { asPostId, asTreeId, type PostId, type TreeId, uuidIs } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { ReplayReport } from "../core/replay.ts";
import { bodyRead, headRead } from "../core/row.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import { ErrandError } from "../errors.ts";
import { modelFacts } from "./inputs.ts";
import { exportLines } from "./journal-file.ts";
import { replayJournal, storedRows } from "./replay-tree.ts";
import { runFindings } from "./run-result.ts";
import type { PostInput } from "./posts.ts";
import { createRuntime, type RuntimeParts } from "./runtime.ts";
import type { Reply } from "./turn-outcome.ts";

export interface OpenAgentOptions {
  /** Name of the definition it is made from. Default: `orchestrator`. */
  readonly agent?: string;
  /** `foreground` speaks to a user through its channel. Default: `foreground`. */
  readonly kind?: "foreground" | "background";
  /** Where its messages to the user go. */
  readonly channel?: Channel;
}

export interface PostOptions {
  /** Makes the message idempotent: posting again under the same id gives the first post's result. */
  readonly id?: string;
  /**
   * `user` (default): a request of the user. `system`: an internal update, no request. `steer`: spoken into the turn under way, before
   * its next iteration; starts a turn of an idle agent.
   */
  readonly kind?: "user" | "system" | "steer";
  /** True, for a system message: it joins the context and causes no inference. */
  readonly silent?: boolean;
}

export interface AwaitOptions extends PostOptions {
  /** How long to wait for the answer. Default: 600 s. The turn goes on after it. */
  readonly timeoutMs?: number;
}

export interface SpawnOptions {
  /** Makes the spawn idempotent: asking again under the same id gives the same run. */
  readonly id?: string;
  readonly task: string;
  readonly label?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly context?: string;
  readonly files?: readonly string[];
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  readonly group?: string;
}

/** An addressable conversation with an inbox. */
export interface Agent {
  readonly id: string;
  /** Resolves when the message is durable. */
  post(text: string, options?: PostOptions): Promise<{ readonly id: string }>;
  /**
   * Posts, and waits for the answer of the turn that takes the message. Rejects when that turn fails, is cancelled or takes too long: never
   * a failure as an answer. The wait survives a restart: ask again under the same id.
   */
  postAndAwait(text: string, options?: AwaitOptions): Promise<Reply>;
  /** Starts a background run below this agent. */
  spawn(options: SpawnOptions): Promise<StoredRun>;
  /** Ends the turn under way and every run below. */
  cancel(): Promise<void>;
  /** Takes no more messages. Runs below go on; their outcomes are kept. */
  close(): Promise<void>;
}

/** One committed step, as facts. */
export interface TreeEvent {
  readonly tree: string;
  readonly seq: number;
  readonly at: number;
  /** Why the input changed nothing, or null. */
  readonly late: string | null;
  /** The input and what was decided because of it. */
  readonly facts: readonly Fact[];
  /** What models and people read of it; empty once it was erased. */
  readonly texts: readonly Json[];
}

/** A live piece of text that an agent is saying. Not recorded. */
export interface TextDelta {
  readonly tree: string;
  readonly agent: string;
  readonly text: string;
}

export interface Errand {
  openAgent(options?: OpenAgentOptions): Promise<Agent>;
  /** An agent of the store, by its id. */
  agent(id: string, options?: { readonly channel?: Channel }): Promise<Agent>;
  agents(query?: Partial<TreeQuery>): Promise<readonly TreeRecord[]>;
  runs(query?: Partial<RunQuery>): Promise<readonly StoredRun[]>;
  run(id: string): Promise<StoredRun>;
  /** The whole findings of an ended run. */
  result(run: string): Promise<string>;
  /** Cancels a run and everything below it. Returns false if it had ended. */
  cancel(run: string): Promise<boolean>;
  /** Every committed step of a tree after `after` (default: from the first), those to come included. */
  events(tree: string, options?: { readonly after?: number }): AsyncGenerator<TreeEvent, void, void>;
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
  /** How many trees are in memory. */
  readonly treesInMemory: number;
  /** Trees that an earlier process left unfinished and that were taken up when this one started. */
  readonly recovered: number;
  /** Stops taking work, lets what is under way finish within the bound, parks the rest, and closes the store. */
  close(options?: { readonly withinMs?: number }): Promise<void>;
}

const AWAIT_TIMEOUT_MS = 600_000;
const CLOSE_WITHIN_MS = 5_000;
const LIST_LIMIT = 100;

export async function openErrand(parts: Omit<RuntimeParts, "onText" | "onDelegation">): Promise<Errand> {
  const { store } = parts;
  const listeners = new Set<(delta: TextDelta) => void>();
  const watchers = new Set<(record: DelegationRecord & { readonly tree: string }) => void>();
  const runtime = createRuntime({
    ...parts,
    onText: (tree, agent, text) => {
      for (const listener of listeners) listener({ tree, agent, text });
    },
    onDelegation: (tree, record) => {
      for (const watcher of watchers) watcher({ tree, ...record });
    },
  });
  const recovered = await runtime.recover();

  async function postInput(tree: TreeId, input: PostInput, texts: readonly Json[]): Promise<void> {
    const { late } = await runtime.post(tree, input, texts);
    if (late !== null) throw new ErrandError("agent-unknown", `Agent ${tree} did not take it: ${late}.`);
  }

  function postId(options: { readonly id?: string } | undefined): PostId {
    return asPostId(options?.id ?? runtime.newId());
  }

  function agentAt(tree: TreeId, number: number, id: string): Agent {
    async function post(text: string, options: PostOptions = {}): Promise<{ id: string }> {
      const { kind = "user" } = options;
      if (text === "") throw new ErrandError("usage", "A message must not be empty.");
      if (options.silent === true && kind !== "system")
        throw new ErrandError("usage", "Only a system message can be silent.");
      const posted = postId(options);
      const silent = options.silent === true ? ({ silent: true } as const) : {};
      await postInput(tree, { type: "message-posted", id: posted, to: number, kind, ...silent, size: text.length }, [
        text,
      ]);
      return { id: posted };
    }
    return {
      id,
      post,
      async postAndAwait(text, options = {}) {
        if (options.silent === true) {
          throw new ErrandError("silent-await", "A silent message causes no turn, so there is no answer to wait for.", {
            remedy: "Post it without waiting, or leave `silent` out.",
          });
        }
        const posted = await post(text, options);
        return runtime.reply(tree, asPostId(posted.id), options.timeoutMs ?? AWAIT_TIMEOUT_MS);
      },
      async spawn(options) {
        const { id: given, maxIterations, timeoutSeconds, ...named } = options;
        const args = {
          ...named,
          ...(maxIterations === undefined ? {} : { max_iterations: maxIterations }),
          ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
        };
        const post = postId(given === undefined ? undefined : { id: given });
        const facts = options.model === undefined ? {} : modelFacts(options.model, parts.models);
        const { late } = await runtime.post(tree, { type: "run-asked", id: post, parent: number, facts }, [args]);
        if (late !== null) throw new ErrandError("usage", `The run was refused: ${late}.`);
        const seq = (await store.post(tree, post))?.seq;
        const made = (await store.runs({ tree, limit: Number.MAX_SAFE_INTEGER })).find((run) => run.createdSeq === seq);
        if (made === undefined) throw new ErrandError("run-unknown", "The run that was made is not in the store.");
        return made;
      },
      cancel: () =>
        postInput(tree, { type: "cancel-asked", id: postId(undefined), run: number === 0 ? null : number }, []),
      close: () => postInput(tree, { type: "close-asked", id: postId(undefined) }, []),
    };
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
    get treesInMemory() {
      return runtime.loaded();
    },
    async openAgent(options = {}) {
      const tree = await runtime.open(options.agent ?? "orchestrator", options.kind ?? "foreground");
      if (options.channel !== undefined) await runtime.attach(tree, options.channel);
      return agentAt(tree, 0, tree);
    },
    async agent(id, options = {}) {
      const tree = uuidIs(id) ? await store.tree(asTreeId(id)) : null;
      if (tree !== null) {
        if (options.channel !== undefined) await runtime.attach(tree.id, options.channel);
        return agentAt(tree.id, 0, id);
      }
      const run = uuidIs(id) ? await store.runOfAgent(id) : null;
      if (run === null) throw new ErrandError("agent-unknown", `There is no agent ${id} in ${store.description}.`);
      return agentAt(run.tree, run.number, id);
    },
    agents: (query = {}) => store.trees({ limit: LIST_LIMIT, ...query }),
    runs: (query = {}) => store.runs({ limit: LIST_LIMIT, ...query }),
    run: findRun,
    result: async (id) => runFindings(store, await findRun(id)),
    async cancel(id) {
      const run = await findRun(id);
      const { late } = await runtime.post(
        run.tree,
        { type: "cancel-asked", id: postId(undefined), run: run.number },
        [],
      );
      return late === null;
    },
    async *events(tree, options = {}) {
      for await (const row of runtime.rows(asTreeId(tree), options.after ?? 0)) {
        const { at, late, input, events = [] } = headRead(row.head);
        yield {
          tree,
          seq: row.seq,
          at,
          late: late ?? null,
          facts: [input, ...events],
          texts: bodyRead(row.body).texts,
        };
      }
    },
    onText(listener) {
      listeners.add(listener);
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
      if (channel !== undefined) await runtime.attach(tree, channel);
      return agentAt(tree, 0, tree);
    },
    onDelegation(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    close: (options = {}) => runtime.close(options.withinMs ?? CLOSE_WITHIN_MS),
  };
}
