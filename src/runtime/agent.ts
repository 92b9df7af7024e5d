/** Agents as users of the library hold them: posting, waiting, spawning, history. */

import type { Store, StoredRun } from "../contracts/store.ts";
import type { Artifact } from "../core/reports/report.ts";
import type { HistoryItem } from "../core/journal/history.ts";
import { asPostId, type PostId, type TreeId } from "../core/values/ids.ts";
import type { RunStatus, Sha256 } from "../core/journal/journal.ts";
import type { Json } from "../core/values/json.ts";
import { INBOX_FULL } from "../core/inbox/inbox.ts";
import { headRead } from "../core/journal/row.ts";
import { statusLabel } from "../core/text/index.ts";
import { ErrandError } from "../errors.ts";
import type { ModelProvider } from "../contracts/model.ts";
import { modelFacts } from "./effects/model-inputs.ts";
import { jsonSchemaOf, type OutputSchema, standardSchemaIs } from "./definitions/output-schema.ts";
import { checkSchema } from "./schemas/check-schema.ts";
import type { PostInput } from "./messages/mail.ts";
import { readHistory } from "./journals/read-history.ts";
import { runResult } from "./journals/run-result.ts";
import type { Attachment } from "./messages/outbox.ts";
import type { Runtime } from "./runtime.ts";
import type { Reply } from "./messages/turn-outcome.ts";

export interface PostOptions {
  /** Makes the message idempotent: posting again under the same id gives the first post's result. */
  readonly id?: string;
  /**
   * `user` (default): a request of the user. `system`: an internal update, no request. `steer`: spoken into the turn under way, before
   * its next iteration; starts a turn of an idle agent.
   */
  readonly kind?: "user" | "system" | "steer";
  /** True, for a system message: it joins the context and causes no inference. */
  readonly silent?: boolean;
}

export interface AwaitOptions extends PostOptions {
  /** How long to wait for the answer. Default: 600 s. The turn goes on after it. */
  readonly timeoutMs?: number;
}

export interface SpawnOptions<Output = unknown> {
  /** Makes the spawn idempotent: asking again under the same id gives the same run. */
  readonly id?: string;
  readonly task: string;
  readonly label?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly context?: string;
  readonly files?: readonly string[];
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  readonly group?: string;
  /** `delete`: the child's texts are erased once its outcome is told. Default: `keep`. */
  readonly cleanup?: "keep" | "delete";
  /**
   * How the agent's model is told. `together` (default): once all runs of its batch have ended. `each`: every report as it comes. `none`: not at
   * all; you read `outcome()`.
   */
  readonly announce?: "together" | "each" | "none";
  /** Schema of the data that the report must hold; the outcome's `data` has its type. */
  readonly output?: OutputSchema<Output>;
}

/** How a run ended, with its result. */
export interface RunOutcome<Output = unknown> {
  readonly status: RunStatus;
  readonly reason: string | null;
  /** Why it did not end well, in words; null for a run that did. */
  readonly error: string | null;
  /** The whole findings. */
  readonly summary: string;
  readonly artifacts: readonly Artifact[];
  /** Present when an output schema was given and the run reported. */
  readonly data: Output | undefined;
}

/** A run that was started, as it was recorded then. */
export type SpawnedRun<Output = unknown> = StoredRun & {
  /** Waits for the end of the run, however long it takes, and gives its result. */
  outcome(): Promise<RunOutcome<Output>>;
};

/** An addressable conversation with an inbox. */
export interface Agent {
  readonly id: string;
  /** Resolves when the message is durable. */
  post(text: string, options?: PostOptions): Promise<{ readonly id: string }>;
  /**
   * Posts, and waits for the answer of the turn that takes the message. Rejects when that turn fails, is cancelled or takes too long, or when Errand is closed
   * before it ends: never a failure as an answer. The wait survives a restart: ask again under the same id.
   */
  postAndAwait(text: string, options?: AwaitOptions): Promise<Reply>;
  /** Starts a background run below this agent. */
  spawn<Output = unknown>(options: SpawnOptions<Output>): Promise<SpawnedRun<Output>>;
  /** What the user said and was told, in order. With `internal`, also what only the model saw: nudges, announcements, system messages. */
  history(options?: { readonly internal?: boolean }): Promise<readonly HistoryItem[]>;
  /** Ends the turn under way and every run below. */
  cancel(): Promise<void>;
  /** Takes no more messages. Runs below go on, those that wait for a slot are cancelled; their outcomes are kept. */
  close(): Promise<void>;
  /** Releases the channel that was given for this conversation. Messages stay in the outbox until a channel is attached again. */
  detach(): void;
}

export const AWAIT_TIMEOUT_MS = 600_000;

interface AgentParts {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly models: ModelProvider;
  readonly sha256: Sha256;
}

