/** Inputs: the facts of a tree that come from outside the kernel. Their texts are the first texts of the row. */

import type { DefinitionFacts } from "./values/definition.ts";
import type { FileFacts, PermissionRule } from "./permissions/permissions.ts";
import type { Judgement, ProcessRights } from "./permissions/process-rights.ts";
import type { AgentNumber, PostId, RunNumber, StepKey } from "./values/ids.ts";
import type { Settings } from "./values/limits.ts";
import type { SessionUsage, Usage } from "./values/message.ts";

/** `host`: the root of a program's tree. It calls no model and takes no messages; the program starts its runs. */
export type AgentKind = "foreground" | "background" | "host";
/** Why a model call gave no reply. */
export type FailureCode = "provider-error" | "context-overflow" | "reply-limit" | "aborted" | "refused";

/** Facts that come from outside of the kernel, by their types. */
export interface Inputs {
  /** Text 0, if there is one: the caller's data for the tools of the tree. */
  "tree-opened": {
    readonly agent: string;
    readonly kind: AgentKind;
    readonly definition: string;
    readonly catalog: readonly DefinitionFacts[];
    readonly settings: Settings;
    /** The rights of the process that opened it. */
    readonly rights?: ProcessRights | undefined;
  };
  /** The rights of the process that executes the tree from here on, in place of the earlier ones (rule A9). */
  "rights-changed": { readonly rights: ProcessRights };
  /** The rows before this one were copied from another tree. */
  "tree-forked": {
    readonly agent: string;
    readonly origin: string;
    readonly seq: number;
    readonly hash: string;
    readonly catalog: readonly DefinitionFacts[];
    readonly root: DefinitionFacts;
    /** Rows whose texts were erased before the fork. */
    readonly erased?: readonly ErasedRow[] | undefined;
  };
  /** The definitions on disk or in code changed. Children are made from these now. */
  "catalog-changed": {
    readonly catalog: readonly DefinitionFacts[];
    /** Absent if the root is closed. */
    readonly root?: DefinitionFacts | undefined;
    /** Absent in journals before revision 6: running children kept their definitions. */
    readonly children?: true | undefined;
  };
  /** Text 0: the message. */
  "message-posted": {
    readonly id: PostId;
    readonly to: AgentNumber;
    readonly kind: "user" | "system" | "steer";
    readonly silent?: true;
    /** The sender of a system message; the runtime sets it. */
    readonly origin?: string;
    readonly size: number;
  };
  /** Text 0: the arguments of `start_background_agent`. */
  "run-asked": {
    readonly id: PostId;
    readonly parent: AgentNumber;
    readonly facts: CallFacts;
    /** The caller reads the outcome; the parent's model is not told. Always so below a host. */
    readonly announce?: "none" | undefined;
  };
  /** Text 0: the reply's parts. */
  "model-replied": {
    readonly effect: StepKey;
    readonly attempt: number;
    readonly usage: Usage | null;
    readonly stop: "end" | "tools" | "length" | "refused";
    readonly size: number;
    /** What the edge found about calls of this reply, by the call's position. */
    readonly facts?: Readonly<Record<string, CallFacts>> | undefined;
  };
  /** Text 0: the provider's message. */
  "model-failed": {
    readonly effect: StepKey;
    readonly attempt: number;
    readonly code: FailureCode;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
    readonly usage: Usage | null;
  };
  /** What an aborted model call had used, as the provider reported later. */
  "usage-learnt": { readonly effect: StepKey; readonly attempt: number; readonly usage: Usage };
  /** Text 0: the result, or the beginning of a longer one, which is text 1. Also the answer to a read of the store. */
  "tool-finished": {
    readonly effect: StepKey;
    readonly attempt: number;
    readonly failed?: true | undefined;
    readonly size: number;
    readonly whole?: WholeResult | undefined;
  };
  /** The tool says that a call, which a crash interrupted, never happened. */
  "tool-not-run": { readonly effect: StepKey; readonly attempt: number };
  /** Effects whose process is gone, or that a shutdown parked. */
  "effects-lost": { readonly effects: readonly StepKey[] };
  /** What an outside child does now. Text 0: a line for people, or "". Text 1: the token to resume its session with. */
  "runner-progressed": SessionInput & {
    readonly iterations?: number | undefined;
    readonly resumable?: true | undefined;
  };
  /** An outside child asks the user. `ask`: the child's own name for it. Text 0: `{ text, choices? }`. */
  "runner-asked": SessionInput & { readonly ask: string };
  /** Text 0: the report, as arguments of `send_agent_message`. `problem`: its data do not fit their schema. */
  "runner-reported": SessionInput & { readonly size: number; readonly problem?: string | undefined };
  /**
   * The session of an outside child is over. Text 0: its last report if `reported`, else null. Text 1: what went wrong.
   * `lost`: the process that held it is gone, and nothing of it runs any more.
   */
  "runner-ended": SessionInput & {
    readonly status: "ok" | "error" | "failed" | "lost";
    /** Why it failed. */
    readonly code?: string | undefined;
    readonly reported?: true | undefined;
    readonly size: number;
    readonly problem?: string | undefined;
  };
  /** The session has taken a message. */
  "runner-told": { readonly effect: StepKey; readonly attempt: number };
  "slots-offered": object;
  "timers-due": object;
  /** A user's answer to a question. Text 0: the user's words, or "". */
  "answer-given": {
    readonly id: PostId;
    readonly question: StepKey;
    readonly allow: boolean;
    /** The words are the answer, to a question of an outside child. */
    readonly text?: true | undefined;
    /** The mark of the file that the user saw (contracts/tool.ts). */
    readonly seen?: string | undefined;
    /** Not recorded: the user allows the same call for the whole tree. It becomes `grant`. */
    readonly always?: true | undefined;
    /** A rule made from the call. It is in force for the whole tree from here on. */
    readonly grant?: PermissionRule | undefined;
    /** The question has choices, and the words are none of them. */
    readonly unfit?: true | undefined;
    /** The user allows the call, but the rights in force do not (rule A9). */
    readonly refused?: Exclude<Judgement, "allow" | "ask"> | undefined;
  };
  "cancel-asked": { readonly id: PostId; readonly run: RunNumber | null };
  "close-asked": { readonly id: PostId };
  /** The texts of a run that asked for cleanup are gone from the bodies of these rows. */
  "texts-erased": { readonly effect: StepKey; readonly rows: readonly ErasedRow[] };
}

/** From a session of an outside child. `used`: all that the session has used, if that is known. */
export interface SessionInput {
  readonly effect: StepKey;
  readonly attempt: number;
  readonly used?: SessionUsage | undefined;
}

/** A row with an erased text, and the hash of what is left of its body. */
export interface ErasedRow {
  readonly seq: number;
  readonly hash: string | null;
}

/** A tool's result that is longer than its agent's context allows (rule D7). */
export interface WholeResult {
  readonly bytes: number;
  /** SHA-256, base64url. */
  readonly sha256: string;
  /** The bytes of it that are in the context. */
  readonly kept: number;
  /** Bytes that the tool returned, if more than were recorded. */
  readonly given?: number | undefined;
}

/** Facts about a call that only the edge can know. */
export interface CallFacts {
  readonly model?: { readonly window: number | null; readonly price: DefinitionFacts["price"] };
  /** Why the call cannot be honoured: no such model, data that do not fit their schema. */
  readonly problem?: string;
  /** The file that the call's path leads to, if rules must know it. */
  readonly file?: FileFacts;
  /** The tool wants the user to be asked about this call. */
  readonly asks?: true;
  /** Index of the text with the arguments as they were given: the program has put another task in their place. */
  readonly rewritten?: number;
}
