/** How runs enter the contexts: a child's beginning, its reports, and the outcome for its parent. */

import { SKILL_TASK } from "../delegation/spawn-tools.ts";
import { outputSchemaOf } from "../delegation/typed-data.ts";
import { NO_WORDS, taggedFindings } from "../reports/findings.ts";
import { reportFromArguments } from "../reports/report.ts";
import { endTexts, resultFromJson } from "../reports/run-result.ts";
import type { StepContexts } from "../step.ts";
import { codePointsPrefix } from "../text/index.ts";
import { promptOfChild, taskMessage } from "../text/prompts/system-prompts.ts";
import { contextAppend, contextDrop, contextNew } from "./contexts.ts";
import { argumentsOf, asText, type ContextHandlers, type Fold } from "./fold.ts";
import { taskFacts } from "./run-texts.ts";
import { toolsetOf } from "./toolset.ts";

const NAME_LENGTH = 60;

/** The display name of a run: its label, else the beginning of its task, on one line. */
function runName(label: string | null, task: string): string {
  const name = label === null ? codePointsPrefix(task.trim(), NAME_LENGTH) : label.trim();
  return name.replaceAll(/[^ !#-\uffff]+/g, " ");
}

/** What the kernel reads from the contexts when runs and turns end. */
export function endTextsReader({ state, contexts }: Fold): Omit<StepContexts, "observe"> {
  return {
    endTexts(run, end, reported) {
      const { reports = [], final = null, refused = null } = contexts.runs.get(run) ?? {};
      const { messages = [], earlierWords = NO_WORDS, failure = null } = contexts.agents.get(run) ?? {};
      return endTexts({ reports, final, refused, messages, earlierWords, failure }, end, reported);
    },
    reportText(child, final) {
      if (state.agents.get(child)?.definition.reporting === "tag")
        return taggedFindings(contexts.agents.get(child)?.messages ?? []);
      const texts = contexts.runs.get(child);
      const report = final ? texts?.final : texts?.reports.at(-1);
      return report?.text ?? "";
    },
  };
}

export const runContexts = {
  "run-created"(fold, fact, textAt) {
    const { state, contexts } = fold;
    const child = state.agents.get(fact.run);
    const run = state.runs.get(fact.run);
    if (child === undefined || run === undefined || state.settings === null) return;
    const args = argumentsOf(fold, fact.call, textAt);
    const task = args["task"] === undefined ? SKILL_TASK : asText(args["task"]);
    const label = typeof args["label"] === "string" ? args["label"] : null;
    const text = fold.definition(child.definition.hash);
    const schema = outputSchemaOf(args) ?? text.output;
    const outside = child.definition.runner !== undefined;
    const tools = outside ? toolsetOf([], fold.sha256) : fold.toolsetFor(state, child, text, schema);
    const parent = state.agents.get(fact.parent)?.id ?? "";
    const prompt = outside ? text.prompt : promptOfChild(text, { child, parent, run, label, schema });
    const context = contextNew(prompt, tools, child.definition.model);
    const files = Array.isArray(args["files"]) ? args["files"].map(asText) : [];
    const background = typeof args["context"] === "string" ? args["context"] : null;
    contextAppend(context, { role: "user", text: taskMessage(task, background, files) });
    contexts.agents.set(fact.run, context);
    contexts.runs.set(fact.run, {
      id: fact.id,
      agent: fact.agent,
      name: runName(label, task),
      task: taskFacts(task, fold.sha256),
      schema,
      reports: [],
      final: null,
      refused: null,
      outcome: null,
      outside: outside ? { task, context: background ?? "", files, token: null, asked: new Map() } : null,
    });
    const parentContext = contexts.agents.get(fact.parent);
    parentContext?.started.push(fact.run);
    if (fact.call !== null) parentContext?.startedNow.push(fact.run);
  },

  "run-reported"(fold, fact, textAt) {
    const texts = fold.contexts.runs.get(fact.run);
    if (texts === undefined) return;
    const report = reportFromArguments(argumentsOf(fold, fact.call, textAt), texts.schema !== undefined);
    texts.reports.push(report);
    if (fact.final === true) texts.final = report;
    texts.refused = null;
  },

  "run-report-refused"({ contexts }, { run, problem }, textAt) {
    const texts = contexts.runs.get(run);
    if (texts !== undefined) texts.refused = asText(textAt(problem));
  },

  "run-ended"({ state, contexts }, { run: number, status, reason, error, report, result }, textAt) {
    const texts = contexts.runs.get(number);
    const run = state.runs.get(number);
    contextDrop(contexts, number);
    if (texts === undefined) return;
    if (run === undefined) return void contexts.runs.delete(number);
    texts.outcome = {
      status,
      reason: reason ?? null,
      error: error === undefined ? null : asText(textAt(error)),
      report,
      nudged: run.nudged,
      result: resultFromJson(result === undefined ? undefined : textAt(result)),
      startedAt: run.startedAt,
      endedAt: run.endedAt ?? 0,
      tokens: run.tokens,
      cost: run.cost,
    };
  },

  "run-returned"({ contexts }, { run }) {
    contexts.runs.delete(run);
  },

  "run-undeliverable"({ contexts }, { run }) {
    contexts.runs.delete(run);
  },

  "tree-closed"({ contexts }) {
    contextDrop(contexts, 0);
  },
} satisfies ContextHandlers;
