/** The options of `createErrand`. */

import type { ModelProvider } from "../contracts/model.ts";
import type { Runner } from "../contracts/runner.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import type { PermissionRule } from "../core/permissions/permissions.ts";
import type { ArtifactKind, LimitChoices } from "../core/values/limits.ts";
import type { ErrandError } from "../errors.ts";
import type { AgentOptions, ModelOption } from "./definitions/agent-options.ts";
import type { ToolRecord } from "./definitions/ai-sdk-tool.ts";
import type { SkillDefinition } from "./definitions/catalog.ts";
import type { BeforeDelegation } from "./effects/before-delegation.ts";

/** The options of `createErrand`. */
export interface ErrandOptions {
  /**
   * Where journals are kept: the path of a SQLite file, `{ path, durability }`, the URL of a PostgreSQL database,
   * `"memory"`, or a store of your own. With `relaxed` durability a power failure may lose the last commits; a crash of
   * the process loses nothing either way. A file that Errand did not create for this user is refused with
   * `store-not-trusted`: run `errand trust --store PATH`, or set `ERRAND_TRUST_STORE=ID` in the environment.
   */
  readonly store: string | { readonly path: string; readonly durability?: "full" | "relaxed" } | Store;
  /**
   * Where models come from, asked in this order. The registry is asked last: it knows the providers of `provider/name`,
   * and takes their keys from the environment.
   */
  readonly models?: readonly ModelProvider[];
  /**
   * The model of agents that name none: `provider/name`, or a language model of the AI SDK. Default: the usual model of
   * the first provider whose key is set. Without any, agents that name none cannot be started (`model-missing`).
   */
  readonly model?: ModelOption;
  /** Agents by their names, in addition to the built-in ones. One with the same name replaces a built-in one. */
  readonly agents?: Readonly<Record<string, AgentOptions>>;
  /** Skills that agents can use. Read a `SKILL.md` with `readSkill`. */
  readonly skills?: readonly SkillDefinition[];
  /**
   * Ordinary tools: made with `tool()`, or by their names, as the AI SDK takes them, its own `tool()` objects included.
   * Default: list, search and read files of the workspace.
   */
  readonly tools?: readonly Tool[] | ToolRecord;
  /** How agents with a `runner` are executed outside this process. A definition names one of them. */
  readonly runners?: readonly Runner[];
  /**
   * Which tool calls are allowed, asked about or denied, for every agent and tree that this process executes. The rules
   * of a definition can only narrow them. If the list is given, even empty, a call that no rule matches is allowed if
   * it reads files, and asked about otherwise. Without it every call is allowed.
   */
  readonly permissions?: readonly PermissionRule[];
  /** What root agents read about the project: usually the text of its AGENTS.md. */
  readonly projectContext?: string;
  /** The folder that tools work in. Default: the current one. */
  readonly workspace?: string;
  /**
   * Keys, tokens and passwords that must never be recorded, in addition to those Errand knows: the keys of
   * `createModelRegistry` and the password of the database. Each is replaced by `[redacted by Errand]`.
   */
  readonly secrets?: readonly string[];
  readonly limits?: LimitChoices;
  /**
   * What happens when a request has used `limits.modelCallsPerRequest` model calls. `end` (default): the turn ends with
   * the reason `model-call-limit`. `ask`: its model calls wait for a question whether it may use as many again.
   */
  readonly onModelCallLimit?: "ask" | "end";
  /** Hard caps: what models and definitions may ask for at most. */
  readonly caps?: LimitChoices;
  /** False: the tool `subagent` answers that it is not enabled. */
  readonly subagentEnabled?: boolean;
  /** Kinds of artifacts that a report may hold. Default: all. */
  readonly artifactKinds?: readonly ArtifactKind[];
  /**
   * Days for which an idle tree is kept; null for no limit. Default: 30. Outcomes that no parent has read are always
   * kept.
   */
  readonly retentionDays?: number | null;
  /**
   * Asked before each delegation of an agent or of your program: gives `{ refuse: WHY }`, `{ task: TEXT }` to replace
   * the task, or nothing. It has 5 s; if it throws or takes longer, the delegation is refused. What it says is
   * recorded, and replay does not ask it. After a crash it may be asked again.
   */
  readonly beforeDelegation?: BeforeDelegation;
  /** How many runs this process executes at the same time. Default: 64. */
  readonly slots?: number;
  /**
   * Gets failures that no caller waits for, and errors that listeners threw. Default: a failure is thrown as an
   * uncaught exception, the error of a listener is a warning.
   */
  readonly onFailure?: (error: ErrandError) => void;
  /**
   * Gets what a person should know and need not answer: a tree that was quarantined, that this process cannot run or
   * that another process took over; a blocked channel; a full disk or a lock that delays work, and its end; rows that
   * the database lost. Default: a warning of the process.
   */
  readonly onNotice?: (notice: ErrandError) => void;
  /** Clocks, timers and randomness. Default: the system's. */
  readonly world?: World;
  /**
   * True (default): this process continues the unfinished work of an earlier one. In a shared database it becomes a
   * worker: it takes trees that have work and that no process runs, now and later. False: a tree goes on when something
   * is posted to it.
   */
  readonly recover?: boolean;
  /** False: trees of the store keep the definitions and models they were recorded with. Default: true. */
  readonly renewDefinitions?: boolean;
}
