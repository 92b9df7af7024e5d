/**
 * The facts of a tree. A journal row holds one input (a fact that came from outside the kernel) and the events that the kernel
 * decided because of it. The state is the fold of both, in that order.
 *
 * Invariants:
 *  1. Facts are past tense. Nothing here is an intention: those are effects.
 *  2. A fact holds no text that only models and people read; it holds an index into the row's texts, which stand in its body.
 *  3. `n` is a fact's number within its step: with the step's sequence it is the key of an effect, a message or an announcement.
 *  4. A member that is undefined is not written, and means what a member that is not there means. Facts of one type have one shape where they are made: that is
 *     what makes them quick.
 */

import type { DefinitionFacts } from "./definition.ts";
import type { FileFacts } from "./permissions/permissions.ts";
import type { AgentNumber, PostId, RunNumber, StepKey } from "./ids.ts";
import type { ReportKind, RunMode, RunStatus } from "./journal.ts";
import type { Settings } from "./limits.ts";
import type { Usage } from "./message.ts";
import type { PermissionRule } from "./permissions/permissions.ts";
import type { Judgement, ProcessRights } from "./permissions/process-rights.ts";

export type AgentKind = "foreground" | "background";
/** An index into the texts of the fact's own row. */
export type TextIndex = number;

export type FailureCode = "provider-error" | "context-overflow" | "aborted" | "refused";

/** Facts from outside. Their texts, if any, are the first texts of the row. */
export type Input =
  | {
      readonly type: "tree-opened";
      readonly agent: string;
      readonly kind: AgentKind;
      readonly definition: string;
      readonly catalog: readonly DefinitionFacts[];
      readonly settings: Settings;
      /** The rights of the process that opened it; journals of earlier revisions have none. */
      readonly rights?: ProcessRights | undefined;
    }
  /** Another process executes the tree from here on, or the same one with other rights: these replace those before (rule A9). */
  | { readonly type: "rights-changed"; readonly rights: ProcessRights }
  /** The rows before this one were copied from another tree: from here on they are the history of a new one. */
  | {
      readonly type: "tree-forked";
      readonly agent: string;
      readonly origin: string;
      readonly seq: number;
      readonly hash: string;
      readonly catalog: readonly DefinitionFacts[];
      readonly root: DefinitionFacts;
      /** Rows whose texts were gone by then, by an erasure that the other tree perhaps recorded later. */
      readonly erased?: readonly ErasedRow[] | undefined;
    }
  /** The definitions on disk or in code are no longer those recorded: later children are made from these. */
  | { readonly type: "catalog-changed"; readonly catalog: readonly DefinitionFacts[]; readonly root: DefinitionFacts }
  /** Text 0: the message. */
  | {
      readonly type: "message-posted";
      readonly id: PostId;
      readonly to: AgentNumber;
      readonly kind: "user" | "system" | "steer";
      readonly silent?: true;
      /** Who a system message says it is from; the runtime sets it. */
      readonly origin?: string;
      readonly size: number;
    }
  /** Text 0: the arguments of `start_background_agent`. */
  | { readonly type: "run-asked"; readonly id: PostId; readonly parent: AgentNumber; readonly facts: CallFacts }
  /** Text 0: the reply's parts. */
  | {
      readonly type: "model-replied";
      readonly effect: StepKey;
      readonly attempt: number;
      readonly usage: Usage | null;
      readonly stop: "end" | "tools" | "length" | "refused";
      readonly size: number;
      /** True if the reply holds text that could be salvaged as findings. */
      readonly said?: true | undefined;
      /** What the edge found out about calls of this reply, by the call's position. */
      readonly facts?: Readonly<Record<string, CallFacts>> | undefined;
    }
  /** Text 0: the provider's message. */
  | {
      readonly type: "model-failed";
      readonly effect: StepKey;
      readonly attempt: number;
      readonly code: FailureCode;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly usage: Usage | null;
    }
  /** What a model call that was given up had used until then, as its wire told. */
  | { readonly type: "usage-learnt"; readonly effect: StepKey; readonly attempt: number; readonly usage: Usage }
  /** Text 0: the result. Also the answer to a read of the store. */
  | {
      readonly type: "tool-finished";
      readonly effect: StepKey;
      readonly attempt: number;
      readonly failed?: true | undefined;
      readonly size: number;
    }
  /** Effects whose process is gone, or that were parked by a shutdown. */
  | { readonly type: "effects-lost"; readonly effects: readonly StepKey[] }
  | { readonly type: "slots-offered" }
  | { readonly type: "timers-due" }
  /** A user's answer to a question. Text 0: what they say about it, perhaps nothing. */
  | {
      readonly type: "answer-given";
      readonly id: PostId;
      readonly question: StepKey;
      readonly allow: boolean;
      /** What the user was shown of the file that the call would change (contracts/tool.ts). */
      readonly seen?: string | undefined;
      /** Asked for from outside: the same call is not asked about again. What is recorded is the grant. */
      readonly always?: true | undefined;
      /** The rule made from the call, which holds for the whole tree from here on. */
      readonly grant?: PermissionRule | undefined;
      /** The user allows it, and the rights in force when the answer was taken do not (rule A9). */
      readonly refused?: Exclude<Judgement, "allow" | "ask"> | undefined;
    }
  | { readonly type: "cancel-asked"; readonly id: PostId; readonly run: RunNumber | null }
  | { readonly type: "close-asked"; readonly id: PostId }
  /** The texts of a run that asked for it are gone from the bodies of these rows. */
  | {
      readonly type: "texts-erased";
      readonly effect: StepKey;
      readonly rows: readonly ErasedRow[];
    };

