/**
 * The runtime of one store: takes messages in, moves trees on, runs their effects, wakes and drops them, and closes down in order.
 * It knows ports only; create-runtime.ts gives it the adapters.
 */

import type { ModelProvider } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import type { Input } from "../core/event.ts";
import { type PostId, type TreeId, uuidOf } from "../core/values/ids.ts";
import type { Sha256 } from "../core/journal/journal.ts";
import type { Settings } from "../core/values/limits.ts";
import type { ProcessRights } from "../core/permissions/process-rights.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import { stateBusy } from "../core/state.ts";
import { timersNext } from "../core/values/timers.ts";
import { treeSource } from "../core/tree.ts";
import { ErrandError, passesByItself } from "../errors.ts";
import { createBeginnings } from "./effects/effect-starter.ts";
import type { Catalog } from "./definitions/catalog.ts";
import type { Clock } from "./clock.ts";
import { type Committed, createCommitLoop } from "./commits/commit-loop.ts";
import { createDefinitionLibrary } from "./definitions/definition-library.ts";
import { type DutyReports, reportsOf } from "./failure-reports.ts";
import { createHousekeeping } from "./housekeeping.ts";
import { createEffectRunner } from "./effects/effect-runner.ts";
import { createIdleTrees } from "./trees/idle-trees.ts";
import { createOpenings, type Openings } from "./trees/tree-opener.ts";
import { type Attachment, createOutbox, type Outbox } from "./messages/outbox.ts";
import { createSchemaChecker } from "./schemas/schema-checker.ts";
import { createPosts, type Posts } from "./messages/posts.ts";
import { createScheduler } from "./commits/scheduler.ts";
import { createPlacement } from "./trees/placement.ts";
import { renewalOf } from "./definitions/renewal.ts";
import { resumeTree } from "./trees/resume-tree.ts";
import { createSharing } from "./trees/sharing.ts";
import type { Redactor } from "./redaction/redactor.ts";
import { createStoreReader } from "./journals/store-reader.ts";
import { createSubscriptions, type Subscriptions } from "./journals/subscriptions.ts";
import { createTreeCache, type LoadedTree } from "./trees/tree-cache.ts";

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
  /** Told what a person should know while the process goes on: a tree that was quarantined, a store that is busy, and the like. */
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
  attach(attachment: Attachment): Promise<void>;
  /** Attaches it again, unless the tree has a channel. */
  reattach(attachment: Attachment): Promise<void>;
  readonly channels: Outbox["states"];
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

/** Reported to callers that ask for the tree, and to nobody else. */
const LEFT_ALONE: ReadonlySet<string> = new Set([
  "store-closed",
  "tree-quarantined",
  "tree-owned",
  "tree-unplaced",
  "store-too-new",
]);
/** The store cannot be used any more. Any other failure costs one tree or one try, and the process goes on. */
const STORE_LOST: ReadonlySet<string> = new Set(["store-failed", "store-owned", "store-refused", "store-unreadable"]);

