/**
 * The runtime of one store: takes messages in, moves trees on, runs their effects, wakes and drops them, and closes down in order.
 * It knows ports only; create-runtime.ts gives it the adapters.
 */

import type { Channel } from "../contracts/channel.ts";
import type { ModelProvider } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { CancelTimer, World } from "../contracts/world.ts";
import type { Input } from "../core/event.ts";
import { asTreeId, type PostId, type TreeId, uuidOf } from "../core/ids.ts";
import type { Sha256 } from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import type { Settings } from "../core/limits.ts";
import { headRead } from "../core/row.ts";
import { stateBusy } from "../core/state.ts";
import { ErrandError } from "../errors.ts";
import type { Catalog } from "./catalog.ts";
import type { Clock } from "./clock.ts";
import { type Committed, createCommitLoop } from "./commit-loop.ts";
import { createDefinitionLibrary } from "./definition-library.ts";
import { createEffectRunner } from "./effects.ts";
import { createOutbox } from "./outbox.ts";
import { createSchemaChecker } from "./output-schema.ts";
import { createScheduler } from "./scheduler.ts";
import { createStoreReader } from "./store-reader.ts";
import { createSubscriptions, type Subscriptions } from "./subscriptions.ts";
import { createTreeCache, type LoadedTree } from "./tree-cache.ts";
import { postsEnded, type Reply, turnOutcome } from "./turn-outcome.ts";

export interface RuntimeParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly models: ModelProvider;
  readonly tools: readonly Tool[];
  readonly catalog: Catalog;
  readonly settings: Settings;
  readonly workspace: string;
  readonly slots: number;
  readonly sha256: Sha256;
  readonly onFailure: (error: ErrandError) => void;
  readonly onText: (tree: TreeId, agent: string, delta: string) => void;
}

export type PostInput = Extract<Input, { readonly id: PostId }>;

export interface Runtime {
  open(definition: string, kind: "foreground" | "background", id?: TreeId): Promise<TreeId>;
  /** Resolves when the input is durable, with the reason why it changed nothing, if it did not. */
  post(tree: TreeId, input: PostInput, texts: readonly Json[]): Promise<{ readonly late: string | null }>;
  /** Waits for the end of the turn that took the post. */
  reply(tree: TreeId, post: PostId, timeoutMs: number): Promise<Reply>;
  attach(tree: TreeId, channel: Channel): Promise<void>;
  /** Loads what a dead process left, and goes on with it. */
  recover(): Promise<number>;
  newId(): string;
  readonly rows: Subscriptions["rows"];
  loaded(): number;
  close(withinMs: number): Promise<void>;
}

/** Trees kept in memory though they have nothing to do. */
const IDLE_TREES = 32;
const MAIL_POLL_MS = 50;
const MAIL_AT_A_TIME = 500;
const NO_WAKE_RETRY_MS = 5_000;

