/**
 * The rights in force for a call (rule A9): those of the agent's recorded definition, and those of the process that executes.
 *
 * Invariants:
 *  1. The process part replaces that of the process before. It never narrows a definition, so that nothing is taken away for good.
 *  2. The stricter of both decides. A recorded answer of the user, and a grant of the tree, satisfy `ask`, and never `deny`.
 *
 * A call is judged three times: when the model asks for it (agent/tool-calls.ts), when the user's answer is taken (questions/judged-answer.ts)
 * and where its effect starts (the runtime).
 */

import type { DefinitionFacts } from "../values/definition.ts";
import type { Json } from "../values/json.ts";
import { callGranted } from "./grants.ts";
import { type FileFacts, type Permission, permissionOf, type PermissionRule, type Permissions } from "./permissions.ts";

/** What the process that executes a tree lets its agents do. */
export interface ProcessRights {
  /** Names of the tools that it has. */
  readonly tools: readonly string[];
  /** Rules for every call; left out: it restricts nothing. */
  readonly permissions?: readonly PermissionRule[] | undefined;
  /** True: a person is there who can be asked whether a request may go on beyond its limit of model calls. */
  readonly asks?: true | undefined;
}

/** `unknown`: the agent has no such tool. `missing`: the process that executes does not have it. */
export type Judgement = Permission | "unknown" | "missing";

/** True if the agent has the tool, and the process that executes too. */
export function toolHeld(rights: ProcessRights | null, definition: DefinitionFacts, name: string | null): boolean {
  if (name === null || !definition.tools.some((tool) => tool.name === name)) return false;
  return rights === null || rights.tools.includes(name);
}

/** `rights` is null for a tree that no process of this revision has executed yet. `grants` are those of the tree. */
export function judgeCall(
  rights: ProcessRights | null,
  definition: DefinitionFacts,
  call: { readonly name: string; readonly input: Json; readonly file?: FileFacts | undefined },
  grants: readonly PermissionRule[] = [],
): Judgement {
  const { name, input, file } = call;
  if (!definition.tools.some((tool) => tool.name === name)) return "unknown";
  if (rights !== null && !rights.tools.includes(name)) return "missing";
  const permission = permissionOf(permissionsInForce(rights, definition), name, input, file);
  return permission === "ask" && callGranted(grants, call) ? "allow" : permission;
}

/** The rules of the definition and those of the process, which must all agree. */
export function permissionsInForce(rights: ProcessRights | null, definition: DefinitionFacts): Permissions {
  const own = definition.permissions ?? [];
  return rights?.permissions === undefined ? own : [...own, rights.permissions];
}

/** Why a call is not made, for the model that asked for it. */
export function refusedCall(name: string, judgement: Exclude<Judgement, "allow">): string {
  switch (judgement) {
    case "unknown":
      return `there is no tool "${name}" here; use one of those you were given`;
    case "missing":
      return `${name}: the process that runs this conversation now does not have this tool; go on without it`;
    case "deny":
      return `${name}: this call is not permitted here; go on without it, or say in your answer what is missing`;
    case "ask":
      return `${name}: the process that runs this conversation now asks the user first; call it again to ask`;
  }
}
