/**
 * Questions: a call that its agent's permissions leave to the user waits for an answer, in the journal and nowhere else, for as long
 * as that takes.
 *
 * Invariants:
 *  1. A question belongs to one call of a turn under way, or to its next model call, for which all others of the tree wait. It ends with its
 *     answer or with the turn; one about model calls also with the next request.
 *  2. The tool is started in the step that takes the answer in, never before, and only if the rights in force then let it (rule A9).
 */

import { answer, toolError, toolOpens } from "../agent/answer.ts";
import type { Deciding } from "../deciding.ts";
import type { Input } from "../event.ts";
import { agentWithUser } from "../inbox/send-user-message.ts";
import type { ToolCallPart } from "../message.ts";
import { refusedCall } from "../permissions/process-rights.ts";
import type { AgentState } from "../state.ts";

export function ask(d: Deciding, agent: AgentState, part: ToolCallPart): void {
  const to = agentWithUser(d, agent);
  d.emit({
    type: "question-asked",
    agent: agent.number,
    n: d.number(),
    call: part.id,
    name: part.name,
    to: to?.number,
  });
}

export function answerGiven(d: Deciding, input: Extract<Input, { type: "answer-given" }>): string | null {
  const question = d.state.questions.get(input.question);
  if (question === undefined) return "no such question is open";
  const { call: id, name } = question;
  if (id === null) {
    // The calls that wait for it are looked at again, as after every input.
    d.accept();
    return null;
  }
  const agent = d.state.agents.get(question.agent);
  if (agent === undefined) return "no such question is open";
  d.accept();
  if (!input.allow) answer(d, agent, id, toolError(`${name}: ${refusal(d.texts[0])}`));
  else if (input.refused !== undefined) answer(d, agent, id, toolError(refusedCall(name, input.refused)));
  else toolOpens(d, agent, { id, name }, { granted: true, seen: input.seen });
  d.later({ do: "iterate", agent: agent.number });
  return null;
}

function refusal(note: Deciding["texts"][number] | undefined): string {
  const said = typeof note === "string" && note.trim() !== "" ? ` and says: ${note.trim()}` : "; go on without it";
  return `the user does not allow this call${said}`;
}
