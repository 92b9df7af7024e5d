/**
 * The steps of one commit: takes inputs from the queue, in order, and steps their trees.
 *
 * Invariants:
 *  1. Stepping ends after 5 ms; inputs that are left stay in the queue. A conversation and its first message are never separated.
 *  2. A tree that the store refused before is stepped alone, one input at a time, but for invariant 1.
 *  3. A tree's first step in this process records the rights of this process, if the tree holds others (rule A9).
 */

import type { World } from "../../contracts/world.ts";
import { SALT_DIGITS, SEED_DIGITS, type TreeId } from "../../core/values/ids.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import { judgedAnswer } from "../../core/questions/judged-answer.ts";
import { type Stepped, treeStep } from "../../core/tree.ts";
import type { Clock } from "../clock.ts";
import type { LoadedTree, TreeCache } from "../trees/tree-cache.ts";
import type { InputQueue, Waiting } from "./input-queue.ts";
import type { Loads } from "./loads.ts";
import { type Scheduler, slotWait } from "./scheduler.ts";
import type { CommitPart, Submission } from "./tree-commit.ts";

/** An input that was taken, and its step. */
export interface Taken {
  /** Null for the step that the loop takes by itself. */
  readonly waiting: Waiting | null;
  readonly submission: Submission;
  readonly stepped: Stepped;
}

export type BatchPart = CommitPart<Taken>;

interface StepBatchParts {
  readonly world: World;
  readonly clock: Clock;
  readonly trees: TreeCache;
  readonly scheduler: Scheduler;
  readonly rights: ProcessRights;
  readonly queue: InputQueue;
  readonly loads: Loads;
  /** Trees that are stepped alone. */
  readonly suspects: ReadonlySet<TreeId>;
  /** The kernel threw, which is a bug, and left the tree half stepped. */
  readonly onThrow: (tree: TreeId, inputs: readonly Waiting[], error: unknown) => void;
}

/**
 * How long the steps of a batch may take. Writing them and starting their effects takes about as long again: together some 10 ms, which timers, mail
 * and streams of other trees wait at most.
 */
const STEPS_MS = 5;

export function createStepBatch(parts: StepBatchParts): () => readonly BatchPart[] {
  const { world, clock, trees, scheduler, queue, loads, suspects } = parts;
  const rightsText = JSON.stringify(parts.rights);

  function stepInto(batch: Map<TreeId, BatchPart>, loaded: LoadedTree, waiting: Waiting): void {
    const { id } = loaded;
    const part = batch.get(id) ?? { loaded, expectedSeq: loaded.tree.state.seq + 1, steps: [] };
    batch.set(id, part);
    const { submission } = waiting;
    try {
      const first = rightsOwed(loaded);
      if (first !== null) part.steps.push({ waiting: null, submission: first, stepped: step(loaded, first) });
      part.steps.push({ waiting, submission, stepped: step(loaded, submission) });
    } catch (error) {
      batch.delete(id);
      parts.onThrow(id, [...inputsOf(part), waiting], error);
    }
  }

  /** The step that must come before any other: the tree holds the rights of another process. */
  function rightsOwed({ id, tree }: LoadedTree): Submission | null {
    const { settings, rights, agents } = tree.state;
    if (rights === parts.rights || settings === null || agents.size === 0) return null;
    if (JSON.stringify(rights) === rightsText) return null;
    return { tree: id, input: { type: "rights-changed", rights: parts.rights }, texts: [] };
  }

  function step(loaded: LoadedTree, { input: given, texts }: Submission): Stepped {
    const { tree } = loaded;
    const input = judgedAnswer(tree, given);
    const held = tree.state.running;
    const at = Math.max(clock.now(), tree.state.at);
    const offered = input.type === "slots-offered";
    const slots = scheduler.free(loaded.id, offered);
    const stepped = treeStep(
      tree,
      { at, seed: world.random(SEED_DIGITS), slots, input, texts },
      world.random(SALT_DIGITS),
    );
    const taken = tree.state.running - held;
    scheduler.moved(loaded.id, taken, slotWait(tree.state.queued, stepped.decision.slotsLacked, offered));
    return stepped;
  }

  return () => {
    const until = world.monotonic() + STEPS_MS;
    const taken = queue.takeAll();
    const batch = new Map<TreeId, BatchPart>();
    const later: Waiting[] = [];
    let previous: TreeId | null = null;
    for (const [index, waiting] of taken.entries()) {
      const { tree: id, create } = waiting.submission;
      const over = batch.size > 0 && id !== previous && world.monotonic() >= until;
      const first = id === previous && taken[index - 1]?.submission.create !== undefined;
      const alone = batch.size === 1 && previous !== null && suspects.has(previous) && !first;
      if (over || alone) {
        later.push(...taken.slice(index));
        break;
      }
      if ((batch.size > 0 && suspects.has(id) && !first) || loads.full(id)) {
        later.push(waiting);
        continue;
      }
      const loaded = trees.get(id) ?? (create === undefined ? undefined : trees.begin(id));
      if (loaded === undefined || waiting.unsure || loads.loading(id)) {
        loads.load(waiting);
        continue;
      }
      previous = id;
      stepInto(batch, loaded, waiting);
    }
    queue.putBack(later);
    return [...batch.values()];
  };
}

/** The inputs of a part, without the step that the loop took by itself. */
export function inputsOf({ steps }: BatchPart): Waiting[] {
  return steps.flatMap(({ waiting }) => waiting ?? []);
}
