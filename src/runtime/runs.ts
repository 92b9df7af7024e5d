/** Runs that a program asks for: what they are asked with, and how they ended. */

import type { ModelProvider } from "../contracts/model.ts";
import type { Store, StoredRun } from "../contracts/store.ts";
import type { FactOf } from "../core/event.ts";
import type { RunStatus } from "../core/journal/journal.ts";
import { headRead } from "../core/journal/row.ts";
import type { Artifact } from "../core/reports/report.ts";
import { statusLabel } from "../core/text/index.ts";
import type { PostId, TreeId } from "../core/values/ids.ts";
import type { Json } from "../core/values/json.ts";
import { ErrandError } from "../errors.ts";
import { jsonSchemaOf, type OutputSchema, standardSchemaIs } from "./definitions/output-schema.ts";
import { modelFacts } from "./effects/call-facts.ts";
import { runResult } from "./journals/run-result.ts";
import type { Runtime } from "./runtime.ts";
import { checkSchema } from "./schemas/check-schema.ts";

/** What a run is started with. */
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
  /** `delete`: the child's texts are erased once its outcome is delivered. Default: `keep`. */
  readonly cleanup?: "keep" | "delete";
  /**
   * How the agent's model gets the outcome. `together` (default): once all runs of its batch have ended. `each`: every
   * report as it comes. `none`: not at all; you read `outcome()`.
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

/** A run, as the store has it, and why it did not end well, in words: null while it is open, and if it ended well. */
export type ToldRun = StoredRun & { readonly error: string | null };

/** A run that was started, as it was recorded then. */
export type SpawnedRun<Output = unknown> = ToldRun & {
  /** Waits for the end of the run, however long it takes, and gives its result. */
  outcome(): Promise<RunOutcome<Output>>;
};

/** The input that asks for a run, and its arguments. */
export function runRequest(
  options: Omit<SpawnOptions, "id">,
  { parent, asked, models }: { readonly parent: number; readonly asked: PostId; readonly models: ModelProvider },
): { readonly input: FactOf<"run-asked">; readonly args: { readonly [name: string]: Json } } {
  const { maxIterations, timeoutSeconds, output, announce, ...named } = options;
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
  const facts = options.model === undefined ? {} : modelFacts(options.model, models);
  const unannounced = announce === "none" ? ({ announce } as const) : {};
  return { input: { type: "run-asked", id: asked, parent, facts, ...unannounced }, args };
}

export function runRefused(why: string): ErrandError {
  return new ErrandError("usage", `The run was refused: ${why}.`);
}

/** The run that this request made. */
export async function runMadeBy(store: Store, tree: TreeId, asked: PostId): Promise<StoredRun> {
  const seq = (await store.post(tree, asked))?.seq;
  const [row] = seq === undefined ? [] : await store.rows(tree, seq, 1);
  const created = row === undefined ? undefined : headRead(row.head).events?.find(({ type }) => type === "run-created");
  const made = created?.type === "run-created" ? await store.run(created.id) : null;
  if (made === null) throw new ErrandError("run-unknown", "The run that was made is not in the store.");
  return made;
}

/** Resolves once the run's end is committed. */
export async function runEnded(runtime: Pick<Runtime, "rows">, store: Store, run: StoredRun): Promise<StoredRun> {
  for await (const row of runtime.rows(run.tree, run.createdSeq)) {
    const { events = [] } = headRead(row.head);
    if (!events.some((event) => event.type === "run-ended" && event.run === run.number)) continue;
    return (await store.run(run.id)) ?? run;
  }
  throw new ErrandError("shutting-down", "Errand was closed before the run ended; it goes on in the next process.");
}

export async function toldRun(store: Store, run: StoredRun): Promise<ToldRun> {
  const failed = run.status !== null && run.status !== "ok";
  return { ...run, error: failed ? inWords(run, (await runResult(store, run)).error) : null };
}

/** Why a run did not end well: what was recorded, else its status and reason. */
function inWords({ status, reason }: StoredRun, error: string | null): string | null {
  if (status === "ok") return null;
  return error ?? statusLabel({ status: status ?? "interrupted", ...(reason === null ? {} : { error: reason }) });
}

export async function runOutcome<Output>(
  store: Store,
  run: StoredRun,
  output: OutputSchema<Output> | undefined,
): Promise<RunOutcome<Output>> {
  const { status, reason } = run;
  const { result, error } = await runResult(store, run);
  const { text: summary, data, artifacts } = result;
  const typed = output === undefined || data === undefined ? undefined : await typedData(output, data);
  return { status: status ?? "interrupted", reason, error: inWords(run, error), summary, artifacts, data: typed };
}

/** Data that were checked when they were reported, in the form that the schema gives them. */
async function typedData<Output>(output: OutputSchema<Output>, data: Json): Promise<Output> {
  if (!standardSchemaIs(output)) return data as Output;
  const result = await output["~standard"].validate(data);
  if (result.issues === undefined) return result.value;
  throw new ErrandError("usage", `The recorded data do not fit the schema: ${result.issues[0]?.message ?? ""}.`);
}
