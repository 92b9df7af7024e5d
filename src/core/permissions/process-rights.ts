/**
 * The rights in force for a call (rule A9): those of the agent's recorded definition, and those of the process that
 * executes the tree.
 *
 * Invariants:
 *  1. The rights of a process replace those of the process before. They never change a definition, so nothing is lost
 *     for later processes.
 *  2. The stricter of both decides. A recorded answer of the user, and a grant of the tree, satisfy `ask`, and never
 *     `deny`.
 *
 * A call is judged three times: when the model asks for it (agent/tool-calls.ts), when the user's answer is accepted
 * (questions/judged-answer.ts) and when its effect starts (the runtime).
 */

import type { DefinitionFacts } from "../values/definition.ts";
import type { Json } from "../values/json.ts";
import { callGranted } from "./grants.ts";
import { type FileFacts, type Permission, permissionOf, type PermissionRule, type Permissions } from "./permissions.ts";

/** What the process that executes a tree allows its agents. */
export interface ProcessRights {
  /** Names of its tools. */
  readonly tools: readonly string[];
  /** Names of its runners; none when left out. */
  readonly runners?: readonly string[] | undefined;
  /** Rules for every call; without them it restricts nothing. */
  readonly permissions?: readonly PermissionRule[] | undefined;
  /** True: a person is there who can allow a request more model calls than its limit. */
  readonly asks?: true | undefined;
}

/** `unknown`: the agent has no such tool. `missing`: the process does not have it. */
export type Judgement = Permission | "unknown" | "missing";

/** True if both the agent and the process have the tool. */
export function toolHeld(rights: ProcessRights | null, definition: DefinitionFacts, name: string | null): boolean {
  if (name === null || !definition.tools.some((tool) => tool.name === name)) return false;
  return rights === null || rights.tools.includes(name);
}

/** `rights` is null for a tree that no process of this revision has executed yet. */
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

/**
 * Why a child with this definition cannot be run outside; null if it can, or if it has no runner. A rule that denies
 * the tool `runner:NAME` forbids it. It is never asked about: a definition with a runner counts only if a person trusts
 * it.
 */
export function runnerRefusal(
  rights: ProcessRights | null,
  definition: DefinitionFacts,
): { readonly reason: string; readonly error: string } | null {
  const { runner, name } = definition;
  if (runner === undefined) return null;
  if (rights?.runners?.includes(runner.name) !== true) {
    const error = `"${name}" needs the runner "${runner.name}", which the process that runs this conversation lacks`;
    return { reason: "runner-unavailable", error };
  }
  if (permissionOf(permissionsInForce(rights, definition), `runner:${runner.name}`, {}) !== "deny") return null;
  return { reason: "refused", error: `"${name}": the runner "${runner.name}" is not permitted here` };
}

/** The rules of the definition and those of the process, which must all agree. */
export function permissionsInForce(rights: ProcessRights | null, definition: DefinitionFacts): Permissions {
  const own = definition.permissions ?? [];
  return rights?.permissions === undefined ? own : [...own, rights.permissions];
}

/** Why a call is refused, for the model that made it. */
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
