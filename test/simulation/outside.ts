/** The recorder: what the world outside the process was told, was given, or saw happen. It outlives every crash. */

export interface OutsidePost {
  readonly id: string;
  readonly tree: string;
  /** The agent it is for, or the agent below which a run is asked for. */
  readonly agent: string;
  readonly kind: "user" | "system" | "steer" | "spawn";
  readonly silent: boolean;
  readonly text: string;
  readonly awaited: boolean;
  readonly byMail: boolean;
  acknowledged: boolean;
  refused: boolean;
  /** True once its answer, or a refusal, has come. */
  settled: boolean;
  asked: number;
  /** Every answer that was given to it: texts of replies, reasons of failures, ids of runs. */
  readonly answers: string[];
}

export interface Delivery {
  readonly id: string;
  readonly text: string;
  readonly repeated: boolean;
  /** True once the channel has said that it took it. */
  taken: boolean;
  /** True if the channel was so slow that the process may have given the delivery up: then it comes again. */
  slow: boolean;
}

export interface Outside {
  readonly posts: OutsidePost[];
  readonly deliveries: Delivery[];
  /** Ids of messages whose acknowledgement is durable. */
  readonly acknowledged: Set<string>;
  /** How often each unsafe call was executed, by its token. */
  readonly strikes: Map<string, number>;
  /** Who made a token: the agent's id, or `people`. */
  readonly authors: Map<string, string>;
  /** Definitions of the trees that were to be opened with a message. */
  readonly speaking: Set<string>;
}

export function createOutside(): Outside {
  return {
    posts: [],
    deliveries: [],
    acknowledged: new Set(),
    strikes: new Map(),
    authors: new Map(),
    speaking: new Set(),
  };
}
