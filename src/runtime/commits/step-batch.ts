/**
 * The steps of one commit: takes inputs from the queue, in order, and steps their trees.
 *
 * Invariants:
 *  1. Stepping ends after 5 ms, and the remaining inputs stay in the queue. A new conversation and its first message
 *     are never separated.
 *  2. A failing tree is stepped alone, one input at a time, except for the first message of a new conversation.
 *  3. A tree's first step in this process records the rights of this process, if the tree holds others (rule A9).
 */

import type { World } from "../../contracts/world.ts";
import { SALT_DIGITS, SEED_DIGITS, type TreeId } from "../../core/values/ids.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { judgedAnswer } from "../../core/questions/judged-answer.ts";
import { type Stepped, treeStep } from "../../core/tree.ts";
import type { Clock } from "../clock.ts";
import type { LoadedTree, TreeCache } from "../trees/tree-cache.ts";
import type { FailingTrees } from "./failing-trees.ts";
import type { InputQueue, QueuedInput } from "./input-queue.ts";
import type { Loads } from "./loads.ts";
import { type Slots, slotWait } from "./slots.ts";
import type { CommitPart, Submission } from "./tree-commit.ts";

/** A step, and the input that it took. */
interface BatchStep {
  /** Null for the step that records the rights of this process. */
  readonly input: QueuedInput | null;
  readonly submission: Submission;
  readonly stepped: Stepped;
}

export type BatchPart = CommitPart<BatchStep>;

interface StepBatchParts {
  readonly world: World;
  readonly clock: Clock;
  readonly trees: TreeCache;
  readonly slots: Slots;
  readonly rights: ProcessRights;
  readonly queue: InputQueue;
  readonly loads: Loads;
  readonly failing: FailingTrees;
}

/**
 * How long the steps of a batch may take. Writing them and starting their effects takes about as long again, so timers,
 * mail and streams of other trees wait for about 10 ms at most.
 */
const STEPS_MS = 5;

export function createStepBatch(parts: StepBatchParts): () => readonly BatchPart[] {
  const { world, clock, trees, slots, queue, loads, failing } = parts;
  const rightsText = JSON.stringify(parts.rights);

  function stepInto(batch: Map<TreeId, BatchPart>, loaded: LoadedTree, input: QueuedInput): void {
    const { id } = loaded;
    const part = batch.get(id) ?? { loaded, expectedSeq: loaded.tree.state.seq + 1, steps: [] };
    batch.set(id, part);
    const { submission } = input;
    try {
      const first = rightsChange(loaded);
      if (first !== null) part.steps.push({ input: null, submission: first, stepped: step(loaded, first) });
      part.steps.push({ input, submission, stepped: step(loaded, submission) });
    } catch (error) {
      // The kernel threw, which is a bug. The tree in memory is half stepped.
      batch.delete(id);
      failing.fail(id, [...inputsOf(part), input], error);
    }
  }

  /** Null if the tree holds the rights of this process already. */
  function rightsChange({ id, tree }: LoadedTree): Submission | null {
    const { settings, rights, agents } = tree.state;
    if (rights === parts.rights || settings === null || agents.size === 0) return null;
    if (JSON.stringify(rights) === rightsText) return null;
    return { tree: id, input: { type: "rights-changed", rights: parts.rights }, texts: [] };
  }

  function step(loaded: LoadedTree, { input: given, texts }: Submission): Stepped {
    const { tree, id } = loaded;
    const input = judgedAnswer(tree, given, texts);
    const held = tree.state.running;
    const at = Math.max(clock.now(), tree.state.at);
    const offered = input.type === "slots-offered";
    const free = slots.available(id, offered);
    const seed = world.random(SEED_DIGITS);
    const stepped = treeStep(tree, { at, seed, slots: free, input, texts }, world.random(SALT_DIGITS));
    const wait = slotWait(tree.state.queued, stepped.decision.slotsLacked, offered);
    slots.update(id, tree.state.running - held, wait);
    return stepped;
  }

  return () => {
    const until = world.monotonic() + STEPS_MS;
    const taken = queue.takeAll();
    const batch = new Map<TreeId, BatchPart>();
    let later: QueuedInput[] = [];
    let previous: TreeId | null = null;
    for (const [index, input] of taken.entries()) {
      const { tree: id, create } = input.submission;
      const firstMessage = id === previous && taken[index - 1]?.submission.create !== undefined;
      const over = batch.size > 0 && !firstMessage && world.monotonic() >= until;
      const stopped = batch.size === 1 && previous !== null && failing.has(previous) && !firstMessage;
      if (over || stopped) {
        later = later.concat(taken.slice(index));
        break;
      }
      if ((batch.size > 0 && failing.has(id) && !firstMessage) || loads.full(id)) {
        later.push(input);
        continue;
      }
      const loaded = trees.get(id) ?? (create === undefined ? undefined : trees.begin(id));
      if (loaded === undefined || input.mayBeCommitted || loads.loading(id)) {
        loads.load(input);
        continue;
      }
      previous = id;
      stepInto(batch, loaded, input);
    }
    queue.putBack(later);
    return [...batch.values()];
  };
}

/** The queued inputs of a part. */
export function inputsOf({ steps }: BatchPart): QueuedInput[] {
  return steps.flatMap(({ input }) => input ?? []);
}
