/**
 * The runtime of one store: takes messages in, moves trees on, runs their effects, wakes and drops them, and closes down in order.
 * It knows ports only; create-runtime.ts gives it the adapters.
 */

import type { Channel } from "../contracts/channel.ts";
import type { ModelProvider } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import type { Input } from "../core/event.ts";
import { type PostId, type TreeId, uuidOf } from "../core/ids.ts";
import type { Sha256 } from "../core/journal.ts";
import type { Settings } from "../core/limits.ts";
import type { ProcessRights } from "../core/permissions/process-rights.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import { stateBusy } from "../core/state.ts";
import { timersNext } from "../core/timers.ts";
import { treeSource } from "../core/tree.ts";
import { ErrandError } from "../errors.ts";
import { createBeginnings } from "./steps/beginnings.ts";
import type { Catalog } from "./definitions/catalog.ts";
import type { Clock } from "./clock.ts";
import { type Committed, createCommitLoop } from "./steps/commit-loop.ts";
import { createDefinitionLibrary } from "./definitions/definition-library.ts";
import { createHousekeeping } from "./steps/housekeeping.ts";
import { createEffectRunner } from "./steps/effects.ts";
import { createIdleTrees } from "./trees/idle-trees.ts";
import { createOpenings, type Openings } from "./trees/openings.ts";
import { createOutbox } from "./messages/outbox.ts";
import { createSchemaChecker } from "./schemas/schema-checker.ts";
import { createPosts, type Posts } from "./messages/posts.ts";
import { createScheduler } from "./steps/scheduler.ts";
import { resumeTree } from "./trees/resume-tree.ts";
import { createSharing } from "./trees/sharing.ts";
import type { Redactor } from "./redaction/redactor.ts";
import { createStoreReader } from "./journals/store-reader.ts";
import { createSubscriptions, type Subscriptions } from "./journals/subscriptions.ts";
import { createTreeCache } from "./trees/tree-cache.ts";

export interface RuntimeParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly models: ModelProvider;
  readonly tools: readonly Tool[];
  readonly catalog: Catalog;
  readonly settings: Settings;
  /** What agents may do while this process executes them. */
  readonly rights: ProcessRights;
  readonly workspace: string;
  readonly slots: number;
  /** How long a tree at rest is kept, in milliseconds; null for ever. */
  readonly retentionMs: number | null;
  readonly sha256: Sha256;
  /** Removes configured secrets from what is recorded and from what is streamed. */
  readonly redactor: Redactor;
  /** False: trees go on with the definitions they were recorded with. */
  readonly renewDefinitions: boolean;
  readonly onFailure: (error: ErrandError) => void;
  /** Told what a person should know about a store that others share; it fails nothing. */
  readonly onNotice: (notice: ErrandError) => void;
  readonly onText: (tree: TreeId, agent: string, delta: string) => void;
  readonly onDelegation: (tree: TreeId, record: DelegationRecord) => void;
}

export interface Runtime {
  readonly open: Openings["open"];
  readonly start: Openings["start"];
  readonly fork: Openings["fork"];
  readonly post: Posts["post"];
  readonly reply: Posts["reply"];
  attach(tree: TreeId, channel: Channel): Promise<void>;
  /** The tree's messages to the user go nowhere from now on. */
  detach(tree: TreeId): void;
  /** Loads what a dead process left, and goes on with it. */
  recover(): Promise<number>;
  newId(): string;
  readonly rows: Subscriptions["rows"];
  /** True if the tree is in memory; how many are. */
  holds(tree: TreeId): boolean;
  loaded(): number;
  close(withinMs: number): Promise<void>;
}

/** Trees that wait for a person or for another version or that another process runs, and a store that is closed: told to those who ask for them alone. */
const LEFT_ALONE: ReadonlySet<string> = new Set(["store-closed", "tree-quarantined", "tree-owned", "store-too-new"]);

