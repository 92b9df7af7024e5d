/**
 * The runtime of one store: it accepts messages, steps trees, runs their effects, wakes and evicts them, and closes in
 * order. It knows ports only; create-runtime.ts gives it the adapters.
 *
 * The parts are created in order, each from those before it. Only events go the other way (runtime-events.ts).
 */

import type { ModelProvider } from "../contracts/model.ts";
import type { Runner } from "../contracts/runner.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { type TreeId, uuidOf } from "../core/values/ids.ts";
import type { Sha256 } from "../core/journal/journal.ts";
import type { Settings } from "../core/values/limits.ts";
import type { ProcessRights } from "../core/permissions/process-rights.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import { treeSource } from "../core/tree.ts";
import { ErrandError } from "../errors.ts";
import type { Clock } from "./clock.ts";
import { createCommitLoop } from "./commits/commit-loop.ts";
import { createSlots } from "./commits/slots.ts";
import type { Catalog } from "./definitions/catalog.ts";
import { createDefinitionLibrary } from "./definitions/definition-library.ts";
import { renewalOf } from "./definitions/renewal.ts";
import type { DelegationHook } from "./effects/before-delegation.ts";
import { createEffectRunner } from "./effects/effect-runner.ts";
import { createEffectStarter } from "./effects/effect-starter.ts";
import { createEventHandlers } from "./event-handlers.ts";
import { createFailureReports } from "./failure-reports.ts";
import { createHousekeeping } from "./housekeeping.ts";
import { createSubscriptions, type Subscriptions } from "./journals/subscriptions.ts";
import { createOutbox, type Outbox } from "./messages/outbox.ts";
import { createPosts, type Posts } from "./messages/posts.ts";
import { createReplies, type Replies } from "./messages/replies.ts";
import { OUTSIDE_GRACE_MS } from "./outside/outside-request.ts";
import type { Redactor } from "./redaction/redactor.ts";
import { createRuntimeEvents } from "./runtime-events.ts";
import { createSchemaChecker } from "./schemas/schema-checker.ts";
import { createIdleTrees } from "./trees/idle-trees.ts";
import { createPlacement } from "./trees/placement.ts";
import { createSharing } from "./trees/sharing.ts";
import { createTreeCache } from "./trees/tree-cache.ts";
import { createTreeOpener, type TreeOpener } from "./trees/tree-opener.ts";
import { waitUntil } from "./wait-until.ts";
import { createWakeTimer } from "./wake-timer.ts";

export interface RuntimeParts {
  readonly store: Store;
  readonly world: World;
  readonly clock: Clock;
  readonly models: ModelProvider;
  readonly tools: readonly Tool[];
  /** How children outside this process are run. */
  readonly runners: readonly Runner[];
  readonly catalog: Catalog;
  readonly settings: Settings;
  /** What agents may do while this process executes them. */
  readonly rights: ProcessRights;
  readonly workspace: string;
  readonly slots: number;
  /** How long an idle tree is kept, in milliseconds; null for no limit. */
  readonly retentionMs: number | null;
  readonly sha256: Sha256;
  /** Removes configured secrets from what is recorded and from what is streamed. */
  readonly redactor: Redactor;
  /** False: trees keep the definitions they were recorded with. */
  readonly renewDefinitions: boolean;
  readonly delegations: DelegationHook;
  readonly onFailure: (error: ErrandError) => void;
  /** Gets notices for a person while the process continues: a quarantined tree, a busy store and the like. */
  readonly onNotice: (notice: ErrandError) => void;
  readonly onText: (tree: TreeId, agent: string, delta: string) => void;
  readonly onDelegation: (tree: TreeId, record: DelegationRecord) => void;
}

export interface Runtime {
  readonly open: TreeOpener["open"];
  readonly start: TreeOpener["start"];
  readonly fork: TreeOpener["fork"];
  readonly post: Posts["post"];
  readonly reply: Replies["reply"];
  readonly attach: Outbox["attach"];
  readonly reattach: Outbox["reattach"];
  readonly channels: Outbox["states"];
  /** From now on the tree's messages to the user stay in the outbox. */
  detach(tree: TreeId): void;
  /** Loads and continues the trees that a dead process left unfinished. Resolves with their number. */
  recover(): Promise<number>;
  newId(): string;
  readonly rows: Subscriptions["rows"];
  /** True if the tree is in memory. */
  holds(tree: TreeId): boolean;
  /** How many trees are in memory. */
  loaded(): number;
  close(withinMs: number): Promise<void>;
}

/** How long `close` waits for a running commit after its time limit. Then the commit ends with its store. */
const STORE_GRACE_MS = 2_000;

