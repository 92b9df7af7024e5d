/**
 * Runs as tasks of the extension `io.modelcontextprotocol/tasks`: a client that declares it gets a task for a
 * `subagent` call and asks for its state. The id of a task is the id of its run, so a task is found after a restart.
 */

import { ProtocolError, ProtocolErrorCode, type Server, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { CHILD_QUESTION } from "../core/text/prompts/question-text.ts";
import { ErrandError } from "../errors.ts";
import type { HostCallResult, HostLook, HostTools } from "../host-tools/host-tools.ts";
import type { AskedQuestion, HostStatus } from "../host-tools/output-schemas.ts";
import { toolResult } from "./tool-result.ts";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** How often a client should ask. */
const POLL_INTERVAL_MS = 1_000;
const MISSING_CAPABILITY = -32_021;

const taskId = z.string();
const TaskParams = z.looseObject({ taskId });
/** The answer to a question: an elicitation form. */
const Answer = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z
    .looseObject({ allow: z.boolean().optional(), note: z.string().optional(), answer: z.string().optional() })
    .optional(),
});

/** What a request must carry for a task: clients declare their capabilities with each request. */
const Declared = z.looseObject({
  "io.modelcontextprotocol/clientCapabilities": z.looseObject({
    extensions: z.looseObject({ [TASKS_EXTENSION]: z.looseObject({}) }),
  }),
});

export function declaresTasks({ mcpReq }: ServerContext): boolean {
  return Declared.safeParse(mcpReq.envelope).success;
}

/** Starts the run of a `subagent` call, and gives its task; or the result of a call that was refused. */
export async function startTask(hosts: HostTools, input: unknown) {
  const started = await hosts.call("subagent_start", input);
  const { output } = started;
  if (started.failed || !("run_id" in output) || output.run_id === undefined) return toolResult(started);
  // The SDK wants content in every result of a call.
  return { content: [], resultType: "task", ...(await taskOf(hosts, output.run_id)) };
}

export function serveTasks(server: Server, hosts: HostTools): void {
  server.setRequestHandler("tasks/get", { params: TaskParams }, async ({ taskId: id }, context) => {
    requireDeclared(context);
    return known(() => taskOf(hosts, id));
  });
  server.setRequestHandler("tasks/update", { params: TaskParams }, async ({ taskId: id }, context) => {
    requireDeclared(context);
    await known(() => hosts.look(id));
    // The SDK takes the responses out of the parameters, and drops those that are no results.
    const { inputResponses = {}, droppedInputResponseKeys: [dropped] = [] } = context.mcpReq;
    if (dropped !== undefined) throw noElicitation(dropped);
    for (const [question, response] of Object.entries(inputResponses)) await answer(hosts, id, question, response);
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params: TaskParams }, async ({ taskId: id }, context) => {
    requireDeclared(context);
    await known(() => hosts.look(id));
    await done(hosts.call("subagent_cancel", { run_id: id }));
    return {};
  });
}

async function taskOf(hosts: HostTools, id: string) {
  const look = await hosts.look(id);
  const { output, createdAt, endedAt } = look;
  const { activity, error, questions = [] } = output;
  const message = error ?? activity;
  return {
    taskId: id,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(endedAt ?? createdAt).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_INTERVAL_MS,
    ...(message === undefined ? {} : { statusMessage: message }),
    ...stateOf(output.status, questions, look),
  };
}

/** A run that ended badly is a completed task, whose result says so: `failed` is for errors of the protocol. */
function stateOf(status: HostStatus, questions: readonly AskedQuestion[], { output }: HostLook) {
  switch (status) {
    case "queued":
    case "working":
    case "quarantined":
      return { status: "working" };
    case "input_required":
      return { status: "input_required", inputRequests: Object.fromEntries(questions.map(inputRequest)) };
    case "cancelled":
      return { status: "cancelled" };
    default:
      return {
        status: "completed",
        result: toolResult({ failed: status !== "completed", output, text: JSON.stringify(output) }),
      };
  }
}

function inputRequest({ question_id: id, asked_by: who, tool, question }: AskedQuestion) {
  const requestedSchema = tool === CHILD_QUESTION ? WORDS_FORM : ALLOW_FORM;
  const params = { mode: "form", message: `${who} asks: ${question}`, requestedSchema };
  return [id, { method: "elicitation/create", params }] as const;
}

const ALLOW_FORM = {
  type: "object",
  properties: {
    allow: { type: "boolean", title: "Allow it" },
    note: { type: "string", title: "What the agent should know" },
  },
  required: ["allow"],
};
const WORDS_FORM = {
  type: "object",
  properties: { answer: { type: "string", title: "Your answer" } },
  required: ["answer"],
};

/** The answer to a question that is not open changes nothing, as the extension demands. */
async function answer(hosts: HostTools, run: string, question: string, response: unknown): Promise<void> {
  const read = Answer.safeParse(response);
  if (!read.success) throw noElicitation(question);
  const { action, content } = read.data;
  const { allow = false, note = "", answer: text = "" } = action === "accept" ? (content ?? {}) : {};
  const given = text === "" ? { allow, text: note } : { text };
  await done(hosts.call("subagent_send", { run_id: run, question_id: question, ...given }), "question-closed");
}

/** Rejects if the call failed, but for this reason. */
async function done(call: Promise<HostCallResult>, except?: string): Promise<void> {
  const { failed, output } = await call;
  const { reason, error = "The call failed." } = output;
  if (!failed || (except !== undefined && reason === except)) return;
  const { InvalidParams, InternalError } = ProtocolErrorCode;
  const isInput = reason === "invalid-arguments" || reason === "answer-unfit";
  throw new ProtocolError(isInput ? InvalidParams : InternalError, error);
}

function noElicitation(question: string): ProtocolError {
  const what = `The response to ${JSON.stringify(question)} is not the result of an elicitation.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, what);
}

function requireDeclared(context: ServerContext): void {
  if (declaresTasks(context)) return;
  throw new ProtocolError(MISSING_CAPABILITY, `This needs the client capability ${TASKS_EXTENSION}.`, {
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

async function known<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ErrandError) || error.code !== "run-unknown") throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
}
