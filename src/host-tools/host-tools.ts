/**
 * Delegation tools for loops that are not Errand's: the tools, and one function that carries a call out. It knows no
 * transport. The AI SDK form, the JSON Schema form and servers are made from it.
 *
 * Invariants:
 *  1. A call never rejects: whatever goes wrong is an output that says so.
 *  2. A handle is durable before it is in an output, and works in every process that opens the store.
 *  3. Only runs that a host started, of the agents that were allowed, can be named.
 */

import { type Arguments, argumentsProblem } from "../core/delegation/arguments.ts";
import { withSchemaText } from "../core/delegation/typed-data.ts";
import type { Json } from "../core/values/json.ts";
import { ErrandError } from "../errors.ts";
import { plainJson } from "../plain-json.ts";
import type { FollowOptions, HostAgent, HostQuestion, HostRun, HostRuntime } from "./host-runtime.ts";
import { numberOf, requestOf, textOf } from "./request.ts";
import type { HostListOutput, HostRunOutput, HostToolOutput } from "./output-schemas.ts";
import { endedOutput, listedRun, openOutput, problemOf, type TextPart, textPiece } from "./run-output.ts";
import {
  defaultAgent,
  type HostToolName,
  type HostToolSpec,
  LISTED,
  LONGEST_WAIT_SECONDS,
  toolSpecs,
  WAIT_SECONDS,
} from "./tool-specs.ts";

/** Which tools a host gets, and what its model may name. */
export interface HostToolsOptions {
  /** Names of the definitions that the host's model may name. Default: all but skills. */
  readonly agents?: readonly string[];
  /**
   * True: the host's model can also start runs and go on, look at them, send messages and answers, cancel and list.
   * Default: false, only `subagent`.
   */
  readonly background?: boolean;
  /** Bytes of a result in one output; the rest is read with the handle. Default: 32,768. */
  readonly resultBytes?: number;
  /** Any JSON up to 64 KiB, for your tools: they get it as `context.data` in these runs. It is recorded. */
  readonly data?: unknown;
}

/** What a run does, as it happens. */
export interface HostProgress {
  readonly run_id: string;
  /** 1, 2, 3, … within the call. */
  readonly count: number;
  readonly text: string;
}

/** How a call of a delegation tool is carried out. */
export interface HostCallOptions {
  /** `subagent`: cancels the run. `subagent_wait`: ends the wait. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: HostProgress) => void) | undefined;
  /** The `key` of `subagent_start`, if the arguments have none, and of `subagent`. */
  readonly key?: string | undefined;
}

/** What came of a call. */
export interface HostCallResult {
  /** True if the call could not be done, or the run of a `subagent` call did not end well. */
  readonly failed: boolean;
  /** It fits the tool's `outputSchema`. */
  readonly output: HostToolOutput;
  /** The output as JSON text, for a model. */
  readonly text: string;
}

/** A tool in the JSON Schema form. */
export interface HostTool extends HostToolSpec {
  /** Never rejects. */
  execute(input: unknown, options?: HostCallOptions): Promise<HostToolOutput>;
}

/** A run as it is now. */
export interface HostLook {
  /** What `subagent_wait` with `timeout_seconds: 0` gives. */
  readonly output: HostRunOutput;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Null while it is open. */
  readonly endedAt: number | null;
}

/** The delegation tools for a loop that is not Errand's. */
export interface HostTools {
  /** The definitions that can be named. */
  readonly agents: readonly HostAgent[];
  readonly tools: readonly HostTool[];
  /** Carries out a call. Never rejects. */
  call(name: string, input: unknown, options?: HostCallOptions): Promise<HostCallResult>;
  /** The newest runs. Default: open and ended ones. */
  list(state?: "open" | "ended"): Promise<HostListOutput>;
  /** True if `subagent_start` was called with this key. */
  known(key: string): Promise<boolean>;
  /** How a run stands. Rejects with `run-unknown` for another id. */
  look(run: string): Promise<HostLook>;
  /** A part of the whole result of an ended run, from a byte on. */
  result(run: string, offset?: number): Promise<TextPart>;
  /** A part of what its agent was told and said, from a byte on. */
  transcript(run: string, offset?: number): Promise<TextPart>;
}

