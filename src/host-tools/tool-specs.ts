/** The host tools, in one table: what the host's model reads about them, and their arguments as they are checked. */

import type { ArgumentSchema } from "../core/delegation/arguments.ts";
import { DELEGATION_TOOLS, SPAWN_SCHEMA } from "../core/delegation/tools.ts";
import { codePointsPrefix } from "../core/text/index.ts";
import type { Json } from "../core/values/json.ts";
import type { HostAgent } from "./host-runtime.ts";
import { LIST_OUTPUT_SCHEMA, RUN_OUTPUT_SCHEMA } from "./output-schemas.ts";

/** The names of the delegation tools for hosts. */
export type HostToolName =
  | "subagent"
  | "subagent_start"
  | "subagent_wait"
  | "subagent_send"
  | "subagent_cancel"
  | "subagent_list";

/** Hints for hosts, in the words of the Model Context Protocol. */
export interface HostToolAnnotations {
  readonly title: string;
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** A tool for another loop: its name, what models read, and its schema. */
export interface HostToolSpec {
  readonly name: HostToolName;
  readonly description: string;
  /** JSON Schema of the arguments: what `call` checks them by. */
  readonly inputSchema: ArgumentSchema;
  /** JSON Schema of the output. */
  readonly outputSchema: { readonly [keyword: string]: Json };
  readonly annotations: HostToolAnnotations;
}

/** Seconds that `subagent_wait` waits unless it is told: most hosts end a call after 60. */
export const WAIT_SECONDS = 50;
export const LONGEST_WAIT_SECONDS = 3_600;
const LONGEST_DESCRIPTION = 300;
const LONGEST_KEY = 200;
export const LISTED = 50;

const runId = { type: "string", minLength: 1, maxLength: 64 } as const;

/** The default among the agents: `worker`, else the first. */
export function defaultAgent(agents: readonly HostAgent[]): string {
  return (agents.find(({ name }) => name === "worker") ?? agents[0])?.name ?? "worker";
}

export function toolSpecs(agents: readonly HostAgent[], background: boolean): readonly HostToolSpec[] {
  const names = agents.map(({ name }) => name);
  const agent = { type: "string", enum: names, description: `Default: ${defaultAgent(agents)}.` } as const;
  const { task, context, files, output_schema, max_iterations, timeout_seconds } =
    DELEGATION_TOOLS.subagent.schema.properties;
  const { label } = SPAWN_SCHEMA.properties;
  const given = {
    task: { ...task, description: "The agent sees only this, context and files." },
    context: { ...context, description: "Facts the agent needs." },
    files,
    agent,
    label,
    max_iterations,
    timeout_seconds: { ...timeout_seconds, description: "Running time of the agent." },
    output_schema,
  };
  const key = {
    type: "string",
    minLength: 1,
    maxLength: LONGEST_KEY,
    description: "A name of your choice: starting again with the same key gives the same run.",
  } as const;
  const known = `Agents:\n${agents.map(agentLine).join("\n")}`;
  const answering = background
    ? " If the status is input_required, answer with subagent_send, then subagent_wait."
    : "";

  const blocking = spec({
    name: "subagent",
    title: "Delegate a task",
    description: `Give a task to another agent and wait for its result.${answering}\n${known}`,
    inputSchema: object(given, "task"),
    hints: { destructiveHint: true, openWorldHint: true },
  });
  if (!background) return [blocking];
  return [
    blocking,
    spec({
      name: "subagent_start",
      title: "Start a task",
      description:
        "Start an agent on a task and continue. You get a run_id, which stays valid after a restart; " +
        `get the result with subagent_wait.\n${known}`,
      inputSchema: object({ ...given, key }, "task"),
      hints: { destructiveHint: true, openWorldHint: true },
    }),
    spec({
      name: "subagent_wait",
      title: "Wait for a task",
      description:
        "Wait until a run has ended or asks something, and get its status and result. " +
        "If the result is cut, call again with the offset that it names.",
      inputSchema: object(
        {
          run_id: runId,
          timeout_seconds: {
            type: "integer",
            minimum: 0,
            description: `0 only looks. Default: ${WAIT_SECONDS}.`,
          },
          offset: { type: "integer", minimum: 0, description: "Read the result from this byte on." },
        },
        "run_id",
      ),
      hints: { readOnlyHint: true },
    }),
    spec({
      name: "subagent_send",
      title: "Send a message or an answer",
      description:
        "Send a message to a running agent, or answer its question with question_id and allow; " +
        "a child_question with question_id and text. Allow only what your user wants.",
      inputSchema: object(
        {
          run_id: runId,
          text: { type: "string", maxLength: 262_144, description: "The message, the answer, or why you refuse." },
          question_id: { type: "string", minLength: 1, maxLength: 128 },
          allow: { type: "boolean", description: "Whether the agent may do what it asks." },
        },
        "run_id",
      ),
      hints: { destructiveHint: true },
    }),
    spec({
      name: "subagent_cancel",
      title: "Cancel a task",
      description: "Cancel a run and all runs below it.",
      inputSchema: object({ run_id: runId }, "run_id"),
      hints: { destructiveHint: true, idempotentHint: true },
    }),
    spec({
      name: "subagent_list",
      title: "List tasks",
      description: `List the newest ${LISTED} runs, also those of earlier sessions.`,
      inputSchema: object({ state: { type: "string", enum: ["open", "ended"], description: "Default: both." } }),
      outputSchema: LIST_OUTPUT_SCHEMA,
      hints: { readOnlyHint: true },
    }),
  ];
}

interface Given extends Omit<HostToolSpec, "annotations" | "outputSchema"> {
  readonly title: string;
  readonly outputSchema?: HostToolSpec["outputSchema"];
  readonly hints: Partial<HostToolAnnotations>;
}

function spec({ title, hints, outputSchema = RUN_OUTPUT_SCHEMA, ...rest }: Given): HostToolSpec {
  const { readOnlyHint = false, destructiveHint = false, idempotentHint = readOnlyHint, openWorldHint = false } = hints;
  return {
    ...rest,
    outputSchema,
    annotations: { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint },
  };
}

function object(properties: ArgumentSchema["properties"], ...required: readonly string[]): ArgumentSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

function agentLine({ name, description }: HostAgent): string {
  const [line = ""] = description.trim().split("\n", 1);
  return `- ${name}${line === "" ? "" : `: ${codePointsPrefix(line, LONGEST_DESCRIPTION)}`}`;
}
