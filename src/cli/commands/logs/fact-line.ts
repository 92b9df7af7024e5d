/** One fact of a journal in a line for people. Needs the tree as it is after the fact's step, for names. */

import type { Fact } from "../../../core/event.ts";
import { type Json, jsonObjectIs } from "../../../core/values/json.ts";
import { replyPartsOf, replyText } from "../../../core/values/message.ts";
import type { EffectModel, TreeModel } from "../../../view/tree-model.ts";
import { errorWords, terminalLine } from "../../text/terminal-text.ts";
import { fitWidth } from "../../text/display-width.ts";

export interface FactPlace {
  readonly model: TreeModel;
  readonly texts: readonly Json[];
  /** The effect that the step's input answers, if any, as it was before the step. */
  readonly effect: EffectModel | undefined;
}

const PREVIEW = 90;
/** Fields that are only useful for programs. */
const INNER: ReadonlySet<string> = new Set(["type", "n", "text", "size"]);

/** The text after the fact's type; empty if the type is enough. */
export function factText(fact: Fact, place: FactPlace): string {
  return terminalLine(details(fact, place));
}

function details(fact: Fact, { model, texts, effect }: FactPlace): string {
  const name = (agent: number | undefined): string =>
    agent === undefined ? "?" : (model.agents.get(agent)?.name ?? `agent ${agent}`);
  const names = (numbers: readonly number[]): string => numbers.map((number) => `"${name(number)}"`).join(", ");
  const why = (reason: string | undefined): string => (reason === undefined ? "" : `, ${reason}`);
  const words = (error: number | undefined): string => {
    const text = error === undefined ? "" : texts[error];
    return text === "" ? "" : `: ${typeof text === "string" ? errorWords(text) : "(its text is gone)"}`;
  };
  switch (fact.type) {
    case "tree-opened":
      return `${fact.definition} (${fact.kind})`;
    case "tree-forked":
      return `as ${fact.root.name}, from ${fact.origin} at row ${fact.seq}`;
    case "message-posted":
      return `${fact.kind} message to ${name(fact.to)}: ${preview(texts[0])}`;
    case "run-asked":
      return `of ${name(fact.parent)}`;
    case "runner-progressed":
    case "runner-asked":
    case "runner-reported":
      return `${name(effect?.agent)}: ${preview(said(texts))}`;
    case "runner-ended":
      return `${name(effect?.agent)}: ${fact.status}${why(fact.code)}`;
    case "model-replied":
      return `${name(effect?.agent)}: ${replied(texts)}${tokens(fact.usage)}`;
    case "model-failed":
      return `${name(effect?.agent)}: ${fact.code}${words(0)}`;
    case "usage-estimated":
      return `${name(fact.agent)}:${tokens(fact.usage)}`;
    case "usage-learnt":
      return tokens(fact.usage).trim();
    case "tool-finished":
      return `${name(effect?.agent)}: ${fact.failed === true ? "failed: " : ""}${preview(texts[0])}`;
    case "cancel-asked":
      return fact.run === null ? "of everything" : `of "${name(fact.run)}"`;
    case "run-created":
      return `"${name(fact.run)}" (${fact.definition}, ${fact.mode}) for ${name(fact.parent)}: ${fact.id}`;
    case "run-started":
    case "run-reported":
    case "run-report-refused":
      return `"${name(fact.run)}"`;
    case "run-state-changed":
      return `"${name(fact.run)}": ${fact.state}`;
    case "run-ended":
      return `"${name(fact.run)}": ${fact.status}${why(fact.reason)} (report: ${fact.report})${words(fact.error)}`;
    case "tool-called":
      return `${name(fact.agent)}: ${fact.name}`;
    case "question-asked":
      return `${name(fact.agent)}: ${fact.name}`;
    case "answer-given":
      return `${fact.allow ? "yes" : "no"} to ${fact.question}`;
    case "message-sent":
      return `${fact.kind} from ${name(fact.from)} to ${name(fact.to)}`;
    case "announcement-queued":
      return `for ${name(fact.agent)}, of ${names(fact.runs)}`;
    case "nudge-given":
      return `to ${name(fact.agent)} about its ${fact.about}`;
    case "channel-sent":
      return `by ${name(fact.agent)}: ${fact.relay === undefined ? replied(texts) : "a relayed message"}`;
    case "turn-started":
      return fact.announcement === undefined ? name(fact.agent) : `${name(fact.agent)}, about an announcement`;
    case "turn-ended":
      return `${name(fact.agent)}: ${fact.outcome}${why(fact.reason)}${words(fact.error)}`;
    default:
      return others(fact, name);
  }
}

/** The short fields of the remaining facts. */
function others(fact: Fact, name: (agent: number) => string): string {
  return Object.entries(fact)
    .filter(([key, value]) => !INNER.has(key) && (typeof value === "string" || typeof value === "number"))
    .map(([key, value]) => (key === "agent" && typeof value === "number" ? name(value) : `${key} ${String(value)}`))
    .join(", ");
}

function replied(texts: readonly Json[]): string {
  const parts = replyPartsOf(texts[0]);
  const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.name] : []));
  const text = replyText(parts);
  return [text === "" ? "" : preview(text), calls.length === 0 ? "" : `calls ${calls.join(", ")}`]
    .filter((part) => part !== "")
    .join(" · ");
}

/** Words of an outside child: a line, or the text of its question or report. */
function said([first]: readonly Json[]): Json | undefined {
  return first !== undefined && jsonObjectIs(first) ? first["text"] : first;
}

function tokens(usage: { readonly input: number; readonly output: number } | null): string {
  return usage === null ? "" : ` (${usage.input} in, ${usage.output} out)`;
}

function preview(text: Json | undefined): string {
  return typeof text === "string" ? fitWidth(terminalLine(text), PREVIEW) : "(its text is gone)";
}
