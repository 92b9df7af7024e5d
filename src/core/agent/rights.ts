/** A child never has more rights than its parent: its tools are those of its definition that its parent has too. */

import type { DefinitionFacts, ModelPrice } from "../definition.ts";

interface ModelChoice {
  readonly name: string;
  readonly window: number | null;
  readonly price: ModelPrice | null;
}

export function rightsOf(parent: DefinitionFacts, child: DefinitionFacts, model?: ModelChoice): DefinitionFacts {
  const held = new Set(parent.tools.map((tool) => tool.name));
  const tools = child.tools.filter((tool) => held.has(tool.name));
  if (model === undefined) return { ...child, tools };
  return { ...child, tools, model: model.name, window: model.window, price: model.price };
}
