/** What happens on each event of the runtime (runtime-events.ts). Every part is known here; no part knows this file. */

import type { Input } from "../core/event.ts";
import type { TreeId } from "../core/values/ids.ts";
import type { TreeState } from "../core/state.ts";
import { timersNext } from "../core/values/timers.ts";
import type { DelegationRecord } from "../core/runs/delegation-record.ts";
import type { ErrandError } from "../errors.ts";
import type { Blob } from "../contracts/store.ts";
import type { CommitLoop } from "./commits/commit-loop.ts";
import type { Slots } from "./commits/slots.ts";
import type { Renewal } from "./definitions/renewal.ts";
import type { EffectRunner } from "./effects/effect-runner.ts";
import type { EffectStarter } from "./effects/effect-starter.ts";
import type { Housekeeping } from "./housekeeping.ts";
import type { Subscriptions } from "./journals/subscriptions.ts";
import type { Outbox } from "./messages/outbox.ts";
import type { Replies } from "./messages/replies.ts";
import type { RuntimeEvents } from "./runtime-events.ts";
import type { IdleTrees } from "./trees/idle-trees.ts";
import type { Sharing } from "./trees/sharing.ts";
import type { LoadedTree, TreeCache } from "./trees/tree-cache.ts";
import type { WakeTimer } from "./wake-timer.ts";

interface HandlerParts {
  readonly subscriptions: Subscriptions;
  readonly slots: Slots;
  readonly wakeTimer: WakeTimer;
  readonly trees: TreeCache;
  readonly loop: CommitLoop;
  readonly replies: Replies;
  readonly outbox: Outbox;
  readonly effects: EffectRunner;
  readonly starter: EffectStarter;
  /** Null where one process owns the whole store. */
  readonly sharing: Sharing | null;
  readonly idle: IdleTrees;
  readonly housekeeping: Housekeeping;
  readonly renewal: (state: TreeState) => Renewal | null;
  /** Makes subscribers, the channel and waiting callers of the tree read steps that were not published to them. */
  readonly readMissedSteps: (tree: TreeId) => Promise<void>;
  readonly onDelegation: (tree: TreeId, record: DelegationRecord) => void;
  readonly onNotice: (notice: ErrandError) => void;
  readonly onFailure: (error: unknown) => void;
}

export function createEventHandlers(parts: HandlerParts): RuntimeEvents {
  const { slots, wakeTimer, trees, loop, replies, outbox, effects, starter, sharing, idle, onFailure } = parts;

  function submit(tree: TreeId, input: Input, blobs: readonly Blob[] = []): void {
    loop.submitDetached({ tree, input, texts: [], blobs }, onFailure);
  }

  function offerSlot(): void {
    const tree = slots.nextOffer();
    if (tree !== null) submit(tree, { type: "slots-offered" });
  }

  /** Continues a tree from the store: effects of its last process are lost, and its definitions may have changed. */
  function resume(loaded: LoadedTree): void {
    const { id, tree } = loaded;
    const { state } = tree;
    const renewal = parts.renewal(state);
    if (renewal !== null) {
      const { blobs, ...changed } = renewal;
      submit(id, { type: "catalog-changed", ...changed }, blobs);
    }
    // If a commit of unknown outcome became durable, it may have ended effects that are still executed here.
    effects.abortClosed(loaded);
    starter.startDeferred(loaded);
    const lost = [...state.effects].filter(
      ([key, effect]) => effect.retryAt === null && !effects.executing(id, key) && !loop.resultPending(id, key),
    );
    if (lost.length > 0) submit(id, { type: "effects-lost", effects: lost.map(([key]) => key) });
    if (state.queued > 0) submit(id, { type: "slots-offered" });
  }

  return {
    wakeTimeReached: () => void parts.housekeeping.wakeDue(),
    treeClaimed: async (record) => sharing?.claimed(record),
    treeRefused: (tree, exists) => sharing?.refused(tree, exists),
    treeLoaded(loaded) {
      const { running, timers } = loaded.tree.state;
      slots.update(loaded.id, running, "none");
      // A commit of unknown outcome may have set timers.
      wakeTimer.wakeAt(timersNext(timers));
      if (starter.hasDeferred(loaded.id)) void parts.readMissedSteps(loaded.id).catch(onFailure);
      resume(loaded);
    },
    treeDropped(loaded) {
      sharing?.dropped(loaded);
      idle.forget(loaded.id);
      slots.forget(loaded.id, loaded.tree.state.running);
    },
    stepCommitted(committed) {
      const { tree, loaded, stepped } = committed;
      parts.subscriptions.publish(tree, stepped.row);
      for (const message of stepped.outgoing) outbox.send(tree, message);
      for (const record of stepped.delegations) parts.onDelegation(tree, record);
      replies.resolveEnded(committed);
      for (const effect of stepped.decision.effects) {
        // A later step of the same commit may have ended it: then it is not started.
        const open = effect.type === "abort" || loaded.tree.state.effects.get(effect.key)?.attempt === effect.attempt;
        if (open) starter.start(loaded, effect, stepped.requests);
      }
    },
    acknowledged: outbox.acknowledged,
    batchCommitted(ids) {
      offerSlot();
      for (const id of ids) {
        const loaded = trees.get(id);
        if (loaded === undefined) continue;
        // The commit proves that this process still has the tree.
        starter.startDeferred(loaded);
        const silent = idle.silent(loaded);
        if (loaded.tree.state.closed && silent) outbox.release(id);
        else outbox.rest(id, silent);
      }
      const evicted = idle.evict(ids);
      if (evicted.length > 0) sharing?.release(evicted);
    },
    queueEmpty: offerSlot,
    commitInDoubt: starter.defer,
    treeQuarantined(tree, error) {
      starter.abandon(tree);
      replies.reject(tree, error);
      parts.subscriptions.giveUp(tree, error);
      parts.onNotice(error);
    },
  };
}
