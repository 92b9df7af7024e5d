/**
 * Questions: a call that its agent's permissions leave to the user waits for an answer, in the journal and nowhere else, for as long
 * as that takes.
 *
 * Invariants:
 *  1. A question belongs to one call of a turn under way. It ends with its answer, or with the turn.
 *  2. The tool is started in the step that takes the answer in, never before.
 */

import { answer, toolError, toolOpens } from "../agent/answer.ts";
import type { Deciding } from "../deciding.ts";
import type { Input } from "../event.ts";
import { agentWithUser } from "../inbox/send-user-message.ts";
import type { ToolCallPart } from "../message.ts";
import type { AgentState } from "../state.ts";

export function ask(d: Deciding, agent: AgentState, part: ToolCallPart): void {
  const to = agentWithUser(d, agent);
  d.emit({
    type: "question-asked",
    agent: agent.number,
    n: d.number(),
    call: part.id,
    name: part.name,
    ...(to === null ? {} : { to: to.number }),
  });
}

export function answerGiven(d: Deciding, input: Extract<Input, { type: "answer-given" }>): string | null {
  const question = d.state.questions.get(input.question);
  const agent = question === undefined ? undefined : d.state.agents.get(question.agent);
  if (question === undefined || agent === undefined) return "no such question is open";
  d.accept();
  const { call: id, name } = question;
  if (!input.allow) answer(d, agent, id, toolError(`${name}: ${refusal(d.texts[0])}`));
  else if (agent.definition.tools.some((tool) => tool.name === name)) toolOpens(d, agent, { id, name });
  else answer(d, agent, id, toolError(`${name}: the user allowed it, but the tool is not here any more`));
  d.later({ do: "iterate", agent: agent.number });
  return null;
}

function refusal(note: Deciding["texts"][number] | undefined): string {
  const said = typeof note === "string" && note.trim() !== "" ? ` and says: ${note.trim()}` : "; go on without it";
  return `the user does not allow this call${said}`;
}
