/**
 * Whether this process has what a tree needs: the models, the tools and the runners of its living agents, by the
 * definitions that would be in force here (rule A9).
 *
 * Invariants:
 *  1. A tree that needs what this process lacks is not run here: nothing of it is decided. The reason is recorded in
 *     its row until a process has everything.
 *  2. A refused tree is tried again when another process has written to it, and otherwise less and less often. Each
 *     reason is reported once.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { definitionsRenewed } from "../../core/agent/rights.ts";
import type { ProcessRights } from "../../core/permissions/process-rights.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import type { TreeId } from "../../core/values/ids.ts";
import type { TreeState } from "../../core/state.ts";
import type { ErrandError } from "../../errors.ts";
import type { Renewal } from "../definitions/renewal.ts";
import { treeUnplaced } from "./tree-errors.ts";

export interface Placement {
  /** Throws `tree-unplaced` without reading the journal if the tree was refused recently and has not changed since. */
  requireNotRefused(tree: TreeId): Promise<void>;
  /** Throws `tree-unplaced` if this process lacks something. Records the reason, or that there is none. */
  require(record: TreeRecord, state: TreeState): Promise<void>;
  /** True if the tree was refused recently: it is not tried unless a caller asks for it. */
  refusedRecently(tree: TreeId): boolean;
}

interface PlacementParts {
  readonly store: Store;
  readonly world: World;
  readonly models: ModelProvider;
  /** Names the tools and the runners that this process has. */
  readonly rights: ProcessRights;
  /** What the tree's definitions become here, or null if they stay as they are. */
  readonly renewal: (state: TreeState) => Renewal | null;
  readonly onNotice: (notice: ErrandError) => void;
}

interface Refusal {
  readonly reason: string;
  /** The hash of the journal's last row at that time. */
  readonly hash: string;
  readonly waitMs: number;
  readonly until: number;
}

const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;
const LONGEST_REASON = 1_000;

export function createPlacement(parts: PlacementParts): Placement {
  const { store, world, models } = parts;
  const tools = new Set(parts.rights.tools);
  const refusals = new Map<TreeId, Refusal>();
  const noticed = new Set<string>();

  function refusedRecently(tree: TreeId): boolean {
    const refusal = refusals.get(tree);
    return refusal !== undefined && world.monotonic() < refusal.until;
  }

  function lacking(state: TreeState): string | null {
    const renewal = parts.renewal(state);
    const renewed = renewal === null ? null : definitionsRenewed(state, renewal);
    const agents = [...state.agents.values()];
    const reasons = new Set(
      agents.flatMap((agent) => lackedBy(renewed?.get(agent.number)?.definition ?? agent.definition)),
    );
    return reasons.size === 0 ? null : [...reasons].join("; ").slice(0, LONGEST_REASON);
  }

  function lackedBy(definition: DefinitionFacts): string[] {
    const needs = `the agent "${definition.name}" needs the`;
    const missing = definition.tools.filter((tool) => !tools.has(tool.name));
    const reasons = missing.map(({ name }) => `${needs} tool "${name}", which is not installed`);
    if (definition.runner !== undefined) return runnerLacked(definition.runner.name, needs);
    const found = models.resolve(definition.model);
    return "unavailable" in found
      ? [`${needs} model "${definition.model}": ${found.unavailable.replace(/\.$/, "")}`, ...reasons]
      : reasons;
  }

  function runnerLacked(name: string, needs: string): string[] {
    const known = parts.rights.runners?.includes(name) === true;
    return known ? [] : [`${needs} runner "${name}", which is not installed`];
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
    refusedRecently,
    async requireNotRefused(id) {
      const refusal = refusals.get(id);
      if (refusal === undefined || !refusedRecently(id)) return;
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