export function createRuntime(parts: RuntimeParts): Runtime {
  const { store, world, clock, catalog, sha256 } = parts;
  const library = createDefinitionLibrary(catalog.texts);
  const subscriptions = createSubscriptions(store);
  const idle = new Set<TreeId>();
  const replies = new Map<string, Set<(committed: Committed) => void>>();
  const posting = new Map<string, { readonly hash: string; readonly late: Promise<string | null> }>();
  let closing = false;
  let poll: CancelTimer | null = null;

  const scheduler = createScheduler(parts.slots, world, clock, () => void wakeDue().catch(failed));
  const trees = createTreeCache({
    store,
    source: { sha256, definition: library.text },
    library,
    onLoaded(loaded) {
      scheduler.moved(loaded.id, loaded.tree.state.running, loaded.tree.state.queued);
      resume(loaded);
    },
    onDropped(loaded) {
      idle.delete(loaded.id);
      scheduler.forget(loaded.id, loaded.tree.state.running);
    },
  });
  const loop = createCommitLoop({
    store,
    world,
    clock,
    trees,
    scheduler,
    onCommitted,
    onSettled,
    onFailure: parts.onFailure,
  });
  const outbox = createOutbox(store, loop.acknowledge);
  const effects = createEffectRunner({
    models: parts.models,
    tools: parts.tools,
    schemas: createSchemaChecker(),
    outputs: catalog.outputs,
    workspace: parts.workspace,
    reader: createStoreReader(store, sha256, () => clock.now()),
    now: () => clock.now(),
    submit: (submission) => void loop.submit(submission).catch(failed),
    onText: parts.onText,
  });

  function failed(error: unknown): void {
    if (error instanceof ErrandError && (error.code === "store-closed" || error.code === "tree-quarantined")) return;
    parts.onFailure(
      error instanceof ErrandError ? error : new ErrandError("store-failed", "The runtime failed.", { cause: error }),
    );
  }

  function inner(tree: TreeId, input: Input): void {
    void loop.submit({ tree, input, texts: [] }).catch(failed);
  }

  /** A tree came from the store: what its last process had under way is lost, and its definitions may have changed. */
  function resume(loaded: LoadedTree): void {
    const { state } = loaded.tree;
    const known = new Map(catalog.facts.map((facts) => [facts.name, facts.hash]));
    const root = state.agents.get(0);
    const renewed = root === undefined ? undefined : catalog.facts.find((facts) => facts.name === root.definition.name);
    const same =
      state.catalog.size === known.size &&
      [...state.catalog.values()].every((facts) => known.get(facts.name) === facts.hash);
    if (!same && renewed !== undefined) {
      const input: Input = { type: "catalog-changed", catalog: catalog.facts, root: renewed };
      void loop.submit({ tree: loaded.id, input, texts: [], blobs: catalog.blobs }).catch(failed);
    }
    const lost = [...state.effects].filter(
      ([key, effect]) => effect.retryAt === null && !effects.under(loaded.id, key),
    );
    if (lost.length > 0) inner(loaded.id, { type: "effects-lost", effects: lost.map(([key]) => key) });
  }

  function onCommitted(committed: Committed): void {
    const { tree, loaded, stepped } = committed;
    subscriptions.publish(tree, stepped.row);
    for (const message of stepped.outgoing) outbox.send(tree, message);
    for (const post of postsEnded(stepped.decision.events)) {
      for (const told of replies.get(`${tree}/${post}`) ?? []) told(committed);
    }
    for (const effect of stepped.decision.effects) effects.start(loaded, effect);
  }

  /** After a commit: slots that became free are offered, and trees with nothing to do leave memory. */
  function onSettled(ids: readonly TreeId[]): void {
    const offer = closing ? null : scheduler.nextToOffer();
    if (offer !== null && !ids.includes(offer)) inner(offer, { type: "slots-offered" });
    for (const id of ids) {
      idle.delete(id);
      if (resting(id)) idle.add(id);
    }
    for (const id of idle) {
      if (idle.size <= IDLE_TREES) return;
      if (resting(id)) trees.drop(id);
      else idle.delete(id);
    }
  }

  function resting(id: TreeId): boolean {
    const loaded = trees.get(id);
    return loaded !== undefined && !stateBusy(loaded.tree.state) && effects.count(id) === 0 && !loop.occupied(id);
  }

  async function wakeDue(): Promise<void> {
    if (closing) return;
    for (const tree of await store.due(clock.now())) inner(tree, { type: "timers-due" });
    await loop.idle();
    const next = await store.nextWake();
    // A tree whose wake-up changes nothing must not make a busy loop of it.
    scheduler.wakeAt(next === null ? null : next <= clock.now() ? clock.now() + NO_WAKE_RETRY_MS : next);
  }

  async function takeMail(): Promise<void> {
    for (const mail of await store.pendingMail(MAIL_AT_A_TIME)) {
      if (posting.has(`${mail.tree}/${mail.id}`)) continue;
      const { input, texts } = JSON.parse(mail.payload) as { input: PostInput; texts: readonly Json[] };
      void postOnce(mail.tree, input, texts, mail.hash).catch(failed);
    }
  }

  function pollMail(): void {
    poll = world.after(MAIL_POLL_MS, () => {
      void (async () => {
        if (closing) return;
        if (await store.changed()) await takeMail();
        if (!closing) pollMail();
      })().catch(failed);
    });
  }
  pollMail();

  /** Posts under way are known by their id, so that a repetition waits for the first instead of being taken twice. */
  function postOnce(tree: TreeId, input: PostInput, texts: readonly Json[], hash: string): Promise<string | null> {
    const name = `${tree}/${input.id}`;
    const late = takePost(tree, input, texts, hash).finally(() => posting.delete(name));
    posting.set(name, { hash, late });
    return late;
  }

  async function takePost(
    tree: TreeId,
    input: PostInput,
    texts: readonly Json[],
    hash: string,
  ): Promise<string | null> {
    const known = await store.post(tree, input.id);
    if (known === null) {
      const { stepped } = await loop.submit({ tree, input, texts, post: { id: input.id, hash } });
      return stepped.decision.late;
    }
    if (known.hash !== hash) throw reused(input.id);
    const [row] = await store.rows(tree, known.seq, 1);
    return row === undefined ? null : (headRead(row.head).late ?? null);
  }

  function intake(): void {
    if (closing) throw new ErrandError("shutting-down", "Errand is closing and takes no new work.");
  }

  function reused(id: PostId): ErrandError {
    return new ErrandError("id-reused", `The id ${id} was used before, with other content.`, {
      remedy: "Use a new id for a new message.",
    });
  }

  const newId = (): string => uuidOf(world.wall(), world.random(16), Number.parseInt(world.random(3), 16));

  return {
    newId,
    rows: subscriptions.rows,
    loaded: () => trees.size,
    async open(definition, kind, id = asTreeId(newId())) {
      intake();
      if (!catalog.facts.some((facts) => facts.name === definition)) {
        throw new ErrandError("definition-unknown", `There is no agent definition "${definition}".`, {
          remedy: `Known: ${catalog.facts.map((facts) => facts.name).join(", ")}.`,
        });
      }
      const input: Input = {
        type: "tree-opened",
        agent: id,
        kind,
        definition,
        catalog: catalog.facts,
        settings: parts.settings,
      };
      await loop.submit({ tree: id, input, texts: [], create: { agent: definition, kind }, blobs: catalog.blobs });
      return id;
    },
    async post(tree, input, texts) {
      intake();
      const hash = sha256(JSON.stringify([input, texts]));
      const under = posting.get(`${tree}/${input.id}`);
      if (under === undefined) return { late: await postOnce(tree, input, texts, hash) };
      if (under.hash !== hash) throw reused(input.id);
      return { late: await under.late };
    },
    async reply(tree, post, timeoutMs) {
      const name = `${tree}/${post}`;
      const waiting = Promise.withResolvers<Committed | null>();
      const told = replies.get(name) ?? new Set();
      told.add(waiting.resolve);
      replies.set(name, told);
      const cancel = world.after(timeoutMs, () => waiting.resolve(null));
      try {
        const known = await store.post(tree, post);
        if (known !== null && known.endedSeq !== null)
          return outcomeOf((await store.rows(tree, known.endedSeq, 1))[0], post);
        const committed = await waiting.promise;
        if (committed !== null) return outcomeOf(committed.stepped.row, post);
        throw new ErrandError("turn-timeout", `No answer within ${timeoutMs / 1_000} s. The turn goes on.`, {
          remedy: "Wait for it again with the same message id.",
        });
      } finally {
        cancel();
        told.delete(waiting.resolve);
        if (told.size === 0) replies.delete(name);
      }
    },
    attach: (tree, channel) => outbox.attach(tree, channel),
    async recover() {
      const unfinished = await store.unfinished(clock.now());
      await Promise.all(
        unfinished.map(async (id) => {
          try {
            await trees.load(id);
          } catch (error) {
            failed(error);
          }
        }),
      );
      await takeMail();
      await wakeDue();
      return unfinished.length;
    },
    async close(withinMs) {
      if (closing) return;
      closing = true;
      poll?.();
      scheduler.close();
      await loop.idle();
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const cancel = world.after(withinMs, resolve);
      await Promise.race([effects.drain(), late]);
      cancel();
      effects.abortAll();
      await loop.idle();
      await outbox.idle();
      await loop.close();
      subscriptions.close();
      await store.close();
    },
  };
}

function outcomeOf(row: Parameters<typeof turnOutcome>[0] | undefined, post: PostId): Reply {
  if (row === undefined)
    throw new ErrandError("store-corrupt", `The row that ended the turn of post ${post} is missing.`);
  const outcome = turnOutcome(row, post);
  if (outcome instanceof ErrandError) throw outcome;
  return outcome;
}
