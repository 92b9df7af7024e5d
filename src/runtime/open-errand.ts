/** The public face of a runtime: agents, tasks, runs, events and questions of one store. */

import type { Channel } from "../contracts/channel.ts";
import type { StoredRun, TreeRecord } from "../contracts/store.ts";
import { asPostId, asTreeId, type PostId, type TreeId, uuidIs } from "../core/values/ids.ts";
import { ANSWER_UNFIT } from "../core/questions/questions.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import { ErrandError } from "../errors.ts";
import { aiSdkTools } from "../host-tools/ai-sdk-tools.ts";
import { createHostTools } from "../host-tools/host-tools.ts";
import { AWAIT_TIMEOUT_MS, createAgent } from "./agent.ts";
import { postedMessage } from "./messages/posted-message.ts";
import { isolated } from "./listeners.ts";
import { exportLines } from "./journals/journal-file.ts";
import { replayJournal } from "./journals/replay-tree.ts";
import { storedRows } from "./journals/stored-rows.ts";
import { readHistory } from "./journals/read-history.ts";
import { runResult } from "./journals/run-result.ts";
import { toldStore } from "./journals/durable-reads.ts";
import { answerInput, answerUnfit, questionClosed } from "./messages/answers.ts";
import { openQuestions, questionNamed } from "./messages/open-questions.ts";
import type { Attachment } from "./messages/channel-line.ts";
import type { Errand, GivenAnswer, TextDelta } from "./errand.ts";
import { toldRun } from "./runs.ts";
import { createRuntime, type RuntimeParts } from "./runtime.ts";
import { treeEventOf } from "../view/tree-event.ts";
import { eventFeed, type FeedSource } from "./tasks/event-feed.ts";
import { hostAgents } from "./definitions/host-agents.ts";
import { createHostRuns } from "./tasks/host-runs.ts";
import { createTasks } from "./tasks/tasks.ts";

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
  /** Resolves when all delegations so far were reported, in order. */
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
  const { models, sha256, redactor, onFailure } = parts;
  const source: FeedSource = {
    rows: (tree, after, signal) => runtime.rows(asTreeId(tree), after, signal),
    onText(listener) {
      listeners.set(listener, listener);
      return () => void listeners.delete(listener);
    },
  };
  const tasks = createTasks({ runtime, store, models, sha256, redactor, source, onFailure });
  const agentParts = { runtime, store, models, sha256, tasks };

  async function tellDelegation(record: DelegationRecord & { readonly tree: string }): Promise<void> {
    try {
      await parts.store.flush?.();
    } catch {
      // Events that may be lost are not delivered; the runtime reports that the store failed.
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

  async function answer(question: string, given: GivenAnswer): Promise<void> {
    const named = questionNamed(question);
    const tree = named === null ? null : await store.tree(named.tree);
    if (named === null || tree === null) throw questionClosed(question);
    const { input, words } = answerInput(postId(), named.key, given);
    const rejected = await runtime.post(tree.id, input, [words]);
    if (rejected === ANSWER_UNFIT) throw answerUnfit(question);
    if (rejected !== null) throw questionClosed(question);
  }

  const hostRuns = createHostRuns({
    ...parts,
    store,
    source,
    newId: runtime.newId,
    agents: (names) => hostAgents(parts.catalog, names),
    post: (tree, input, texts) => runtime.post(tree, input, texts, true),
    begin: tasks.begin,
    answer,
    questions: (tree) => openQuestions(store, sha256, tree),
    history: (tree, agent) => readHistory(store, tree, agent, sha256),
  });

  return {
    recovered,
    channels: runtime.channels,
    treesInMemory: runtime.loaded,
    run: async (task, options = {}) => tasks.run(task, options),
    stream: (task, options = {}) => tasks.stream(task, options),
    events: (tree, { after } = {}) => eventFeed(source, tree, { after }),
    async start(message, { agent = ROOT_AGENT, kind = "foreground", channel, key, data } = {}) {
      const tree = tasks.treeOfKey(key);
      const id = tasks.messageOfKey(key);
      const input = postedMessage(id, 0, message);
      const first = { input, text: message };
      const beginning = { tree, keyed: key !== undefined, definition: agent, kind, data, first };
      // A key may be refused: the conversation that has it keeps its channel then.
      if (key !== undefined) await tasks.begin(beginning);
      const attachment = await attach(tree, channel);
      try {
        if (key === undefined) await tasks.begin(beginning);
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
    async openAgent({ agent = ROOT_AGENT, kind = "foreground", channel, key, data } = {}) {
      const tree = tasks.treeOfKey(key);
      await tasks.begin({ tree, keyed: key !== undefined, definition: agent, kind, data });
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
    async listTrees({ before, ...query } = {}) {
      if (before !== undefined && !uuidIs(before)) return [];
      return store.trees({
        limit: LIST_LIMIT,
        ...query,
        ...(before === undefined ? {} : { before: asTreeId(before) }),
      });
    },
    async listRuns({ tree, ...query } = {}) {
      if (tree !== undefined && !uuidIs(tree)) return [];
      const one = tree === undefined ? {} : { tree: asTreeId(tree) };
      const runs = await store.runs({ limit: LIST_LIMIT, ...query, ...one });
      return Promise.all(runs.map((run) => toldRun(store, run)));
    },
    getRun: async (id) => toldRun(store, await findRun(id)),
    result: async (id) => (await runResult(store, await findRun(id))).whole,
    async cancel(id) {
      const run = await findRun(id);
      const rejected = await runtime.post(run.tree, { type: "cancel-asked", id: postId(), run: run.number }, []);
      return rejected === null;
    },
    tools: (options) => aiSdkTools(createHostTools(hostRuns, options)),
    hostTools: (options) => createHostTools(hostRuns, options),
    questions: ({ tree } = {}) => openQuestions(store, parts.sha256, tree === undefined ? undefined : asTreeId(tree)),
    answer,
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
