/** The record of everything outside the process: deliveries, answers and tool runs. It survives every crash. */

export interface OutsidePost {
  readonly id: string;
  readonly tree: string;
  /** The receiving agent, or the parent of a requested run. */
  readonly agent: string;
  readonly kind: "user" | "system" | "steer" | "spawn";
  readonly silent: boolean;
  readonly text: string;
  readonly awaited: boolean;
  readonly byMail: boolean;
  acknowledged: boolean;
  refused: boolean;
  /** True once its answer or a refusal has arrived. */
  settled: boolean;
  asked: number;
  /** Every answer to it: texts of replies, reasons of failures, ids of runs. */
  readonly answers: string[];
}

export interface Delivery {
  readonly id: string;
  readonly text: string;
  readonly repeated: boolean;
  /** True once the channel has acknowledged it. */
  taken: boolean;
  /** True if the channel was so slow that the process may have given up and will repeat the delivery. */
  slow: boolean;
}

export interface Outside {
  readonly posts: OutsidePost[];
  readonly deliveries: Delivery[];
  /** Ids of messages whose acknowledgement is durable. */
  readonly acknowledged: Set<string>;
  /** How often each unsafe call was executed, by its token. */
  readonly strikes: Map<string, number>;
  /** The author of each token: the agent's id, or `people`. */
  readonly authors: Map<string, string>;
  /** Definitions of the trees that are opened with a message. */
  readonly speaking: Set<string>;
  /** Tasks that `beforeDelegation` let through. */
  readonly allowed: Set<string>;
}

export function createOutside(): Outside {
  return {
    posts: [],
    deliveries: [],
    acknowledged: new Set(),
    strikes: new Map(),
    authors: new Map(),
    speaking: new Set(),
    allowed: new Set(),
  };
}
