/** Whether the definitions that a tree was recorded with have changed, and what they become in this process. */

import { definitionsRenewed } from "../../core/agent/rights.ts";
import type { DefinitionFacts } from "../../core/values/definition.ts";
import type { TreeState } from "../../core/state.ts";
import { type Catalog, catalogOfTree } from "./catalog.ts";

/** What the definitions of a tree become in this process. */
export interface Renewal {
  readonly catalog: readonly DefinitionFacts[];
  /** Absent if the root is closed. */
  readonly root?: DefinitionFacts;
  readonly children: true;
  readonly blobs: Catalog["blobs"];
}

/**
 * The renewal that a tree is due; null where its definitions are those of this process, or where it keeps those that it
 * was recorded with.
 */
export function renewalOf(catalog: Catalog, renewDefinitions: boolean): (state: TreeState) => Renewal | null {
  return (state) => {
    if (!renewDefinitions || catalog.withoutModel.length > 0 || state.agents.size === 0) return null;
    const name = state.agents.get(0)?.definition.name;
    const { facts, blobs } = name === undefined ? catalog : catalogOfTree(catalog, name);
    const root = facts.find((known) => known.name === name);
    if (name !== undefined && root === undefined) return null;
    const renewal: Renewal = { catalog: facts, ...(root === undefined ? {} : { root }), children: true, blobs };
    const same = JSON.stringify([...state.catalog.values()]) === JSON.stringify(facts);
    return same && childrenSame(state, renewal) ? null : renewal;
  };
}

/** False where an earlier version changed the tree's definitions, which did not bind running children then. */
function childrenSame(state: TreeState, renewal: Renewal): boolean {
  for (const [number, { definition }] of definitionsRenewed(state, renewal)) {
    const agent = state.agents.get(number);
    if (number !== 0 && agent !== undefined && rightsText(agent.definition) !== rightsText(definition)) return false;
  }
  return true;
}

function rightsText({ hash, model, tools, permissions }: DefinitionFacts): string {
  return JSON.stringify([hash, model, tools, permissions]);
}
