/**
 * The rights that are recorded with an agent (rule A9): a child never has more than its parent. The rights of the
 * process that executes the tree are in permissions/process-rights.ts.
 *
 * Invariants:
 *  1. A child's tools are those of its definition that its parent holds too. Its permissions are the rules of both.
 *  2. When definitions change, a child gets the rights of its new definition, narrowed in the same way. If the root is
 *     closed, its children keep at most the rights that they hold.
 *  3. A child whose definition is gone has no ordinary tools until the definition is back. It can still report.
 *  4. A change never touches what was decided when the child was made: its prompt, its reporting, a model that the call
 *     chose, its deadline. Its iterations can only become fewer.
 */

import type { FactOf } from "../event.ts";
import { joinPermissions } from "../permissions/permissions.ts";
import type { AgentState, TreeState } from "../state.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { AgentNumber } from "../values/ids.ts";

/** A child's definition, with no more rights than its parent's. Runs below a host keep the full rights of theirs. */
export function definitionWithin(
  parent: Pick<AgentState, "kind" | "definition">,
  child: DefinitionFacts,
  model?: FactOf<"run-created">["model"],
): DefinitionFacts {
  const held = parent.kind === "host" ? child : narrowed(parent.definition, child);
  return model === undefined ? held : { ...held, model: model.name, window: model.window, price: model.price };
}

function narrowed(parent: DefinitionFacts, child: DefinitionFacts): DefinitionFacts {
  const held = new Set([...parent.tools, ...(parent.delegates ?? [])].map(({ name }) => name));
  const tools = child.tools.filter(({ name }) => held.has(name));
  const delegates = child.delegates?.filter(({ name }) => held.has(name));
  const whole = tools.length === child.tools.length && delegates?.length === child.delegates?.length;
  if (parent.permissions === undefined && whole) return child;
  const permissions = joinPermissions(parent.permissions ?? [], child.permissions ?? []);
  return {
    ...child,
    tools,
    ...(delegates === undefined ? {} : { delegates }),
    ...(permissions.length === 0 ? {} : { permissions }),
  };
}

/** True if narrowing took nothing away. It can only leave tools out and add rules. */
function rightsSame(one: DefinitionFacts, other: DefinitionFacts): boolean {
  const sizes = ({ tools, delegates, permissions }: DefinitionFacts): string =>
    [tools, delegates ?? [], permissions ?? []].map(({ length }) => length).join();
  return sizes(one) === sizes(other);
}

type Renewed = Pick<AgentState, "definition" | "ownDefinition" | "maxIterations">;
type Renewal = Pick<FactOf<"catalog-changed">, "catalog" | "root" | "children">;

/** The definitions of running agents after a change. `state` is as it was before. */
export function definitionsRenewed(state: TreeState, { catalog, root, children }: Renewal): Map<AgentNumber, Renewed> {
  const now = new Map(catalog.map((definition) => [definition.name, definition]));
  const renewed = new Map<AgentNumber, Renewed>();
  // Parents come before their children.
  for (const agent of state.agents.values()) {
    const { definition, ownDefinition, maxIterations } = agent;
    if (agent.parent === null) {
      renewed.set(agent.number, { definition: root ?? definition, ownDefinition, maxIterations });
      continue;
    }
    const kind = state.agents.get(agent.parent)?.kind ?? "background";
    const parent = { kind, definition: renewed.get(agent.parent)?.definition ?? definition };
    const made = ownDefinition ?? definition;
    const own = children === true ? renewedOwn(made, state.catalog.get(made.name), now.get(made.name)) : made;
    const held = definitionWithin(parent, own);
    const whole = rightsSame(held, own);
    const fewer = own.iterations !== null && own.iterations !== made.iterations ? own.iterations : maxIterations;
    renewed.set(agent.number, {
      definition: whole ? own : held,
      ownDefinition: whole ? null : own,
      maxIterations: Math.min(maxIterations, fewer),
    });
  }
  return renewed;
}

function renewedOwn(
  made: DefinitionFacts,
  before: DefinitionFacts | undefined,
  now: DefinitionFacts | undefined,
): DefinitionFacts {
  if (now === undefined) return { ...made, tools: [], ...(made.delegates === undefined ? {} : { delegates: [] }) };
  const { hash, tools, delegates, iterations, permissions } = now;
  // A window that was learnt from a failed call is more exact than the definition's.
  const model = made.model === before?.model && made.model !== now.model ? now : made;
  const own = { ...made, hash, tools, iterations, model: model.model, window: model.window, price: model.price };
  delete own.permissions;
  delete own.delegates;
  return {
    ...own,
    ...(delegates === undefined ? {} : { delegates }),
    ...(permissions === undefined ? {} : { permissions }),
  };
}