export function createRuntime(parts: RuntimeParts): Runtime {
  const { store, world, clock, catalog, sha256, redactor, rights, delegations, onNotice } = parts;
  const { events, connect } = createRuntimeEvents();
  const reports = createFailureReports(parts);
  const onFailure = reports.failed;
  const library = createDefinitionLibrary(catalog.texts);
  const source = treeSource(sha256, library.text);
  const renewal = renewalOf(catalog, parts.renewDefinitions);

  const subscriptions = createSubscriptions(store);
  const placement = createPlacement({ store, world, models: parts.models, rights, renewal, onNotice });
  const slots = createSlots(parts.slots);
  const wakeTimer = createWakeTimer(world, clock, events.wakeTimeReached);
  const trees = createTreeCache({ store, source, library, placement, events });
  const loop = createCommitLoop({
    store,
    world,
    clock,
    trees,
    slots,
    wakeTimer,
    redactor,
    rights,
    events,
    onStopped(error) {
      // A commit that was running when this runtime closed its store.
      if (error.code !== "store-closed") parts.onFailure(error);
    },
    onFailure,
  });
  const posts = createPosts({ store, world, loop, trees, delegations, placement, sha256, redactor, onFailure });
  const replies = createReplies({ store, world, trees, sha256 });
  const outbox = createOutbox({ store, world, acknowledge: loop.acknowledge, onNotice, onFailure });
  const effects = createEffectRunner({
    models: parts.models,
    tools: parts.tools,
    runners: parts.runners,
    definitions: catalog.texts,
    schemas: createSchemaChecker(world),
    rights,
    outputs: catalog.outputs,
    workspace: parts.workspace,
    store,
    sha256,
    clock,
    world,
    submit: (submission) => loop.submitDetached(submission, onFailure),
    redactor,
    delegations,
    onFailure,
    onText: parts.onText,
  });
  const starter = createEffectStarter(effects, store.shared?.alive ?? (() => true));
  const idle = createIdleTrees({ trees, loop, effects, shared: store.shared !== undefined });
  const followers = { subscriptions, outbox, replies };
  const sharing =
    store.shared === undefined
      ? null
      : createSharing({
          ...followers,
          store,
          shared: store.shared,
          world,
          placement,
          trees,
          loop,
          posts,
          starter,
          readMissedSteps,
          onNotice,
          reports,
        });
  const housekeeping = createHousekeeping({
    store,
    world,
    clock,
    placement,
    wakeTimer,
    trees,
    loop,
    posts,
    replies,
    outbox,
    sharing,
    retentionMs: parts.retentionMs,
    reports,
  });
  const newId = (): string => uuidOf(world.wall(), world.random(16), Number.parseInt(world.random(3), 16));
  const opener = createTreeOpener({ ...parts, library, source, loop, posts, trees, starter, newId });
  connect(
    createEventHandlers({
      ...followers,
      slots,
      wakeTimer,
      trees,
      loop,
      effects,
      starter,
      sharing,
      idle,
      housekeeping,
      renewal,
      readMissedSteps,
      onDelegation: parts.onDelegation,
      onNotice,
      onFailure,
    }),
  );
  let closing = false;

  /** Subscribers, the channel and waiting callers read the steps of a tree that were not published to them. */
  async function readMissedSteps(tree: TreeId): Promise<void> {
    subscriptions.readMissed(tree);
    await outbox.readMissed(tree);
    await replies.readMissed(tree);
  }

  function requireOpen(): void {
    if (closing) throw new ErrandError("shutting-down", "Errand is closing and takes no new work.");
  }

  async function loadUnfinished(tree: TreeId): Promise<void> {
    try {
      await trees.load(tree);
    } catch (error) {
      onFailure(error);
    }
  }

  return {
    newId,
    rows: subscriptions.rows,
    holds: (tree) => trees.get(tree) !== undefined,
    loaded: trees.size,
    open(opening) {
      requireOpen();
      return opener.open(opening);
    },
    start(opening, first) {
      requireOpen();
      return opener.start(opening, first);
    },
    fork(origin, at, root) {
      requireOpen();
      return opener.fork(origin, at, root);
    },
    post(tree, input, texts, fresh) {
      requireOpen();
      sharing?.expectChange(tree);
      return posts.post(tree, input, texts, fresh);
    },
    reply: replies.reply,
    attach: outbox.attach,
    reattach: outbox.reattach,
    channels: outbox.states,
    detach: outbox.detach,
    async recover() {
      if (sharing !== null) {
        await sharing.takeTrees();
        await housekeeping.expireOld();
        return 0;
      }
      const unfinished = await store.unfinished(clock.now());
      await Promise.all(unfinished.map(loadUnfinished));
      await posts.takeMail();
      await housekeeping.wakeDue();
      await housekeeping.expireOld();
      return unfinished.length;
    },
    async close(withinMs) {
      if (closing) return;
      closing = true;
      const until = world.monotonic() + withinMs;
      const storeUntil = until + STORE_GRACE_MS;
      slots.close();
      await waitUntil(world, storeUntil, sharing?.stop());
      housekeeping.stop();
      wakeTimer.close();
      await waitUntil(world, storeUntil, loop.idle());
      if (withinMs > 0) await waitUntil(world, until, effects.drain());
      effects.abortAll();
      const outside = waitUntil(world, world.monotonic() + OUTSIDE_GRACE_MS, effects.outsideStopped());
      await waitUntil(world, storeUntil, loop.idle());
      // A channel that hangs keeps its message in the outbox: it goes out again, under the same id.
      await outbox.close(Math.max(0, until - world.monotonic()));
      try {
        await waitUntil(world, storeUntil, loop.close());
        await outside;
      } finally {
        // A full disk must not keep the store open. Messages without an acknowledgement go out again.
        subscriptions.close();
        replies.close();
        await store.close();
      }
    },
  };
}
