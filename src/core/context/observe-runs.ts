/** How runs enter the contexts: a child's beginning, its reports, and what its end leaves for its parent. */

import type { Json } from "../json.ts";
import { responseError } from "../reports/outcome.ts";
import { outputSchemaOf } from "../runs/output-schema-argument.ts";
import { SKILL_TASK } from "../runs/spawn.ts";
import { codePointsPrefix } from "../text/index.ts";
import { type AgentContext, contextAppend, contextDrop, contextNew } from "./contexts.ts";
import { argumentsOf, asText, type FactOf, type Observing, type TextAt } from "./observing.ts";
import { promptOfChild, taskMessage } from "./prompts.ts";
import { type ReportTexts, reportTexts } from "./report-texts.ts";
import { errorBounded, findingsOf, findingsWithError, type RunTexts, taskFacts, timedOutError } from "./run-texts.ts";

const NAME_LENGTH = 60;
const NO_REPORT: ReportTexts = { text: "", artifacts: [], data: undefined };

export function createRun(o: Observing, fact: FactOf<"run-created">, textAt: TextAt): void {
  const child = o.state.agents.get(fact.run);
  const run = o.state.runs.get(fact.run);
  if (child === undefined || run === undefined || o.state.settings === null) return;
  const args = argumentsOf(o, fact.call, textAt);
  const task = args["task"] === undefined ? SKILL_TASK : asText(args["task"]);
  const label = typeof args["label"] === "string" ? args["label"] : null;
  const text = o.definition(child.definition.hash);
  const schema = outputSchemaOf(args) ?? text.output;
  const tools = o.toolsetFor(o.state, child, text, schema);
  const parent = o.state.agents.get(fact.parent)?.id ?? "";
  const context = contextNew(promptOfChild(text, { child, parent, run, label, schema }), tools, child.definition.model);
  const files = Array.isArray(args["files"]) ? args["files"].map((file: Json) => asText(file)) : [];
  const background = typeof args["context"] === "string" ? args["context"] : null;
  contextAppend(context, { role: "user", text: taskMessage(task, background, files) });
  o.contexts.agents.set(fact.run, context);
  o.contexts.runs.set(fact.run, {
    id: fact.id,
    agent: fact.agent,
    name: runName(label, task),
    task: taskFacts(task, o.sha256),
    schema,
    reports: 0,
    report: NO_REPORT,
    final: null,
    refused: null,
    outcome: null,
  });
  o.contexts.agents.get(fact.parent)?.started.push(fact.run);
}

/** The display name of a run: its label, else the beginning of its task, on one line. */
function runName(label: string | null, task: string): string {
  const name = label === null ? codePointsPrefix(task.trim(), NAME_LENGTH) : label.trim();
  return name.replaceAll(/[^ !#-\uffff]+/g, " ");
}

export function report(o: Observing, fact: FactOf<"run-reported">, textAt: TextAt): void {
  const texts = o.contexts.runs.get(fact.run);
  if (texts === undefined) return;
  const args = argumentsOf(o, fact.call, textAt);
  texts.reports += 1;
  texts.report = reportTexts(args, texts.schema !== undefined);
  if (fact.final === true) texts.final = texts.report;
  texts.refused = null;
}

export function endRun(o: Observing, fact: FactOf<"run-ended">, textAt: TextAt): void {
  const texts = o.contexts.runs.get(fact.run);
  const run = o.state.runs.get(fact.run);
  const context = o.contexts.agents.get(fact.run);
  contextDrop(o.contexts, fact.run);
  if (texts === undefined) return;
  if (run === undefined) return void o.contexts.runs.delete(fact.run);
  const error = errorOf(fact, texts, context, textAt);
  if (fact.final === true && texts.final !== null) texts.report = texts.final;
  // What a run leaves by other means than a report has no artifacts.
  if (fact.report !== "tool") texts.report = NO_REPORT;
  const own = findingsOf(fact.report, texts.report.text, context?.messages ?? [], context?.before);
  const missed = responseError(fact.status, fact.reason ?? null);
  const found = missed === null ? own : findingsWithError(missed, fact.report, own);
  texts.outcome = {
    status: fact.status,
    reason: fact.reason ?? null,
    error: error === null ? null : errorBounded(error),
    report: fact.report,
    nudged: run.nudged,
    findings: found,
    startedAt: run.startedAt,
    endedAt: run.endedAt ?? 0,
    tokens: run.tokens,
    cost: run.cost,
  };
}

/** Why it did not end well, in words; null where nothing more is known than its reason. */
function errorOf(
  fact: FactOf<"run-ended">,
  { refused }: RunTexts,
  context: AgentContext | undefined,
  textAt: TextAt,
): string | null {
  // The error of a closing call does not undo the success.
  if (fact.status === "ok") return null;
  if (fact.error !== undefined) return asText(textAt(fact.error));
  return (fact.reason === "invalid-output" ? refused : null) ?? timedOut(fact, context);
}

/** A run that timed out while its model failed says what the provider said. */
function timedOut({ status }: FactOf<"run-ended">, context: AgentContext | undefined): string | null {
  if (status !== "timeout" || context === undefined || context.failure === null) return null;
  return timedOutError(context.failure);
}
