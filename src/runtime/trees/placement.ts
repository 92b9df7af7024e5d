/**
 * Whether this process has what a tree needs: the models and the tools of its living agents, by the definitions that would be in force here (rule A9).
 *
 * Invariants:
 *  1. A tree that needs what this process lacks is not run here: nothing of it is decided. The reason stands in its row until a process has everything.
 *  2. A tree that was refused is tried again when it has moved on elsewhere, and else ever more rarely. A person is told each reason once.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { definitionsRenewed } from "../../core/agent/rights.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { TreeState } from "../../core/state.ts";
import { ErrandError } from "../../errors.ts";
import type { Renewal } from "../definitions/renewal.ts";

export interface Placement {
  /** Throws `tree-unplaced` without reading the tree, if it was refused here a short while ago and has not moved on since. */
  recall(tree: TreeId): Promise<void>;
  /** Throws `tree-unplaced` if this process lacks something. Records what it finds in the tree's row. */
  require(record: TreeRecord, state: TreeState): Promise<void>;
  /** True if the tree was refused here a short while ago: it is not tried unless somebody asks for it. */
  waits(tree: TreeId): boolean;
}

interface PlacementParts {
  readonly store: Store;
  readonly world: World;
  readonly models: ModelProvider;
  /** Names of the tools that this process has. */
  readonly tools: readonly string[];
  /** What the tree's definitions become here, or null if they stay as they are. */
  readonly renewal: (state: TreeState) => Renewal | null;
  readonly onNotice: (notice: ErrandError) => void;
}

interface Refusal {
  readonly reason: string;
  /** The end of the journal that was looked at. */
  readonly hash: string;
  readonly waitMs: number;
  readonly until: number;
}

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;
const LONGEST_REASON = 1_000;

export function createPlacement(parts: PlacementParts): Placement {
  const { store, world, models } = parts;
  const tools = new Set(parts.tools);
  const refusals = new Map<TreeId, Refusal>();
  const noticed = new Set<string>();

  function waits(tree: TreeId): boolean {
    const refusal = refusals.get(tree);
    return refusal !== undefined && world.monotonic() < refusal.until;
  }

  function lacking(state: TreeState): string | null {
    const renewal = parts.renewal(state);
    const renewed = renewal === null ? null : definitionsRenewed(state, renewal);
    const reasons = new Set<string>();
    for (const agent of state.agents.values()) {
      const definition = renewed?.get(agent.number)?.definition ?? agent.definition;
      for (const reason of lacks(definition)) reasons.add(reason);
    }
    return reasons.size === 0 ? null : [...reasons].join("; ").slice(0, LONGEST_REASON);
  }

  function lacks(definition: DefinitionFacts): string[] {
    const needs = `the agent "${definition.name}" needs the`;
    const missing = definition.tools.filter((tool) => !tools.has(tool.name));
    const reasons = missing.map(({ name }) => `${needs} tool "${name}", which is not installed`);
    const found = models.resolve(definition.model);
    return "unavailable" in found
      ? [`${needs} model "${definition.model}": ${found.unavailable.replace(/\.$/, "")}`, ...reasons]
      : reasons;
  }

  function refuse({ id, hash }: TreeRecord, reason: string): ErrandError {
    const before = refusals.get(id);
    const waitMs = before?.hash === hash ? Math.min(before.waitMs * 2, LONGEST_WAIT_MS) : FIRST_WAIT_MS;
    refusals.set(id, { reason, hash, waitMs, until: world.monotonic() + waitMs });
    const error = treeUnplaced(id, reason);
    if (!noticed.has(reason)) {
      noticed.add(reason);
      parts.onNotice(error);
    }
    return error;
  }

  return {
    waits,
    async recall(id) {
      const refusal = refusals.get(id);
      if (refusal === undefined || !waits(id)) return;
      const record = await store.tree(id);
      if (record?.hash === refusal.hash) throw treeUnplaced(id, refusal.reason);
    },
    async require(record, state) {
      const reason = lacking(state);
      if (record.unplaced !== reason) await store.markUnplaced(record.id, reason);
      if (reason !== null) throw refuse(record, reason);
      refusals.delete(record.id);
    },
  };
}

export function treeUnplaced(tree: TreeId, reason: string): ErrandError {
  return new ErrandError("tree-unplaced", `This process cannot run tree ${tree}: ${reason}.`, {
    remedy:
      "Start a process that has it: install the tool, or give the model and its key. The tree and its mail wait until then.",
    details: { tree, reason },
  });
}
