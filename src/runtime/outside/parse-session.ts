/** Parses what a runner says, before it is recorded. Nothing throws. */

import type { RunnerFailure } from "../../contracts/runner.ts";
import { argumentsProblem } from "../../core/delegation/arguments.ts";
import { REPORT_SCHEMA } from "../../core/delegation/tools.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { SessionUsage } from "../../core/values/message.ts";
import { membersOf, plainJson, wholeNumber } from "../../plain-json.ts";
import { cleanText } from "../effects/clean-text.ts";

/** More than any session can use: sums of it stay exact. */
const MOST_TOKENS = 1_000_000_000;
const MOST_COST = 1_000_000_000_000;
/** Characters of a report with its artifacts and data. */
const REPORT_SIZE = 4_500_000;
const ID_LENGTH = 256;
const CHOICES = 20;
const CHOICE_LENGTH = 200;
const FAILURES: readonly RunnerFailure[] = [
  "runner-unavailable",
  "envelope-json",
  "envelope-version",
  "envelope-size",
  "runner-died",
  "runner-hung",
];

/** Null if it is not known. */
export function parseUsage(given: unknown): SessionUsage | null {
  const members = membersOf(given, ["input", "output", "cachedInput", "cost"]);
  const input = wholeNumber(members.input, MOST_TOKENS);
  const output = wholeNumber(members.output, MOST_TOKENS);
  if (input === null || output === null) return null;
  const cachedInput = wholeNumber(members.cachedInput, MOST_TOKENS);
  const cost = wholeNumber(members.cost, MOST_COST);
  return { input, output, ...(cachedInput === null ? {} : { cachedInput }), ...(cost === null ? {} : { cost }) };
}

type JsonObject = { readonly [name: string]: Json };

/** A report as arguments of `send_agent_message`, and what is wrong with it. */
export function parseReport(given: unknown): { readonly report: JsonObject; readonly problem?: string } {
  const { text, artifacts, data } = membersOf(given, ["text", "artifacts", "data"]);
  const plain = plainJson({ text, artifacts, data }, { size: REPORT_SIZE });
  if ("problem" in plain) return { report: { text: "" }, problem: `the report cannot be read: ${plain.problem}` };
  const report = jsonObjectIs(plain.json) ? plain.json : {};
  const problem = argumentsProblem(REPORT_SCHEMA, shortened(report));
  return problem === null ? { report } : { report: { text: "" }, problem };
}

/**
 * The report with short texts, for the check of its shape: lengths that a model must keep do not bind a program, whose
 * longer result is cut where the parent reads it. An empty text is a report too, if the result is in its data.
 */
function shortened({ data, text, artifacts, ...others }: JsonObject): JsonObject {
  const short = (value: Json): Json => (typeof value === "string" ? "-" : value);
  const listed = Array.isArray(artifacts)
    ? (artifacts as readonly Json[]).map((one) =>
        jsonObjectIs(one) && one["value"] !== undefined ? { ...one, value: short(one["value"]) } : one,
      )
    : artifacts;
  return {
    ...others,
    ...(text === undefined ? {} : { text: short(text) }),
    ...(listed === undefined ? {} : { artifacts: listed }),
    ...(data === undefined ? {} : { data: null }),
  };
}

export function reportSize(report: Json): number {
  return jsonObjectIs(report) && typeof report["text"] === "string" ? report["text"].length : 0;
}

/** `asked` is null if it is no question that a person could answer. Null if it cannot even be refused. */
export function parseQuestion(given: unknown): { readonly id: string; readonly asked: JsonObject | null } | null {
  const { id, text, choices } = membersOf(given, ["id", "text", "choices"]);
  if (typeof id !== "string" || id === "" || id.length > ID_LENGTH) return null;
  const words = typeof text === "string" ? cleanText(text) : "";
  const plain = plainJson(choices);
  const listed = "json" in plain && Array.isArray(plain.json) ? (plain.json as readonly Json[]) : [];
  const texts = listed.filter((choice) => typeof choice === "string" && choice.trim() !== "") as string[];
  const long = texts.length > CHOICES || texts.some((choice) => choice.length > CHOICE_LENGTH);
  const asked = words === "" || long ? null : { text: words, ...(texts.length === 0 ? {} : { choices: texts }) };
  return { id: id.toWellFormed(), asked };
}

interface ParsedEnd {
  readonly status: "ok" | "error" | "failed" | "lost";
  readonly code?: string;
  readonly error: string;
  readonly report?: unknown;
  readonly usage?: unknown;
}

export function parseEnd(given: unknown): ParsedEnd {
  const { status, code, error, report, usage } = membersOf(given, ["status", "code", "error", "report", "usage"]);
  const words = typeof error === "string" && error.trim() !== "" ? error : "it gave no reason";
  switch (status) {
    case "ok":
      return { status, error: "", report, usage };
    case "error":
      return { status, error: words, report, usage };
    case "lost":
      return { status, error: words, usage };
    case "failed":
      return { status, code: FAILURES.find((known) => known === code) ?? "runner-died", error: words, usage };
    default:
      return { status: "failed", code: "runner-died", error: "its runner did not say how it ended", usage };
  }
}