export function createRuntime(parts: RuntimeParts): Runtime {
  const { store, world, clock, catalog, sha256, redactor } = parts;
  const library = createDefinitionLibrary(catalog.texts);
  const source = treeSource(sha256, library.text);
  const subscriptions = createSubscriptions(store);
  const idle = createIdleTrees(() => trees, resting, store.shared !== undefined);
  let closing = false;
  const sharing =
    store.shared === undefined
      ? null
      : createSharing({
          store,
          shared: store.shared,
          world,
          trees: () => trees,
          occupied: (tree) => loop.occupied(tree),
          watched: () => new Set([...subscriptions.watched(), ...posts.watched(), ...outbox.attached()]),
          onMoved: settleDoubt,
          onTaken: () => posts.takeMail(),
          onLost(tree) {
            effects.abortTree(tree);
            beginnings.forget(tree);
          },
          onKept: (loaded) => beginnings.beginHeld(loaded),
          onNotice: parts.onNotice,
          onFailure: failed,
        });

  const scheduler = createScheduler(parts.slots, world, clock, () => void housekeeping.wakeDue().catch(failed));
  const trees = createTreeCache({
    store,
    source,
    library,
    onLoaded(loaded) {
      scheduler.moved(loaded.id, loaded.tree.state.running, "none");
      // A commit of unknown outcome may have set timers that nobody here knows of.
      scheduler.wakeAt(timersNext(loaded.tree.state.timers));
      if (beginnings.holds(loaded.id)) void settleDoubt(loaded.id).catch(failed);
      resumeTree(loaded, {
        catalog,
        renewDefinitions: parts.renewDefinitions,
        effects,
        beginnings,
        loop,
        onFailure: failed,
      });
    },
    onClaimed: async (record) => sharing?.claimed(record),
    onRefused: (tree, there) => sharing?.refused(tree, there),
    onDropped(loaded) {
      sharing?.dropped(loaded);
      idle.forget(loaded.id);
      scheduler.forget(loaded.id, loaded.tree.state.running);
    },
  });
  const loop = createCommitLoop({
    store,
    world,
    clock,
    trees,
    scheduler,
    redactor,
    rights: parts.rights,
    onCommitted,
    onSettled,
    onAcknowledged: (keys) => outbox.settled(keys),
    onDoubt: (tree, steps) => beginnings.hold(tree, steps),
    onFailure: parts.onFailure,
  });
  const posts = createPosts({ store, world, loop, sha256, redactor, answering, onFailure: failed });
  const outbox = createOutbox(store, loop.acknowledge);
  const effects = createEffectRunner({
    models: parts.models,
    tools: parts.tools,
    schemas: createSchemaChecker(world),
    rights: parts.rights,
    outputs: catalog.outputs,
    workspace: parts.workspace,
    reader: createStoreReader(store, sha256, () => clock.now()),
    now: () => clock.now(),
    submit: (submission) => loop.take(submission, failed),
    redactor,
    onText: parts.onText,
  });
  const beginnings = createBeginnings(effects, () => sharing?.alive() ?? true);

  const housekeeping = createHousekeeping({
    store,
    world,
    clock,
    posts,
    scheduler,
    retentionMs: parts.retentionMs,
    loaded: trees.all,
    wake: (tree) => inner(tree, { type: "timers-due" }),
    onExpired(tree) {
      trees.drop(tree);
      sharing?.forget(tree);
    },
    onFailure: failed,
  });
  housekeeping.begin();

  function failed(error: unknown): void {
    if (error instanceof ErrandError && LEFT_ALONE.has(error.code)) return;
    parts.onFailure(
      error instanceof ErrandError ? error : new ErrandError("store-failed", "The runtime failed.", { cause: error }),
    );
  }

  async function inner(tree: TreeId, input: Input): Promise<void> {
    await loop.submit({ tree, input, texts: [] }).catch(failed);
  }

  /** Whoever has not seen the steps of a doubtful commit, or of a tree that is run elsewhere, sees them now. */
  async function settleDoubt(tree: TreeId): Promise<void> {
    subscriptions.recheck(tree);
    await posts.recheck(tree);
    await outbox.recheck(tree);
  }

  function onCommitted(committed: Committed): void {
    const { tree, loaded, stepped } = committed;
    subscriptions.publish(tree, stepped.row);
    for (const message of stepped.outgoing) outbox.send(tree, message);
    for (const record of stepped.delegations) parts.onDelegation(tree, record);
    posts.tell(committed);
    for (const effect of stepped.decision.effects) {
      // A later step of the same commit may have gone on without it: then it is not begun.
      const open = effect.type === "abort" || loaded.tree.state.effects.get(effect.key)?.attempt === effect.attempt;
      if (open) beginnings.begin(loaded, effect, stepped.requests);
    }
  }

  /** What is in memory counts where somebody goes on with the tree, and nobody else can have. */
  function answering(tree: TreeId, post: PostId): boolean {
    if (sharing !== null || closing) return false;
    for (const { turn } of trees.get(tree)?.tree.state.agents.values() ?? [])
      if (turn?.posts.includes(post) === true) return true;
    return false;
  }

  /** After a commit: what was held back is begun, slots that became free are offered, and trees with nothing to do leave memory. */
  function onSettled(ids: readonly TreeId[]): void {
    const offer = closing ? null : scheduler.nextToOffer();
    if (offer !== null) void inner(offer, { type: "slots-offered" });
    for (const id of ids) {
      const loaded = trees.get(id);
      // The commit shows that the tree is still this process's.
      if (loaded !== undefined && beginnings.holds(id)) beginnings.beginHeld(loaded);
    }
    const left = idle.settle(ids);
    if (left.length > 0) sharing?.letGo(left);
  }

  function resting(id: TreeId): boolean {
    const loaded = trees.get(id);
    return loaded !== undefined && !stateBusy(loaded.tree.state) && effects.count(id) === 0 && !loop.occupied(id);
  }

  /** Lets effects under way end by themselves for so long; none is started any more. */
  async function finishWithin(withinMs: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = world.after(withinMs, resolve);
    await Promise.race([effects.drain(), late]);
    cancel();
  }

  function intake(): void {
    if (closing) throw new ErrandError("shutting-down", "Errand is closing and takes no new work.");
  }

  const newId = (): string => uuidOf(world.wall(), world.random(16), Number.parseInt(world.random(3), 16));
  const openings = createOpenings({
    store,
    catalog,
    library,
    settings: parts.settings,
    rights: parts.rights,
    source,
    loop,
    posts,
    trees,
    beginnings,
    now: () => clock.now(),
    random: (digits) => world.random(digits),
    newId,
  });

  return {
    newId,
    rows: subscriptions.rows,
    holds: (tree) => trees.get(tree) !== undefined,
    loaded: trees.size,
    open(definition, kind) {
      intake();
      return openings.open(definition, kind);
    },
    start(definition, kind, tree, post) {
      intake();
      return openings.start(definition, kind, tree, post);
    },
    fork(origin, at, root) {
      intake();
      return openings.fork(origin, at, root);
    },
    post(tree, input, texts, fresh) {
      intake();
      return posts.post(tree, input, texts, fresh);
    },
    reply: posts.reply,
    attach: outbox.attach,
    detach: outbox.detach,
    async recover() {
      if (sharing !== null) {
        await sharing.takeTrees();
        await housekeeping.sweep();
        return 0;
      }
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
      await posts.takeMail();
      await housekeeping.wakeDue();
      await housekeeping.sweep();
      return unfinished.length;
    },
    async close(withinMs) {
      if (closing) return;
      closing = true;
      await sharing?.stop();
      housekeeping.stop();
      scheduler.close();
      await loop.idle();
      if (withinMs > 0) await finishWithin(withinMs);
      effects.abortAll();
      await loop.idle();
      await outbox.idle();
      try {
        await loop.close();
      } finally {
        // A disk without room for the last acknowledgements must not keep the store open: those messages go out again.
        subscriptions.close();
        posts.close();
        await store.close();
      }
    },
  };
}
