/**
 * The rehearsal as the agent that speaks to the user: it divides a task among children and answers from their findings.
 *
 * Invariants:
 *  1. A task is delegated once, in one reply. The reply after it is one line that names the started parts.
 *  2. The question of an answer is the one before the runs were started, not the newest one.
 */

import type { ModelRequest } from "../../contracts/model.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import type { ContextMessage } from "../../core/values/message.ts";
import { type AnnouncedPart, announcementIs, framedTexts, outsideFrames, readAnnouncement } from "./announcement.ts";
import type { ComposeAnswer } from "./answer.ts";
import { type Move, researchMove, toolNames } from "./child.ts";
import { callsIn, type MadeCall } from "./conversation.ts";
import { partsOf } from "./questions.ts";
import { HONESTY, readJson } from "./wording.ts";
import { countLabel } from "../../view/amounts.ts";

const START = "start_background_agent";
const AWAIT = "subagent";

export function foregroundMove(request: ModelRequest, compose: ComposeAnswer): Move {
  const move = moveFor(request, compose);
  return "say" in move && request.system.includes("<say>") ? { say: `<say>${move.say}</say>` } : move;
}

function moveFor(request: ModelRequest, compose: ComposeAnswer): Move {
  const { messages } = request;
  const newest = messages.findLastIndex(({ role }) => role === "user");
  const message = messages[newest];
  const text = message?.role === "user" ? message.text : "";
  if (announcementIs(text)) return { say: answerTo(text, messages, compose) };
  const forUser = framedTexts(text, "message_for_user");
  if (forUser.length > 0) return { say: forUser.join("\n\n") };
  const task = outsideFrames(text, "system_message");
  if (task === "") return { say: compose(null, framedTexts(text, "system_message").map(unnamedPart)) };

  const tools = toolNames(request);
  const delegating = [START, AWAIT].find((name) => tools.has(name));
  if (delegating === undefined) {
    const move = researchMove([task], messages.slice(newest), tools);
    return "act" in move ? move : { say: compose(task, [unnamedPart(move.say)]) };
  }
  const started = callsIn(messages).filter(({ name, position }) => name === delegating && position > newest);
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

function unnamedPart(findings: string): AnnouncedPart {
  return { name: null, findings, trouble: null };
}

function answerTo(announcement: string, messages: readonly ContextMessage[], compose: ComposeAnswer): string {
  const starts = callsIn(messages).filter(({ name }) => name === START);
  const parts = readAnnouncement(announcement, starts.map(labelOf));
  const start = starts.findLast((call) => parts.some(({ name }) => name === labelOf(call))) ?? starts.at(-1);
  const asked = messages.slice(0, start?.position ?? 0).findLast(({ role }) => role === "user");
  return compose(asked?.role === "user" ? outsideFrames(asked.text, "system_message") : null, parts);
}

function startedLine(started: readonly MadeCall[]): string {
  const answers = started.map((call) => {
    const answer = readJson(call.result.text);
    const fields = jsonObjectIs(answer) ? answer : {};
    return { label: labelOf(call), fields, accepted: !call.result.failed && fields["status"] !== "refused" };
  });
  const accepted = answers.filter((answer) => answer.accepted);
  if (accepted.length === 0) {
    const reason = answers.map(({ fields }) => fields["error"]).find((error) => typeof error === "string");
    return `I could not have this looked up${reason === undefined ? "" : `: ${reason}`}. ${HONESTY}`;
  }
  const refused = started.length - accepted.length;
  const rest = refused > 0 ? ` ${countLabel(refused, "part")} could not be started.` : "";
  return `I asked ${countLabel(accepted.length, "helper")}: ${accepted.map(({ label }) => label).join("; ")}.${rest}`;
}

/** From the payload of an awaited child (rule F2). */
function awaitedPart(call: MadeCall): AnnouncedPart {
  const payload = readJson(call.result.text);
  const { summary, success } = jsonObjectIs(payload) ? payload : {};
  const ok = success === true && !call.result.failed;
  const findings = typeof summary === "string" ? summary : "";
  return { name: labelOf(call), findings, trouble: ok ? null : "it did not work out" };
}

/** The label of the run; without one, the beginning of its task. */
function labelOf({ input }: MadeCall): string {
  const { label, task } = jsonObjectIs(input) ? input : {};
  if (typeof label === "string") return label;
  return typeof task === "string" ? (/^([^:]+):/.exec(task)?.[1] ?? task) : "";
}