const RESULT_BYTES = 32_768;
const LEAST_RESULT_BYTES = 256;
const NO_QUESTIONS: readonly HostQuestion[] = [];

export function createHostTools(
  runtime: HostRuntime,
  { agents: names, background = false, resultBytes = RESULT_BYTES, data }: HostToolsOptions = {},
): HostTools {
  if (!Number.isSafeInteger(resultBytes) || resultBytes < LEAST_RESULT_BYTES)
    throw new ErrandError("usage", `resultBytes is a whole number from ${LEAST_RESULT_BYTES} on.`);
  const agents = runtime.agents(names);
  if (agents.length === 0) throw new ErrandError("usage", "There is no agent that a host may name.");
  const allowed = new Set(agents.map(({ name }) => name));
  const specs = toolSpecs(agents, background);

  async function find(id: string): Promise<HostRun> {
    const run = await runtime.find(id);
    if (run !== null && allowed.has(run.agent)) return run;
    const remedy = background ? { remedy: "subagent_list names the runs." } : {};
    throw new ErrandError(
      "run-unknown",
      `There is no run ${JSON.stringify(id.slice(0, 64))} that was started here.`,
      remedy,
    );
  }

  async function outputOf(id: string, activity: string | null, offset?: number): Promise<HostRunOutput> {
    const run = await find(id);
    if (run.state === "ended") return endedOutput(run, await runtime.result(id), resultBytes, offset);
    return openOutput(run, activity, run.state === "asking" ? await runtime.questions(id) : NO_QUESTIONS);
  }

  /** Follows a run, telling what happens, and gives how it stands then. */
  async function follow(
    id: string,
    how: Pick<FollowOptions, "timeoutMs" | "fromStart"> & { readonly offset?: number | undefined },
    { signal, onProgress }: HostCallOptions,
  ): Promise<HostRunOutput> {
    let count = 0;
    const onLine =
      onProgress === undefined
        ? undefined
        : (text: string): void => {
            count += 1;
            onProgress({ run_id: id, count, text });
          };
    const { state } = await find(id);
    if (state === "quarantined" || (state === "ended" && !how.fromStart)) return outputOf(id, null, how.offset);
    let activity: string | null = null;
    try {
      activity = await runtime.follow(id, { ...how, stopsAtQuestion: background, signal, onLine });
    } catch (error) {
      const run = await find(id).catch(() => null);
      if (run?.state !== "quarantined") throw error;
    }
    return outputOf(id, activity, how.offset);
  }

  async function subagent(args: Arguments, options: HostCallOptions): Promise<HostRunOutput> {
    const { signal, key } = options;
    if (isAborted(signal)) return refused("The call was cancelled before it began.", "cancelled");
    const id = await runtime.start(requestOf(args, defaultAgent(agents)), key, data);
    let cancelled: Promise<unknown> = Promise.resolve();
    const cancel = (): void => {
      cancelled = runtime.cancel(id);
      // It is awaited below; until then it is no unhandled rejection.
      cancelled.catch(() => undefined);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    if (isAborted(signal)) cancel();
    try {
      const output = await follow(id, { timeoutMs: null, fromStart: true }, { ...options, signal: undefined });
      await cancelled;
      return output;
    } catch (error) {
      return { status: "working", run_id: id, ...problemOf(error) };
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  async function send(args: Arguments): Promise<HostRunOutput> {
    const { id } = await find(textOf(args["run_id"]) ?? "");
    const { question_id: question, allow } = args;
    const text = textOf(args["text"]) ?? "";
    if (typeof question === "string") {
      if (typeof allow === "boolean") await runtime.answer(id, question, { allow, note: text });
      else if (text !== "") await runtime.answer(id, question, { text });
      else throw usage("`allow` is missing; give true or false, or to a `child_question` the answer as `text`");
    } else {
      if (allow !== undefined) throw usage("`question_id` is missing; give it with `allow`");
      if (text === "") throw usage("`text` is missing; give the message as a string that is not empty");
      await runtime.send(id, text);
    }
    return outputOf(id, null);
  }

  async function list(state?: Json): Promise<HostListOutput> {
    const open = state === undefined ? undefined : state === "open";
    const { runs, more } = await runtime.list({ agents: allowed, open, limit: LISTED });
    return { runs: runs.map(listedRun), ...(more ? { more } : {}) };
  }

  type Act = (args: Arguments, options: HostCallOptions) => Promise<HostToolOutput>;
  const acts: Readonly<Record<HostToolName, Act>> = {
    subagent,
    subagent_start: async (args, { key }) =>
      outputOf(await runtime.start(requestOf(args, defaultAgent(agents)), textOf(args["key"]) ?? key, data), null),
    subagent_wait: async (args, options) => {
      const { id } = await find(textOf(args["run_id"]) ?? "");
      const seconds = Math.min(numberOf(args["timeout_seconds"]) ?? WAIT_SECONDS, LONGEST_WAIT_SECONDS);
      return follow(id, { timeoutMs: seconds * 1_000, fromStart: false, offset: numberOf(args["offset"]) }, options);
    },
    subagent_send: send,
    subagent_cancel: async (args) => {
      const { id } = await find(textOf(args["run_id"]) ?? "");
      await runtime.cancel(id);
      return outputOf(id, null);
    },
    subagent_list: (args) => list(args["state"]),
  };

  async function outcomeOf(name: string, input: unknown, options: HostCallOptions): Promise<HostToolOutput> {
    const spec = specs.find((known) => known.name === name);
    if (spec === undefined)
      return refused(`There is no tool "${name}". Known: ${specs.map((known) => known.name).join(", ")}.`, "usage");
    const plain = plainJson(input);
    const args = "json" in plain ? withSchemaText(plain.json) : null;
    const problem = "problem" in plain ? plain.problem : argumentsProblem(spec.inputSchema, args);
    if (problem !== null) return refused(`Wrong arguments for ${name}: ${problem}.`, "invalid-arguments");
    try {
      return await acts[spec.name](args as Arguments, options);
    } catch (error) {
      return { status: "refused", ...problemOf(error) };
    }
  }

  async function call(name: string, input: unknown, options: HostCallOptions = {}): Promise<HostCallResult> {
    const output = await outcomeOf(name, input, options);
    const failed = output.status === "refused" || (name === "subagent" && !FINE.has(output.status ?? ""));
    return { failed, output, text: JSON.stringify(output) };
  }

  return {
    agents,
    tools: specs.map((spec) => ({
      ...spec,
      execute: async (input, options) => (await call(spec.name, input, options)).output,
    })),
    call,
    list,
    known: (key) => runtime.known(key),
    async look(id) {
      const { createdAt, endedAt } = await find(id);
      return { output: await follow(id, { timeoutMs: 0, fromStart: false }, {}), createdAt, endedAt };
    },
    async result(id, offset = 0) {
      const { state } = await find(id);
      if (state !== "ended") throw new ErrandError("run-open", `The run ${id} has not ended yet.`);
      return textPiece((await runtime.result(id)).whole, offset, resultBytes);
    },
    async transcript(id, offset = 0) {
      await find(id);
      return textPiece(await runtime.transcript(id), offset, resultBytes);
    },
  };
}

/** A `subagent` call with another status has failed. */
const FINE: ReadonlySet<string> = new Set(["completed", "input_required"]);

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function refused(error: string, reason: string): HostRunOutput {
  return { status: "refused", error, reason };
}

function usage(problem: string): ErrandError {
  return new ErrandError("usage", `${problem}.`);
}
