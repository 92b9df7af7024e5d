/** Envelopes as the runner port has them, and the other way round. */

import type {
  RunnerEnd,
  RunnerMessage,
  RunnerProgress,
  RunnerQuestion,
  RunnerReport,
  RunnerRequest,
  RunnerUsage,
} from "../contracts/runner.ts";
import { codePointsPrefix } from "../core/text/index.ts";
import { jsonObjectIs } from "../core/values/json.ts";
import type {
  Envelope,
  EnvelopeUsage,
  ProgressEnvelope,
  QuestionEnvelope,
  ReportEnvelope,
  ResultEnvelope,
} from "./envelope-types.ts";
import { ENVELOPE_VERSION } from "./envelope-types.ts";

const ERROR_LENGTH = 500;

export function requestEnvelope(request: RunnerRequest): Envelope {
  const { limits, context, files, outputSchema, prompt } = request;
  return {
    v: ENVELOPE_VERSION,
    type: "request",
    correlation_id: request.run,
    task: request.task,
    ...(context === "" ? {} : { context }),
    ...(files.length === 0 ? {} : { files }),
    limits: {
      timeout_seconds: limits.timeoutSeconds,
      max_iterations: limits.iterations,
      summary_bytes: limits.summaryBytes,
    },
    ...(jsonObjectIs(outputSchema) ? { output_schema: outputSchema } : {}),
    ...(prompt === "" ? {} : { prompt }),
    workspace: request.workspace,
    attempt: request.attempt,
  };
}

export function messageEnvelope(run: string, message: RunnerMessage): Envelope {
  const addressed = { v: ENVELOPE_VERSION, correlation_id: run } as const;
  switch (message.type) {
    case "answer": {
      const { type, question, text } = message;
      return { ...addressed, type, question, ...(text === null ? {} : { text }) };
    }
    case "steer":
      return { ...addressed, type: message.type, text: message.text };
    case "report-accepted":
      return { ...addressed, type: message.type };
    case "report-refused":
      return { ...addressed, type: message.type, problem: message.problem };
  }
}

export function progressOf({ text, iterations, usage }: ProgressEnvelope): RunnerProgress {
  return {
    ...(text === undefined ? {} : { text }),
    ...(iterations === undefined ? {} : { iterations }),
    ...usageOf(usage),
  };
}

export function reportOf({ text, artifacts, data }: Pick<ReportEnvelope, "text" | "artifacts" | "data">): RunnerReport {
  return { text, ...(artifacts === undefined ? {} : { artifacts }), ...(data === undefined ? {} : { data }) };
}

export function questionOf({ id, text, choices }: QuestionEnvelope): RunnerQuestion {
  return { id, text, ...(choices === undefined ? {} : { choices }) };
}

/** A result that says nothing leaves the newest report to count. */
export function resultEnd(result: ResultEnvelope): RunnerEnd {
  const { status, reason, summary, artifacts, data, usage } = result;
  const silent = summary === "" && artifacts.length === 0 && data === undefined;
  const said = {
    ...(silent ? {} : { report: reportOf({ text: summary, artifacts, ...(data === undefined ? {} : { data }) }) }),
    ...usageOf(usage),
  };
  if (status === "ok") return { status, ...said };
  const why = reason === undefined ? "" : ` (${reason})`;
  const [line = ""] = summary.split("\n");
  const error = `the child says that it ended as "${status}"${why}${line === "" ? "" : `: ${line}`}`;
  return { status: "error", error: codePointsPrefix(error, ERROR_LENGTH), ...said };
}

function usageOf(usage: EnvelopeUsage | undefined): { readonly usage?: RunnerUsage } {
  if (usage === undefined) return {};
  const { input_tokens: input, output_tokens: output, cached_input_tokens: cached, cost_micro_dollars: cost } = usage;
  return {
    usage: {
      input,
      output,
      ...(cached === undefined ? {} : { cachedInput: cached }),
      ...(cost === undefined ? {} : { cost }),
    },
  };
}
