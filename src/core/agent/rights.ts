/**
 * A child never has more rights than its parent: its tools are those of its definition that its parent has too, and what it may do
 * with them is the narrower of both. These are the rights that are recorded; those of the process that executes are
 * permissions/process-rights.ts.
 */

import type { DefinitionFacts, ModelPrice } from "../definition.ts";
import { narrower } from "../permissions/permissions.ts";

interface ModelChoice {
  readonly name: string;
  readonly window: number | null;
  readonly price: ModelPrice | null;
}

export function rightsOf(parent: DefinitionFacts, child: DefinitionFacts, model?: ModelChoice): DefinitionFacts {
  const held = (name: string): boolean => parent.tools.some((tool) => tool.name === name);
  const narrowed = parent.permissions !== undefined || !child.tools.every((tool) => held(tool.name));
  const rights = narrowed ? narrowedRights(parent, child, held) : child;
  if (model === undefined) return rights;
  return { ...rights, model: model.name, window: model.window, price: model.price };
}

/** True if narrowing took nothing away. It only leaves tools out and adds rules. */
export function rightsSame(narrowed: DefinitionFacts, granted: DefinitionFacts): boolean {
  return (
    narrowed.tools.length === granted.tools.length &&
    (narrowed.permissions?.length ?? 0) === (granted.permissions?.length ?? 0)
  );
}

function narrowedRights(
  parent: DefinitionFacts,
  child: DefinitionFacts,
  held: (tool: string) => boolean,
): DefinitionFacts {
  const tools = child.tools.filter((tool) => held(tool.name));
  const permissions = narrower(parent.permissions ?? [], child.permissions ?? []);
  return { ...child, tools, ...(permissions.length === 0 ? {} : { permissions }) };
}
