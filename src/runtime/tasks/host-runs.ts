/**
 * Runs that a host's tools start: each is the first run of a tree of its own, whose root is a program.
 *
 * Invariants:
 *  1. A run's group is HOST_GROUP exactly if host tools started it. Tools know no other run.
 *  2. A run that has ended has a tree at rest: the kernel ends what is below it in the same step.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import type { Store, StoredRun, TreeRecord } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { statusLabel } from "../../core/text/index.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import { asPostId, asTreeId, type TreeId, uuidIs } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import type { HostAnswer, HostRun, HostRuntime } from "../../host-tools/host-runtime.ts";
import { treeIdle, type TreeModel } from "../../view/tree-model.ts";
import type { HistoryItem } from "../../view/history.ts";
import { runResult } from "../journals/run-result.ts";
import { isolated } from "../listeners.ts";
import { type OpenQuestion, questionNamed } from "../messages/open-questions.ts";
import type { PostInput } from "../messages/mail.ts";
import { postedMessage } from "../messages/posted-message.ts";
import { runMadeBy, runRequest } from "../runs.ts";
import { checkSchema } from "../schemas/check-schema.ts";
import type { Begin } from "./beginning.ts";
import { eventFeed, type FeedSource } from "./event-feed.ts";
import { activityOf, progressLine } from "./host-progress.ts";
import { keyedId } from "./keyed-id.ts";

export interface HostRunsParts {
  readonly store: Store;
  readonly models: ModelProvider;
  readonly world: World;
  readonly source: FeedSource;
  readonly sha256: Sha256;
  readonly agents: HostRuntime["agents"];
  readonly newId: () => string;
  /** Puts an input, and gives the reason if it changed nothing. */
  readonly post: (tree: TreeId, input: PostInput, texts: readonly Json[]) => Promise<string | null>;
  readonly begin: Begin;
  readonly questions: (tree: TreeId) => Promise<readonly OpenQuestion[]>;
  readonly answer: (question: string, answer: HostAnswer) => Promise<void>;
  readonly history: (tree: TreeId, agent: StoredRun["number"]) => Promise<readonly HistoryItem[]>;
  readonly onFailure: (error: ErrandError) => void;
}

const HOST_GROUP = "host-tools";
const TREES_AT_A_TIME = 200;

