/**
 * Owns what the rehearsal does as the agent that speaks to the user: divide a task among children, and answer from what they found.
 *
 * Invariants:
 *  1. A task is handed out once, in one reply; what follows its results is one line that says what was started.
 *  2. What was asked is found by who started the runs, not by what was said last.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage } from "../../core/values/message.ts";
import { type AnnouncedPart, announcementIs, framedTexts, outsideFrames, readAnnouncement } from "./announcement.ts";
import type { ComposeAnswer } from "./answer.ts";
import { type Move, researchMove } from "./child.ts";
import { callsIn, type MadeCall } from "./evidence.ts";
import { partsOf } from "./parts.ts";
import { readJson } from "./read-json.ts";
import { count, HONESTY } from "./wording.ts";

const START = "start_background_agent";
const AWAIT = "subagent";

export function foregroundMove(request: ModelRequest, compose: ComposeAnswer): Move {
  const move = decide(request, compose);
  return "say" in move && request.system.includes("<say>") ? { say: `<say>${move.say}</say>` } : move;
}

function decide(request: ModelRequest, compose: ComposeAnswer): Move {
  const { messages } = request;
  const tools = new Set(request.tools.map((tool) => tool.name));
  const newest = messages.findLastIndex((message) => message.role === "user");
  const message = messages[newest];
  const text = message?.role === "user" ? message.text : "";
  const since = callsIn(messages).filter((call) => call.position > newest);

  if (announcementIs(text)) return { say: answerFrom(text, messages, compose) };
  const forUser = framedTexts(text, "message_for_user");
  if (forUser.length > 0) return { say: forUser.join("\n\n") };
  const task = outsideFrames(text, "system_message");
  if (task === "")
    return {
      say: compose(
        null,
        framedTexts(text, "system_message").map((findings) => ({ name: null, findings, trouble: null })),
      ),
    };

  const delegating = tools.has(START) ? START : tools.has(AWAIT) ? AWAIT : null;
  if (delegating === null) return aloneMove(task, messages.slice(newest), tools, compose);
  const started = since.filter((call) => call.name === delegating);
  if (started.length > 0)
    return { say: delegating === START ? startedLine(started) : compose(task, started.map(awaitedPart)) };
  const parts = partsOf(task);
  if (parts.length === 0)
    return { say: `Ask me something about the files of this folder, and I will have it looked up. ${HONESTY}` };
  return {
    act: parts.map(({ label, task: input }) => ({
      name: delegating,
      input: delegating === START ? { task: input, label } : { task: input },
    })),
  };
}

/** Without children: look by itself, where there are tools for it. */
function aloneMove(
  task: string,
  messages: readonly ContextMessage[],
  tools: ReadonlySet<string>,
  compose: ComposeAnswer,
): Move {
  const parts = partsOf(task);
  if (parts.length === 0 || !tools.has("list_files")) {
    return { say: `I cannot do more than look up words in files, and there is nothing to look up here. ${HONESTY}` };
  }
  const move = researchMove(
    parts.map((part) => part.task),
    messages,
    tools,
  );
  return "act" in move ? move : { say: compose(task, [{ name: null, findings: move.say, trouble: null }]) };
}

function answerFrom(announcement: string, messages: readonly ContextMessage[], compose: ComposeAnswer): string {
  const starts = callsIn(messages).filter((call) => call.name === START);
  const parts = readAnnouncement(announcement, starts.map(labelOf));
  const start = starts.findLast((call) => parts.some((part) => part.name === labelOf(call))) ?? starts.at(-1);
  const asked =
    start === undefined ? undefined : messages.slice(0, start.position).findLast((message) => message.role === "user");
  return compose(asked?.role === "user" ? outsideFrames(asked.text, "system_message") : null, parts);
}

function startedLine(started: readonly MadeCall[]): string {
  const answers = started.map((call) => ({
    label: labelOf(call),
    answer: readJson(call.result.text),
    failed: call.result.failed,
  }));
  const accepted = answers.filter(
    ({ answer, failed }) => !failed && !(jsonObjectIs(answer) && answer["status"] === "refused"),
  );
  if (accepted.length === 0) {
    const reason = answers
      .map(({ answer }) => (jsonObjectIs(answer) && typeof answer["error"] === "string" ? answer["error"] : ""))
      .find((error) => error !== "");
    return `I could not have this looked up${reason === undefined ? "" : `: ${reason}`}. ${HONESTY}`;
  }
  const rest = started.length - accepted.length;
  return `I asked ${count(accepted.length, "helper")}: ${accepted.map(({ label }) => label).join("; ")}.${rest > 0 ? ` ${count(rest, "part")} could not be started.` : ""}`;
}

/** The payload of an awaited child (F2). */
function awaitedPart(call: MadeCall): AnnouncedPart {
  const payload = readJson(call.result.text);
  const summary = jsonObjectIs(payload) && typeof payload["summary"] === "string" ? payload["summary"] : "";
  const success = jsonObjectIs(payload) && payload["success"] === true && !call.result.failed;
  return { name: labelOf(call), findings: summary, trouble: success ? null : "it did not work out" };
}

function labelOf(call: MadeCall): string {
  if (!jsonObjectIs(call.input)) return "";
  const { label, task } = call.input;
  if (typeof label === "string") return label;
  return typeof task === "string" ? (partLabel(task) ?? task) : "";
}

/** The label of a part whose task it is, for children that were started without one. */
function partLabel(task: string): string | undefined {
  return /^([^:]+):/.exec(task)?.[1];
}
