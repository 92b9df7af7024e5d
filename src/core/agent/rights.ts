/**
 * A child never has more rights than its parent: its tools are those of its definition that its parent has too, and what it may do
 * with them is the narrower of both.
 */

import type { DefinitionFacts, ModelPrice } from "../definition.ts";
import { narrower } from "../permissions/permissions.ts";

interface ModelChoice {
  readonly name: string;
  readonly window: number | null;
  readonly price: ModelPrice | null;
}

export function rightsOf(parent: DefinitionFacts, child: DefinitionFacts, model?: ModelChoice): DefinitionFacts {
  const held = new Set(parent.tools.map((tool) => tool.name));
  const tools = child.tools.filter((tool) => held.has(tool.name));
  const permissions = narrower(parent.permissions ?? [], child.permissions ?? []);
  const rights = { ...child, tools, ...(permissions.length === 0 ? {} : { permissions }) };
  if (model === undefined) return rights;
  return { ...rights, model: model.name, window: model.window, price: model.price };
}
