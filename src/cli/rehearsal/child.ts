/**
 * The rehearsal as an agent with a task: it looks with the file tools, reports and ends.
 *
 * Invariants:
 *  1. It looks in three rounds, and reports in one, which ends the run if the report can be final. So it needs at most
 *     six iterations, whatever the tools answer.
 *  2. It calls only tools that it has, and makes no call twice.
 *  3. What it looks for follows from its task and from all later messages.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "../../core/text/prompts/nudges.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage } from "../../core/values/message.ts";
import { unframed } from "./announcement.ts";
import { type Action, callsIn, createEvidence, type Evidence, type Inquiry } from "./conversation.ts";
import { describeInquiry } from "./inquiries/describe.ts";
import { mapInquiry } from "./inquiries/map.ts";
import { readInquiry } from "./inquiries/read.ts";
import { searchInquiry } from "./inquiries/search.ts";
import { sourceInquiry } from "./inquiries/source.ts";
import { testsInquiry } from "./inquiries/tests.ts";
import { type Question, questionsOfChild } from "./questions.ts";
import { LIST_ALL, type Listing, listingOf } from "./tool-outputs.ts";
import { HONESTY } from "./wording.ts";

/** What the model does next. */
export type Move = { readonly say: string } | { readonly act: readonly Action[] };

const ROUNDS = 3;
const FINDINGS_LENGTH = 12_000;

/** Only children have `send_user_message`. An agent that can report but not delegate counts as a child, too. */
export function childIs(request: ModelRequest): boolean {
  const tools = toolNames(request);
  return (
    tools.has("send_user_message") ||
    (tools.has("send_agent_message") && !tools.has("start_background_agent") && !tools.has("subagent"))
  );
}

export function childMove(request: ModelRequest): Move {
  const { messages } = request;
  const received = messages.flatMap((message, position) =>
    message.role === "user" ? [{ text: message.text, position }] : [],
  );
  const tasks = received.filter(({ text }) => !text.startsWith(NUDGE_TOOL) && !text.startsWith(NUDGE_TAG));
  const texts = tasks.map(({ text }) => unframed(text, "system_message"));
  const findings = researchMove(texts, messages, toolNames(request));
  if ("act" in findings) return findings;

  const newest = tasks.at(-1)?.position ?? 0;
  const sent = callsIn(messages).filter(({ name, position }) => name === "send_agent_message" && position > newest);
  if (sent.some(({ result }) => !result.failed)) return { say: "My findings are sent." };
  const byTag = request.system.includes("<response>") || received.some(({ text }) => text.startsWith(NUDGE_TAG));
  if (byTag) return { say: `<response>\n${findings.say}\n</response>` };
  const tool = request.tools.find(({ name }) => name === "send_agent_message");
  if (tool === undefined || sent.length > 0) return { say: `${findings.say}\n\n${HONESTY}` };
  const { properties } = jsonObjectIs(tool.schema) ? tool.schema : {};
  const final = jsonObjectIs(properties) && "final" in properties ? { final: true } : {};
  return { act: [{ name: "send_agent_message", input: { text: findings.say, ...final } }] };
}

/** The next calls of file tools; the findings if there is nothing more to look for. */
export function researchMove(
  tasks: readonly string[],
  messages: readonly ContextMessage[],
  tools: ReadonlySet<string>,
): Move {
  if (!tools.has(LIST_ALL.name)) return { say: "- there is no tool here to look into files with" };
  const calls = callsIn(messages).filter(({ name }) => name !== "send_agent_message");
  const evidence = createEvidence(calls);
  if (!evidence.has(LIST_ALL)) return { act: [LIST_ALL] };
  const listing = listingOf(evidence);
  const inquiries =
    listing === null ? [] : tasks.flatMap(questionsOfChild).map((one) => inquiryFor(one, listing, evidence));
  const rounds = new Set(calls.map(({ position }) => position)).size;
  if (rounds < ROUNDS * tasks.length) {
    const wanted = inquiries.flatMap(({ actions }) => actions).filter((action) => tools.has(action.name));
    const act = wanted.filter((action) => !evidence.has(action));
    const different = [...new Map(act.map((action) => [JSON.stringify(action), action])).values()];
    if (different.length > 0) return { act: different };
  }
  const lines = [...new Set(inquiries.flatMap(({ findings }) => findings()))];
  if (lines.length === 0) return { say: "- nothing was found" };
  return { say: lines.join("\n").slice(0, FINDINGS_LENGTH).toWellFormed() };
}

function inquiryFor(question: Question, listing: Listing, evidence: Evidence): Inquiry {
  switch (question.kind) {
    case "describe":
      return describeInquiry(listing, evidence);
    case "map":
      return mapInquiry(listing);
    case "source":
      return sourceInquiry(listing, evidence);
    case "tests":
      return testsInquiry(listing, evidence);
    case "read":
      return readInquiry(question.paths, evidence);
    case "search":
      return searchInquiry(question.scope, question.words, listing, evidence);
  }
}

export function toolNames({ tools }: ModelRequest): ReadonlySet<string> {
  return new Set(tools.map(({ name }) => name));
}
