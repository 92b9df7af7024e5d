/**
 * Intentions, as plain data. The runtime starts them after the commit that recorded the facts behind them; after a crash they are
 * derived again from the state. An effect names its agent and its key; what it needs besides (the request, a call's arguments)
 * the runtime reads from the agent's context.
 */

import type { AgentNumber, RunNumber, StepKey } from "./values/ids.ts";

export type Effect =
  | { readonly type: "call-model"; readonly key: StepKey; readonly attempt: number; readonly agent: AgentNumber }
  | {
      readonly type: "call-tool";
      readonly key: StepKey;
      readonly attempt: number;
      readonly agent: AgentNumber;
      readonly call: string;
      readonly name: string;
    }
  /** A kernel tool whose answer stands in the store: `list_runs`, `read_result`, or a control of a run that has left the state. */
  | {
      readonly type: "read-store";
      readonly key: StepKey;
      readonly attempt: number;
      readonly agent: AgentNumber;
      readonly call: string;
      readonly name: string;
    }
  | { readonly type: "erase-texts"; readonly key: StepKey; readonly attempt: number; readonly run: RunNumber }
  | { readonly type: "abort"; readonly key: StepKey };