export function createRuntime(parts: RuntimeParts): Runtime {
  const { store, world, clock, catalog, sha256, redactor } = parts;
  const library = createDefinitionLibrary(catalog.texts);
  const source = treeSource(sha256, library.text);
  const subscriptions = createSubscriptions(store);
  const idle = createIdleTrees(() => trees, resting, store.shared !== undefined);
  let closing = false;
  let storeTold = false;
  /** Trees of which somebody waits for a turn's end that could not be read from the store. */
  const unsettled = new Set<TreeId>();
  const renewal = renewalOf(catalog, parts.renewDefinitions);
  const placement = createPlacement({
    store,
    world,
    models: parts.models,
    tools: parts.rights.tools,
    renewal,
    onNotice: parts.onNotice,
  });
  const sharing =
    store.shared === undefined
      ? null
      : createSharing({
          store,
          shared: store.shared,
          world,
          trees: () => trees,
          refused: placement.waits,
          occupied: (tree) => loop.occupied(tree),
          watched: () => [...subscriptions.watched(), ...posts.watched()],
          attached: () => outbox.attached(),
          onRest: (tree, rests) => outbox.rest(tree, rests),
          onMoved: settleDoubt,
          onTaken: () => posts.takeMail(),
          onLost(tree) {
            effects.abortTree(tree);
            beginnings.forget(tree);
          },
          onKept: (loaded) => beginnings.beginHeld(loaded),
          onNotice: parts.onNotice,
          onFailure: failed,
          reports,
        });

  const scheduler = createScheduler(parts.slots, world, clock, () => void housekeeping.wakeDue());
  const trees = createTreeCache({
    store,
    source,
    library,
    placement,
    onLoaded(loaded) {
      scheduler.moved(loaded.id, loaded.tree.state.running, "none");
      // A commit of unknown outcome may have set timers that nobody here knows of.
      scheduler.wakeAt(timersNext(loaded.tree.state.timers));
      if (beginnings.holds(loaded.id)) void settleDoubt(loaded.id).catch(failed);
      resumeTree(loaded, {
        renewal,
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
    onRest: offerSlot,
    onAcknowledged: (keys) => outbox.settled(keys),
    onDoubt: (tree, steps) => beginnings.hold(tree, steps),
    onQuarantined(tree, error) {
      effects.abortTree(tree);
      beginnings.forget(tree);
      posts.giveUp(tree, error);
      parts.onNotice(error);
    },
    onFailure: parts.onFailure,
    onNotice: failed,
  });
  const posts = createPosts({
    store,
    world,
    loop,
    sha256,
    redactor,
    answering,
    refused: placement.waits,
    onFailure: failed,
  });
  const outbox = createOutbox({
    store,
    world,
    acknowledge: loop.acknowledge,
    onNotice: parts.onNotice,
    onFailure: failed,
  });
  const effects = createEffectRunner({
    models: parts.models,
    tools: parts.tools,
    schemas: createSchemaChecker(world),
    rights: parts.rights,
    outputs: catalog.outputs,
    workspace: parts.workspace,
    reader: createStoreReader(store, sha256, () => clock.now()),
    world,
    submit: (submission) => loop.take(submission, failed),
    redactor,
    onFailure: failed,
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
    wake: async (tree) => (placement.waits(tree) ? undefined : inner(tree, { type: "timers-due" })),
    onExpired(tree) {
      trees.drop(tree);
      sharing?.forget(tree);
    },
    retryReads,
    reports,
  });
  store.onTrouble?.((notice, over) => {
    storeTold = !over;
    parts.onNotice(notice);
  });
  store.shared?.dutiesLate(housekeeping.lateMs);
  housekeeping.begin();

  function reports(duty: string): DutyReports {
    return reportsOf({ storeTold: () => storeTold, onNotice: parts.onNotice, onFailure: failed }, duty);
  }

  function failed(thrown: unknown): void {
    const error =
      thrown instanceof ErrandError
        ? thrown
        : new ErrandError("internal-error", "The runtime failed, and goes on.", { cause: thrown });
    if (LEFT_ALONE.has(error.code)) return;
    if (STORE_LOST.has(error.code)) parts.onFailure(error);
    else parts.onNotice(error);
  }

  async function inner(tree: TreeId, input: Input): Promise<void> {
    await loop.submit({ tree, input, texts: [] }).catch(failed);
  }

  /** Whoever has not seen the steps of a doubtful commit, or of a tree that is run elsewhere, sees them now. */
  async function settleDoubt(tree: TreeId): Promise<void> {
    subscriptions.recheck(tree);
    await outbox.recheck(tree);
    try {
      await posts.recheck(tree);
    } catch (error) {
      if (!passesByItself(error)) throw error;
      unsettled.add(tree);
    }
  }

  async function retryReads(): Promise<void> {
    await outbox.retryReads();
    for (const tree of unsettled) {
      await posts.recheck(tree);
      unsettled.delete(tree);
    }
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

  function offerSlot(): void {
    const offer = closing ? null : scheduler.nextToOffer();
    if (offer !== null) void inner(offer, { type: "slots-offered" });
  }

  /** After a commit: what was held back is begun, slots that became free are offered, and trees with nothing to do leave memory. */
  function onSettled(ids: readonly TreeId[]): void {
    offerSlot();
    for (const id of ids) {
      const loaded = trees.get(id);
      // The commit shows that the tree is still this process's.
      if (loaded !== undefined && beginnings.holds(id)) beginnings.beginHeld(loaded);
      if (loaded?.tree.state.closed === true && silent(loaded)) outbox.release(id);
      else if (loaded !== undefined) outbox.rest(id, silent(loaded));
    }
    const left = idle.settle(ids);
    if (left.length > 0) sharing?.letGo(left);
  }

  function resting(id: TreeId): boolean {
    const loaded = trees.get(id);
    return loaded !== undefined && !stateBusy(loaded.tree.state) && effects.count(id) === 0 && !loop.occupied(id);
  }

  /** True if the tree says nothing more before something is posted to it. */
  function silent({ id, tree }: LoadedTree): boolean {
    const { timers, questions } = tree.state;
    return resting(id) && questions.size === 0 && timersNext(timers) === null;
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
      sharing?.stir(tree);
      return posts.post(tree, input, texts, fresh);
    },
    reply: posts.reply,
    attach: outbox.attach,
    reattach: (attachment) => (outbox.reattaches(attachment) ? outbox.attach(attachment) : Promise.resolve()),
    channels: outbox.states,
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
      const until = world.monotonic() + withinMs;
      await sharing?.stop();
      housekeeping.stop();
      scheduler.close();
      await loop.idle();
      if (withinMs > 0) await finishWithin(withinMs);
      effects.abortAll();
      await loop.idle();
      // A channel that hangs keeps its message in the outbox: it goes out again, under the same id.
      await outbox.close(Math.max(0, until - world.monotonic()));
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
