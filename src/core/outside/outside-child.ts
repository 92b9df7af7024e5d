/**
 * What follows from what an outside child does: it makes progress, asks, reports and ends. Everything else about its
 * run is as for any child: deadline, limits, delivery.
 *
 * Invariants:
 *  1. Words of the child decide nothing but its report, and whether it says that it has failed.
 *  2. What a session says after its run has ended, or after it was lost, is rejected.
 */

import { warnIfNear } from "../agent/call-model.ts";
import { completeTurn } from "../agent/turns.ts";
import { reportProblem, reportRefused } from "../delegation/send-agent-message.ts";
import { agentWithUser } from "../delegation/send-user-message.ts";
import type { FactOf } from "../event.ts";
import { reportOutcome } from "../reports/outcome.ts";
import { refreshRunState } from "../runs/run-state.ts";
import type { AgentState, OpenEffect, Run, Turn } from "../state.ts";
import type { Deciding, RunEnd } from "../step.ts";
import { CHILD_QUESTION } from "../text/prompts/question-text.ts";
import { type Json, jsonObjectIs } from "../values/json.ts";
import { limitUsedUp, runnerTakes, tellSession } from "./session.ts";

/** Questions of one child that wait for an answer at the same time. More are declined at once. */
const OPEN_QUESTIONS = 20;
const NOT_OPEN = "no such session is open";

interface Session {
  readonly agent: AgentState;
  readonly run: Run;
  readonly turn: Turn;
}

type SessionInput = FactOf<"runner-progressed" | "runner-asked" | "runner-reported" | "runner-ended">;

function sessionOf(d: Deciding, { effect: key, attempt }: SessionInput): Session | null {
  const effect: OpenEffect | undefined = d.state.effects.get(key);
  if (effect?.kind !== "runner" || effect.attempt !== attempt) return null;
  const agent = d.state.agents.get(effect.agent);
  const run = d.state.runs.get(effect.agent);
  return agent === undefined || agent.turn === null || run === undefined ? null : { agent, run, turn: agent.turn };
}

export function runnerProgressed(d: Deciding, input: FactOf<"runner-progressed">): string | null {
  const session = sessionOf(d, input);
  if (session === null) return NOT_OPEN;
  d.accept();
  keepLimits(d, session);
  return null;
}

/** Ends the run if it has used up its iterations, or the tree its budget. */
function keepLimits(d: Deciding, { agent, turn }: Session): void {
  const reason = turn.iterations > agent.maxIterations ? "iteration-limit" : limitUsedUp(d);
  warnIfNear(d);
  if (reason !== null) d.later({ do: "end-run", run: agent.number, end: { status: "error", reason } });
}

export function runnerAsked(d: Deciding, input: FactOf<"runner-asked">): string | null {
  const session = sessionOf(d, input);
  if (session === null) return NOT_OPEN;
  const { agent } = session;
  if (!runnerTakes(agent, "answer")) return "its runner takes no answers";
  const { ask } = input;
  const open = [...d.state.questions.values()].filter((question) => question.agent === agent.number);
  if (open.some((question) => question.ask === ask)) return "it is asked already";
  d.accept();
  if (open.length >= OPEN_QUESTIONS) {
    tellSession(d, agent, { kind: "answer", ask, declined: true });
    return null;
  }
  const to = agentWithUser(d, agent)?.number;
  d.emit({ type: "question-asked", agent: agent.number, n: d.number(), ask, name: CHILD_QUESTION, to });
  refreshRunState(d, agent.number);
  return null;
}

export function runnerReported(d: Deciding, input: FactOf<"runner-reported">): string | null {
  const session = sessionOf(d, input);
  if (session === null) return NOT_OPEN;
  d.accept();
  const problem = takeReport(d, session, input.problem);
  if (problem === undefined) tellSession(d, session.agent, { kind: "report-accepted" });
  else if (runnerTakes(session.agent, "report-refused"))
    tellSession(d, session.agent, { kind: "report-refused", problem: d.text(problem) });
  else d.later({ do: "end-run", run: session.run.number, end: { status: "error", reason: "invalid-output" } });
  return null;
}

/** Records the report of this step, or why it is refused, and returns that. */
function takeReport(d: Deciding, { agent, run }: Session, unfit: string | undefined): string | undefined {
  const [given] = d.texts;
  const args: { readonly [name: string]: Json } = jsonObjectIs(given) ? given : {};
  const problem = reportProblem(d, args, run.typed) ?? unfit;
  if (problem !== undefined) {
    reportRefused(d, run, problem);
    return problem;
  }
  d.emit({ type: "run-reported", run: run.number });
  const parent = d.state.agents.get(run.parent);
  const posted = run.mode === "background" && run.announceEach && parent !== undefined;
  if (!posted || parent.inbox.length >= d.settings.limits.inboxMessages) return undefined;
  const size = typeof args["text"] === "string" ? args["text"].length : 0;
  const message = { n: d.number(), from: agent.number, to: parent.number, kind: "system", size } as const;
  d.emit({ type: "message-sent", ...message });
  d.later({ do: "next-turn", agent: parent.number });
  return undefined;
}

export function runnerEnded(d: Deciding, input: FactOf<"runner-ended">): string | null {
  const session = sessionOf(d, input);
  if (session === null) return NOT_OPEN;
  const { agent, run, turn } = session;
  d.accept();
  warnIfNear(d);
  const problem = input.reported === true ? takeReport(d, session, input.problem) : undefined;
  if (input.status === "ok" && problem === undefined) {
    completeTurn(d, agent, turn);
    d.later({ do: "end-run", run: run.number, end: reportOutcome(agent, run) });
  } else {
    d.later({ do: "end-run", run: run.number, end: badEnd(d, input) });
  }
  return null;
}

function badEnd(d: Deciding, { status, code }: FactOf<"runner-ended">): RunEnd {
  const why = d.texts[1];
  const error = typeof why === "string" ? { error: why } : {};
  switch (status) {
    case "ok":
      return { status: "error", reason: "invalid-output" };
    case "lost":
      return { status: "interrupted", reason: "runner-lost", ...error };
    case "failed":
      return { status: "error", reason: code ?? "runner-failed", ...error };
    case "error":
      return { status: "error", reason: "runner-failed", ...error };
  }
}

export function runnerTold(d: Deciding, { effect: key, attempt }: FactOf<"runner-told">): string | null {
  const effect = d.state.effects.get(key);
  if (effect?.kind !== "tell" || effect.attempt !== attempt) return "no such message is under way";
  d.accept();
  return null;
}
