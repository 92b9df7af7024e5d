/**
 * What an agent is made from. The kernel decides by the facts, which stand in the heads of the journal. Models read the
 * text, which is stored as a blob under its hash and shared by all agents of the tree that are made from it.
 */

import type { Json } from "./json.ts";
import type { ToolSpec, Usage } from "./message.ts";
import type { Permissions } from "../permissions/permissions.ts";

/** What the kernel knows of a tool. */
export interface ToolFacts {
  readonly name: string;
  /** True if calling it again after a crash does no harm. */
  readonly safe: boolean;
  /** True if it can say what became of a call that a crash interrupted. */
  readonly recovers?: true;
}

/** Micro-dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
}

/** Micro-dollars of a call, rounded up so that a budget is never undercounted; 0 if the price is unknown. */
export function modelCost(price: ModelPrice | null, usage: Usage): number {
  if (price === null) return 0;
  const cached = Math.min(usage.cachedInput ?? 0, usage.input);
  const fresh = usage.input - cached;
  return Math.ceil((fresh * price.input + cached * price.cachedInput + usage.output * price.output) / 1_000_000);
}

/** The way to a child whose turns are executed outside the kernel. */
export interface RunnerFacts {
  readonly name: string;
  /** What its sessions can be told. */
  readonly takes: readonly RunnerMessageKind[];
}

/** What the session of an outside child can be told. */
export type RunnerMessageKind = "answer" | "steer" | "report-accepted" | "report-refused";

/** What the kernel knows of a definition. */
export interface DefinitionFacts {
  readonly name: string;
  /** Hash of the definition's text. */
  readonly hash: string;
  readonly reporting: "tool" | "tag";
  /** `provider/model`. */
  readonly model: string;
  readonly window: number | null;
  readonly price: ModelPrice | null;
  readonly tools: readonly ToolFacts[];
  /** Tools that it does not call, and holds for its children; none when left out. */
  readonly delegates?: readonly ToolFacts[];
  /** Which calls of its tools are asked about or refused. */
  readonly permissions?: Permissions;
  /** Iterations of one turn, or null for the default. */
  readonly iterations: number | null;
  readonly timeoutSeconds: number | null;
  /** True if the definition gives a schema for the result's data. */
  readonly typed: boolean;
  /** Set for a skill: `inline` is read into the context of the agent that uses it, `isolated` runs as a child. */
  readonly skill?: "inline" | "isolated";
  /** True if only `<say>` blocks of a reply reach the user. */
  readonly say: boolean;
  /** Set if its turns are executed outside. Such an agent is always a child. */
  readonly runner?: RunnerFacts;
}

export interface DefinitionText {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly tools: readonly ToolSpec[];
  /** JSON Schema of the result's data. */
  readonly output?: Json;
  /** Settings for its runner, which the kernel does not read. They stand here so that the hash covers them. */
  readonly runner?: {
    readonly name: string;
    readonly settings: { readonly origin: "code" | "trusted-file"; readonly value: Json };
  };
  /** About the project, for an agent that is not a child. */
  readonly project?: string;
}
