/**
 * Owns what the rehearsal does as an agent with a task of its own: look with the file tools, report, end.
 *
 * Invariants:
 *  1. Three rounds of looking and one of reporting, which ends the run where a report can be final; else one of ending. At most six
 *     iterations, whatever the tools answer.
 *  2. It calls only tools it has, and no call twice.
 *  3. What it looks for follows from all it was told: its task, and what it was told later.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "../../core/text/prompts/nudges.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage } from "../../core/values/message.ts";
import { unframed } from "./announcement.ts";
import { type Action, callsIn, createEvidence } from "./evidence.ts";
import { createDescribeInquiry } from "./inquiries/describe.ts";
import type { Inquiry } from "./inquiries/inquiry.ts";
import { createMapInquiry } from "./inquiries/map.ts";
import { createReadInquiry } from "./inquiries/read.ts";
import { createSearchInquiry } from "./inquiries/search.ts";
import { createSourceInquiry } from "./inquiries/source.ts";
import { createTestsInquiry } from "./inquiries/tests.ts";
import { type Question, questionsOfChild } from "./parts.ts";
import { HONESTY } from "./wording.ts";

/** What the model does next: say something, or ask tools. */
export type Move = { readonly say: string } | { readonly act: readonly Action[] };

const ROUNDS = 3;
const FINDINGS_LIMIT = 12_000;

/** Only a background agent can speak to the user through another; one that can report and not delegate is taken for one too. */
export function childIs(request: ModelRequest): boolean {
  const tools = new Set(request.tools.map((tool) => tool.name));
  return (
    tools.has("send_user_message") ||
    (tools.has("send_agent_message") && !tools.has("start_background_agent") && !tools.has("subagent"))
  );
}

export function childMove(request: ModelRequest): Move {
  const { messages } = request;
  const tools = new Set(request.tools.map((tool) => tool.name));
  const told = messages.flatMap((message, position) =>
    message.role === "user" ? [{ text: message.text, position }] : [],
  );
  const tasks = told.filter(({ text }) => !text.startsWith(NUDGE_TOOL) && !text.startsWith(NUDGE_TAG));
  const findings = researchMove(
    tasks.map(({ text }) => unframed(text, "system_message")),
    messages,
    tools,
  );
  if ("act" in findings) return findings;

  const sends = callsIn(messages).filter((call) => call.name === "send_agent_message");
  const newest = tasks.at(-1)?.position ?? 0;
  const reported = sends.some((call) => !call.result.failed && call.position > newest);
  if (reported) return { say: "My findings are sent." };
  const byTag = request.system.includes("<response>") || told.some(({ text }) => text.startsWith(NUDGE_TAG));
  if (byTag) return { say: `<response>\n${findings.say}\n</response>` };
  const refused = sends.some((call) => call.position > newest);
  if (tools.has("send_agent_message") && !refused)
    return { act: [{ name: "send_agent_message", input: reportOf(findings.say, request) }] };
  return { say: `${findings.say}\n\n${HONESTY}` };
}

/** A report that ends the run, where the tool takes one. */
function reportOf(text: string, { tools }: ModelRequest): Action["input"] {
  const schema = tools.find(({ name }) => name === "send_agent_message")?.schema;
  const { properties } = jsonObjectIs(schema) ? schema : {};
  return jsonObjectIs(properties) && "final" in properties ? { text, final: true } : { text };
}

/** The next round of looking, or, when there is nothing more to look for, the findings. */
export function researchMove(
  tasks: readonly string[],
  messages: readonly ContextMessage[],
  tools: ReadonlySet<string>,
): Move {
  const questions = tasks.flatMap(questionsOfChild);
  const inquiries = questions.map(inquiryFor);
  const calls = callsIn(messages);
  const evidence = createEvidence(calls);
  const rounds = new Set(calls.filter((call) => call.name !== "send_agent_message").map((call) => call.position)).size;
  if (rounds < ROUNDS * Math.max(1, tasks.length)) {
    const wanted = inquiries
      .flatMap((inquiry) => inquiry.actions(evidence))
      .filter((action) => tools.has(action.name) && !evidence.has(action));
    const act = [...new Map(wanted.map((action) => [JSON.stringify(action), action])).values()];
    if (act.length > 0) return { act };
  }
  const lines = [...new Set(inquiries.flatMap((inquiry) => inquiry.findings(evidence)))];
  if (lines.length > 0) return { say: lines.join("\n").slice(0, FINDINGS_LIMIT).toWellFormed() };
  return { say: tools.has("list_files") ? "- nothing was found" : "- there is no tool here to look into files with" };
}

function inquiryFor(question: Question): Inquiry {
  switch (question.kind) {
    case "describe":
      return createDescribeInquiry();
    case "map":
      return createMapInquiry();
    case "source":
      return createSourceInquiry();
    case "tests":
      return createTestsInquiry();
    case "read":
      return createReadInquiry(question.paths);
    case "search":
      return createSearchInquiry(question.scope, question.words);
  }
}
