/**
 * The rights that are recorded with an agent (rule A9): a child never has more than its parent. The rights of the process that executes are
 * permissions/process-rights.ts.
 *
 * Invariants:
 *  1. A child's tools are those of its definition that its parent holds too. Its permissions are the rules of both.
 *  2. When definitions change, a child has the rights that its definition gives it now, narrowed in the same way. If the root is closed, its children
 *     keep at most the rights that they hold.
 *  3. A child whose definition is gone has no ordinary tools until the definition is back. It can still report.
 *  4. What was decided when the child was made stays: its prompt, how it reports, a model that the call chose, its deadline. Its iterations can
 *     only become fewer.
 */

import type { FactOf } from "../event.ts";
import { joinPermissions } from "../permissions/permissions.ts";
import type { AgentState, TreeState } from "../state.ts";
import type { DefinitionFacts } from "../values/definition.ts";
import type { AgentNumber } from "../values/ids.ts";

/** The definition of a new child. Below a host it is not narrowed: the program that asks for the run owns all its tools. */
export function rightsOf(
  parent: Pick<AgentState, "kind" | "definition">,
  child: DefinitionFacts,
  model?: FactOf<"run-created">["model"],
): DefinitionFacts {
  const rights = parent.kind === "host" ? child : narrowed(parent.definition, child);
  if (model === undefined) return rights;
  return { ...rights, model: model.name, window: model.window, price: model.price };
}

function narrowed(parent: DefinitionFacts, child: DefinitionFacts): DefinitionFacts {
  const tools = child.tools.filter(({ name }) => parent.tools.some((tool) => tool.name === name));
  if (parent.permissions === undefined && tools.length === child.tools.length) return child;
  const permissions = joinPermissions(parent.permissions ?? [], child.permissions ?? []);
  return { ...child, tools, ...(permissions.length === 0 ? {} : { permissions }) };
}

/** True if narrowing took nothing away: it only leaves tools out and adds rules. */
function rightsSame(one: DefinitionFacts, other: DefinitionFacts): boolean {
  return one.tools.length === other.tools.length && (one.permissions?.length ?? 0) === (other.permissions?.length ?? 0);
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
    const held = rightsOf(parent, own);
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
  if (now === undefined) return { ...made, tools: [] };
  const { hash, tools, iterations, permissions } = now;
  // A window that was learnt from the model itself is more exact than the definition's.
  const model = made.model === before?.model && made.model !== now.model ? now : made;
  const own = { ...made, hash, tools, iterations, model: model.model, window: model.window, price: model.price };
  if (permissions !== undefined) return { ...own, permissions };
  delete own.permissions;
  return own;
}