export function createHostRuns(parts: HostRunsParts): HostRuntime {
  const { store, models, world, source, sha256, newId } = parts;

  function treeOfKey(key: string): TreeId {
    return asTreeId(keyedId("tree", `${HOST_GROUP} ${key}`, sha256));
  }

  async function findRun(id: string): Promise<StoredRun | null> {
    const run = uuidIs(id) ? await store.run(id) : null;
    return run?.group === HOST_GROUP && run.parent === 0 ? run : null;
  }

  async function knownRun(id: string): Promise<StoredRun> {
    const run = await findRun(id);
    if (run === null) throw new ErrandError("run-unknown", `There is no run ${id} of a host.`);
    return run;
  }

  function standing(run: StoredRun, tree: TreeRecord | null): HostRun {
    const { id, definition, name, status, reason, createdAt, startedAt, endedAt } = run;
    return { id, agent: definition, name, state: stateOf(run, tree), status, reason, createdAt, startedAt, endedAt };
  }

  return {
    agents: parts.agents,

    known: async (key) => (await store.tree(treeOfKey(key))) !== null,

    async start({ outputSchema, ...asked }, key, data) {
      const checked = outputSchema === undefined ? null : checkSchema(outputSchema, "model");
      if (checked !== null && "problem" in checked)
        throw new ErrandError("usage", `\`output_schema\` cannot be used: ${checked.problem}.`);
      const keyed = key !== undefined;
      const tree = keyed ? treeOfKey(key) : asTreeId(newId());
      const post = asPostId(keyed ? keyedId("message", `${HOST_GROUP} ${key}`, sha256) : newId());
      const output = outputSchema === undefined ? {} : { output: outputSchema };
      const request = { ...asked, ...output, group: HOST_GROUP };
      const { input, args } = runRequest(request, { parent: 0, asked: post, models });
      const first = { input, text: args };
      await parts.begin({ tree, keyed, definition: asked.agent, kind: "host", data, first });
      return (await runMadeBy(store, tree, post)).id;
    },

    async find(id) {
      const run = await findRun(id);
      return run === null ? null : standing(run, await store.tree(run.tree));
    },

    async list({ agents, open, limit }) {
      const runs: HostRun[] = [];
      for (let before: TreeId | undefined; ;) {
        const page = await store.trees({ ...(before === undefined ? {} : { before }), limit: TREES_AT_A_TIME });
        for (const tree of page) {
          if (tree.kind !== "host" || !agents.has(tree.agent)) continue;
          const [run] = await store.runs({ tree: tree.id, limit: 1 });
          if (run?.group !== HOST_GROUP) continue;
          const found = standing(run, tree);
          if (open !== undefined && open !== (found.state !== "ended")) continue;
          if (runs.length === limit) return { runs, more: true };
          runs.push(found);
        }
        before = page.at(-1)?.id;
        if (page.length < TREES_AT_A_TIME) return { runs, more: false };
      }
    },

    async follow(id, { timeoutMs, stopsAtQuestion, fromStart, signal, onLine }) {
      const { tree } = await knownRun(id);
      /** Everything up to here has happened before. */
      const known = ((await store.tree(tree))?.nextSeq ?? 1) - 1;
      const tell = onLine === undefined ? undefined : isolated("onProgress", onLine, parts.onFailure);
      const stopped = new AbortController();
      const stop = (): void => stopped.abort();
      const cancelTimer = timeoutMs === null || timeoutMs === 0 ? undefined : world.after(timeoutMs, stop);
      signal?.addEventListener("abort", stop, { once: true });
      if (signal?.aborted === true) stop();
      let newest: TreeModel | null = null;
      let over = false;
      const events = eventFeed(source, tree, {
        signal: stopped.signal,
        ends({ seq }, model, happened) {
          newest = model;
          for (const event of fromStart || seq > known ? happened : []) {
            const words = progressLine(event);
            if (words !== null) tell?.(words);
          }
          if (seq < known) return false;
          over = timeoutMs === 0 || treeIdle(model) || (stopsAtQuestion && model.questions.size > 0);
          return over;
        },
      });
      try {
        for (let next = await events.next(); next.done !== true;) next = await events.next();
      } finally {
        cancelTimer?.();
        signal?.removeEventListener("abort", stop);
      }
      if (!over && !stopped.signal.aborted)
        throw new ErrandError("store-closed", "Errand was closed before the run ended.", {
          remedy: "The next process that opens the store goes on with it: look for it under its run_id.",
        });
      return newest === null ? null : activityOf(newest);
    },

    async result(id) {
      const run = await knownRun(id);
      const { result, whole, error } = await runResult(store, run);
      const { text, artifacts, data } = result;
      const why = run.status === "ok" ? null : (error ?? statusLabel({ status: run.status ?? "interrupted" }));
      return { text, artifacts, data, whole, error: why };
    },

    questions: async (id) => parts.questions((await knownRun(id)).tree),

    async send(id, text) {
      const { tree, number } = await knownRun(id);
      const post = asPostId(newId());
      const rejected = await parts.post(tree, postedMessage(post, number, text, { kind: "steer" }), [text]);
      if (rejected !== null)
        throw new ErrandError("agent-unknown", `The run ${id} did not take the message: ${rejected}.`);
    },

    async answer(id, question, given) {
      const { tree } = await knownRun(id);
      if (questionNamed(question)?.tree !== tree)
        throw new ErrandError("question-closed", `The run ${id} has no question ${JSON.stringify(question)}.`);
      await parts.answer(question, given);
    },

    async cancel(id) {
      const { tree, number } = await knownRun(id);
      const input = { type: "cancel-asked", id: asPostId(newId()), run: number } as const;
      return (await parts.post(tree, input, [])) === null;
    },

    async transcript(id) {
      const { tree, number } = await knownRun(id);
      const items = await parts.history(tree, number);
      return items.map(({ at, from, text }) => `[${new Date(at).toISOString()} ${from}]\n${text}`).join("\n\n");
    },
  };
}

function stateOf({ state }: StoredRun, tree: TreeRecord | null): HostRun["state"] {
  if (state === "ended") return "ended";
  if (tree?.status === "quarantined") return "quarantined";
  if (tree !== null && tree.questions > 0) return "asking";
  return state === "queued" ? "queued" : "working";
}