/** A row of whose body something was erased, and the hash of what is left. */
export interface ErasedRow {
  readonly seq: number;
  readonly hash: string | null;
}

/** What only the edge can know about a call that a model made: whether a model can be had, whether data fit their schema. */
export interface CallFacts {
  readonly model?: { readonly window: number | null; readonly price: DefinitionFacts["price"] };
  /** Why the call cannot be honoured. */
  readonly problem?: string;
  /** Where the call's path really leads, where rules must know it. */
  readonly file?: FileFacts;
}

/** Where a report stands: the row of its reply, and its call. */
export interface ReportPlace {
  readonly seq: number;
  readonly call: string;
}

/** Facts the kernel decided. */
export type Decided =
  | {
      readonly type: "turn-started";
      readonly agent: AgentNumber;
      /** The messages it takes from the inbox, in order. */
      readonly take: readonly StepKey[];
      /** The announcement it places, and the runs of which that tells. */
      readonly announcement?: StepKey | undefined;
      readonly placed?: readonly RunNumber[] | undefined;
    }
  /** Steers and silent messages that joined the context of a turn under way, or of an idle agent. */
  | { readonly type: "messages-joined"; readonly agent: AgentNumber; readonly take: readonly StepKey[] }
  | {
      readonly type: "model-called";
      readonly agent: AgentNumber;
      readonly n: number;
      readonly purpose?: "compaction" | undefined;
      readonly reserved?: { readonly tokens: number; readonly cost: number } | undefined;
    }
  /** The model call under way is given up, because its context must be made smaller first. */
  | { readonly type: "turn-model-dropped"; readonly agent: AgentNumber }
  /** The tree's budget has no room until calls under way are settled: the agent's next model call waits. */
  | { readonly type: "budget-awaited"; readonly agent: AgentNumber }
  /** A tree used four fifths of a limit. Told once for each limit. */
  | {
      readonly type: "limit-neared";
      readonly limit: "tokensPerTree" | "costPerTree" | "runsPerTree";
      readonly used: number;
    }
  | { readonly type: "effect-repeated"; readonly effect: StepKey; readonly attempt: number }
  /** What a model call used is not known: it is booked at this. `aborted`: it was given up, and its wire may still tell. */
  | {
      readonly type: "usage-estimated";
      readonly agent: AgentNumber;
      readonly effect: StepKey;
      readonly usage: Usage;
      readonly aborted?: true;
    }
  /** What a run used in all, now that its wire has told what the call used that was given up at its end. */
  | { readonly type: "run-settled"; readonly run: RunNumber; readonly tokens: number; readonly cost: number }
  | { readonly type: "model-retry-set"; readonly effect: StepKey; readonly at: number }
  | {
      readonly type: "tool-called";
      readonly agent: AgentNumber;
      readonly n: number;
      readonly call: string;
      readonly name: string;
      readonly safe?: true | undefined;
      /** Set when the user allowed the call. */
      readonly granted?: true | undefined;
      /** What the user was shown of the file that it would change. */
      readonly seen?: string | undefined;
      /** Set for a kernel tool that reads the store. */
      readonly read?: true | undefined;
    }
  /**
   * A call that the rights in force leave to the user. It waits until the answer comes; `to` speaks to the user. Without `call` it is asked whether
   * the request may go on for `calls` more model calls; then all model calls of the tree wait.
   */
  | {
      readonly type: "question-asked";
      readonly agent: AgentNumber;
      readonly n: number;
      readonly call?: string | undefined;
      readonly calls?: number | undefined;
      readonly name: string;
      readonly to?: AgentNumber | undefined;
    }
  /** A call answered by the kernel itself. The result is text `text`, the outcome of run `run`, or the text of skill `skill`. */
  | {
      readonly type: "tool-answered";
      readonly agent: AgentNumber;
      readonly call: string;
      readonly text?: TextIndex | undefined;
      readonly run?: RunNumber | undefined;
      readonly skill?: string | undefined;
      readonly failed?: true | undefined;
      readonly size: number;
    }
  | {
      readonly type: "run-created";
      readonly run: RunNumber;
      readonly parent: AgentNumber;
      readonly id: string;
      readonly agent: string;
      readonly mode: RunMode;
      readonly definition: string;
      /** The call that asked for it, or null when it was asked from outside. */
      readonly call: string | null;
      readonly model?:
        | { readonly name: string; readonly window: number | null; readonly price: DefinitionFacts["price"] }
        | undefined;
      readonly iterations: number;
      readonly timeoutMs: number;
      /** About how long the child's task is, with its context and file hints. */
      readonly size: number;
      readonly announce?: "each" | undefined;
      readonly group?: string | undefined;
      readonly cleanup?: "delete" | undefined;
      readonly typed?: true | undefined;
      /** Names of arguments that were lowered to their cap. */
      readonly lowered?: readonly string[] | undefined;
    }
  /** The child takes up its task: its first turn begins. */
  | { readonly type: "run-started"; readonly run: RunNumber }
  | {
      readonly type: "run-state-changed";
      readonly run: RunNumber;
      readonly state: "running" | "waiting" | "needs_input";
    }
  /**
   * The child's call `call` of this row's reply is a report. `final`: the run ends with it, unless something else of the reply needs
   * the child; its answer waits until that is known.
   */
  | {
      readonly type: "run-reported";
      readonly run: RunNumber;
      readonly call: string;
      readonly final?: true | undefined;
    }
  /** The child was told that its report cannot be taken, because its artifacts or data are not what was asked for. */
  | { readonly type: "run-report-refused"; readonly run: RunNumber; readonly problem: TextIndex }
  | {
      readonly type: "run-ended";
      readonly run: RunNumber;
      readonly status: RunStatus;
      readonly reason?: string | undefined;
      readonly error?: TextIndex | undefined;
      readonly report: ReportKind;
      /** The final report ended it: that is the result, wherever it stood in its reply. */
      readonly final?: true | undefined;
      /** The run had reported, and this is why its closing call did not come to an end. */
      readonly closed?: string | undefined;
      /** Posts that no turn of the child will answer any more. */
      readonly posts?: readonly PostId[] | undefined;
    }
  /** A run that had ended, whose parent is gone before it was told. */
  | { readonly type: "run-undeliverable"; readonly run: RunNumber; readonly reason: string }
  /** An agent wrote to another: with call `call` of this row's reply, or by the end of run `run`. */
  | {
      readonly type: "message-sent";
      readonly n: number;
      readonly from: AgentNumber;
      readonly to: AgentNumber;
      readonly call?: string;
      readonly run?: RunNumber;
      readonly kind: "system" | "user-facing" | "steer";
      readonly silent?: true;
      /** Words for the user from a run that the receiver waits for: they join its turn (rule C5). */
      readonly joins?: true | undefined;
      readonly size: number;
    }
  | {
      readonly type: "announcement-queued";
      readonly agent: AgentNumber;
      readonly key: StepKey;
      readonly runs: readonly RunNumber[];
      /** Members of a batch whose barrier passed, that are still running. */
      readonly stragglers?: readonly RunNumber[];
    }
  | { readonly type: "barrier-passed"; readonly agent: AgentNumber; readonly batch: string }
  | { readonly type: "announcement-blocked"; readonly agent: AgentNumber; readonly key: StepKey }
  | { readonly type: "nudge-given"; readonly agent: AgentNumber; readonly about: "report" | "user-message" }
  /** A message for the user left for the channel: this row's reply, one of its `say` blocks, or a relayed message. */
  | {
      readonly type: "channel-sent";
      readonly agent: AgentNumber;
      readonly n: number;
      readonly say?: number;
      readonly relay?: StepKey;
      /** The reply also calls tools: it is not what the turn ends with (rule D13). */
      readonly commentary?: true | undefined;
    }
  | {
      readonly type: "turn-ended";
      readonly agent: AgentNumber;
      readonly outcome: "done" | "failed" | "cancelled";
      readonly reason?: string | undefined;
      readonly error?: TextIndex | undefined;
      readonly silent?: true | undefined;
      /** The reply held a `<response>`, in a run that reports by tag. */
      readonly tagged?: true | undefined;
      readonly posts?: readonly PostId[] | undefined;
      /** The report that a child made by tool in this turn: it answers the posts. */
      readonly answer?: ReportPlace | undefined;
    }
  /** Text `text` of this row is the summary that stands for everything before the turn under way. */
  | { readonly type: "context-compacted"; readonly agent: AgentNumber; readonly size: number }
  /** Results of the agent's tools that were longer than `keep` characters are cut to that, to make room in its context. */
  | { readonly type: "results-shortened"; readonly agent: AgentNumber; readonly keep: number }
  | { readonly type: "window-learnt"; readonly agent: AgentNumber; readonly window: number }
  | { readonly type: "erasure-asked"; readonly run: RunNumber; readonly n: number }
  | { readonly type: "tree-closed"; readonly posts?: readonly PostId[] | undefined };

export type Fact = Input | Decided;