export function createAgent(
  { runtime, store, models, sha256 }: AgentParts,
  tree: TreeId,
  number: number,
  id: string,
  given: Attachment | null = null,
): Agent {
  /** Held here, so that the channel is kept for as long as the user keeps the agent. */
  let attachment = given;

  async function postInput(input: PostInput, texts: readonly Json[], fresh: boolean): Promise<void> {
    if (attachment !== null) await runtime.reattach(attachment);
    const rejected = await runtime.post(tree, input, texts, fresh);
    if (rejected !== null) throw notTaken(id, rejected);
  }

  function postId(given?: string): PostId {
    return asPostId(given ?? runtime.newId());
  }

  async function post(text: string, options: PostOptions = {}): Promise<{ id: string }> {
    const posted = postId(options.id);
    await postInput(postedMessage(posted, number, text, options), [text], options.id === undefined);
    return { id: posted };
  }

  async function askForRun(options: SpawnOptions): Promise<StoredRun> {
    const { id: given, maxIterations, timeoutSeconds, output, announce, ...named } = options;
    const schema = output === undefined ? undefined : jsonSchemaOf(output);
    if (schema === null)
      throw new ErrandError("usage", "The output schema cannot tell its JSON Schema; give a JSON Schema instead.");
    const checked = schema === undefined ? null : checkSchema(schema, "user");
    if (checked !== null && "problem" in checked)
      throw new ErrandError("usage", `The output schema cannot be used: ${checked.problem}.`);
    const args = {
      ...named,
      ...(announce === undefined || announce === "none" ? {} : { announce }),
      ...(maxIterations === undefined ? {} : { max_iterations: maxIterations }),
      ...(timeoutSeconds === undefined ? {} : { timeout_seconds: timeoutSeconds }),
      ...(schema === undefined ? {} : { output_schema: schema }),
    };
    const asked = postId(given);
    const facts = options.model === undefined ? {} : modelFacts(options.model, models);
    const unannounced = announce === "none" ? ({ announce } as const) : {};
    const input = { type: "run-asked", id: asked, parent: number, facts, ...unannounced } as const;
    const rejected = await runtime.post(tree, input, [args], given === undefined);
    if (rejected !== null) throw new ErrandError("usage", `The run was refused: ${rejected}.`);
    const seq = (await store.post(tree, asked))?.seq;
    const [row] = seq === undefined || seq === null ? [] : await store.rows(tree, seq, 1);
    const created =
      row === undefined ? undefined : headRead(row.head).events?.find(({ type }) => type === "run-created");
    const made = created?.type === "run-created" ? await store.run(created.id) : null;
    if (made === null) throw new ErrandError("run-unknown", "The run that was made is not in the store.");
    return made;
  }

  /** Resolves once the run's end is committed. */
  async function ended(run: StoredRun): Promise<StoredRun> {
    for await (const row of runtime.rows(tree, run.createdSeq)) {
      const { events = [] } = headRead(row.head);
      if (!events.some((event) => event.type === "run-ended" && event.run === run.number)) continue;
      return (await store.run(run.id)) ?? run;
    }
    throw new ErrandError("shutting-down", "Errand was closed before the run ended; it goes on in the next process.");
  }

  async function outcomeOf<Output>(
    run: StoredRun,
    output: OutputSchema<Output> | undefined,
  ): Promise<RunOutcome<Output>> {
    const { status, reason } = run;
    const { result, error } = await runResult(store, run);
    const { text: summary, data, artifacts } = result;
    const typed = output === undefined || data === undefined ? undefined : await typedData(output, data);
    const why = status === "ok" ? null : (error ?? statusLabel({ status: status ?? "interrupted" }));
    return { status: status ?? "interrupted", reason, error: why, summary, artifacts, data: typed };
  }

  return {
    id,
    post,
    async postAndAwait(text, options = {}) {
      if (options.silent === true) {
        throw new ErrandError("silent-await", "A silent message causes no turn, so there is no answer to wait for.", {
          remedy: "Post it without waiting, or leave `silent` out.",
        });
      }
      const posted = await post(text, options);
      return runtime.reply(tree, asPostId(posted.id), options.timeoutMs ?? AWAIT_TIMEOUT_MS);
    },
    async spawn(options) {
      const run = await askForRun(options);
      return { ...run, outcome: async () => outcomeOf(await ended(run), options.output) };
    },
    async history(options = {}) {
      const items = await readHistory(store, tree, number, sha256);
      return items.filter((item) => options.internal === true || item.from !== "internal");
    },
    cancel: () => postInput({ type: "cancel-asked", id: postId(), run: number === 0 ? null : number }, [], true),
    close: () => postInput({ type: "close-asked", id: postId() }, [], true),
    detach() {
      attachment = null;
      if (number === 0) runtime.detach(tree);
    },
  };
}

/** Why a message was not taken, as the sender is told it. */
export function notTaken(agent: string, late: string): ErrandError {
  const code = late === INBOX_FULL ? "inbox-full" : "agent-unknown";
  const remedy =
    code === "inbox-full"
      ? "Wait until the agent has read some of its messages, then send it again; or raise limits.inboxMessages."
      : "errand ps --all lists the trees that can be written to.";
  return new ErrandError(code, `Agent ${agent} did not take the message: ${late}.`, { remedy });
}

/** The input that brings a message to an agent of a tree. */
export function postedMessage(
  id: PostId,
  to: number,
  text: string,
  { kind = "user", silent = false }: PostOptions = {},
): PostInput {
  if (text === "") throw new ErrandError("usage", "A message must not be empty.");
  if (silent && kind !== "system") throw new ErrandError("usage", "Only a system message can be silent.");
  return { type: "message-posted", id, to, kind, ...(silent ? { silent } : {}), size: text.length };
}

/** Data that were checked when they were reported, in the form that the schema gives them. */
async function typedData<Output>(output: OutputSchema<Output>, data: Json): Promise<Output> {
  if (!standardSchemaIs(output)) return data as Output;
  const result = await output["~standard"].validate(data);
  if (result.issues === undefined) return result.value;
  throw new ErrandError("usage", `The recorded data do not fit the schema: ${result.issues[0]?.message ?? ""}.`);
}
