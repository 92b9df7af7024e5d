/**
 * Intentions, as plain data. The runtime starts them after the commit that recorded the facts behind them. After a
 * crash they are derived again from the state. The runtime reads what else an effect needs (the request, a call's
 * arguments) from the agent's context.
 */

import type { AgentNumber, RunNumber, StepKey } from "./values/ids.ts";

interface Attempt {
  readonly key: StepKey;
  readonly attempt: number;
}

interface CallAttempt extends Attempt {
  readonly agent: AgentNumber;
  readonly call: string;
  readonly name: string;
}

export type Effect =
  | (Attempt & { readonly type: "call-model"; readonly agent: AgentNumber })
  | (CallAttempt & { readonly type: "call-tool" })
  /** The tool is asked what became of a call that a crash interrupted. */
  | (CallAttempt & { readonly type: "recover-tool" })
  /** The store answers: `list_runs`, `read_result`, or a control of a run that has left the state. */
  | (CallAttempt & { readonly type: "read-store" })
  | (Attempt & { readonly type: "erase-texts"; readonly run: RunNumber })
  /** Attempts after the first: an earlier session is resumed if its runner can, and else it is lost. */
  | (Attempt & { readonly type: "start-runner"; readonly agent: AgentNumber })
  /** A message for the session that effect `session` started. */
  | (Attempt & { readonly type: "tell-runner"; readonly agent: AgentNumber; readonly session: StepKey })
  | { readonly type: "abort"; readonly key: StepKey };
