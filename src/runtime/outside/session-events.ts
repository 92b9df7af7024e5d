/**
 * What a session of an outside child says, made into inputs of the kernel: parsed, bounded, without secrets, and in the
 * order in which it was said. A user's runner may call its events with anything.
 *
 * Invariants:
 *  1. No event throws, and nothing that was said after the end counts.
 *  2. Progress is recorded at most once in PROGRESS_MS. The newest usage comes with every input.
 *  3. Numbers never become less.
 */

import type { RunnerEnd, RunnerEvents, RunnerMessage } from "../../contracts/runner.ts";
import type { CancelTimer, World } from "../../contracts/world.ts";
import type { Input } from "../../core/event.ts";
import { codePointsPrefix } from "../../core/text/index.ts";
import type { StepKey } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import type { SessionUsage } from "../../core/values/message.ts";
import { membersOf, wholeNumber } from "../../plain-json.ts";
import { cleanLine, cleanText } from "../effects/clean-text.ts";
import { parseEnd, parseQuestion, parseReport, parseUsage, reportSize } from "./parse-session.ts";

const PROGRESS_MS = 2_000;
/** In code points. */
const PROGRESS_LENGTH = 300;
const TOKEN_LENGTH = 4_096;
const MOST_ITERATIONS = 1_000_000;

export interface InputWithTexts {
  readonly input: Input;
  readonly texts: readonly Json[];
}

interface SessionParts {
  readonly key: StepKey;
  readonly attempt: number;
  readonly world: Pick<World, "after">;
  /** Removes secrets of the session. */
  readonly clean: <Value extends Json>(value: Value) => Value;
  /** What is wrong with the data of a report, or null. */
  readonly dataProblem: (data: Json | undefined) => Promise<string | null>;
  readonly submit: (input: InputWithTexts) => void;
  /** Called once with the end, after everything that was said before it was submitted. */
  readonly onEnd: (input: InputWithTexts) => void;
  /** Answers at once what the kernel is not asked. */
  readonly tell: (message: RunnerMessage) => void;
}

export interface SessionEvents {
  readonly events: RunnerEvents;
  /** Ends the session if it has not ended by itself. */
  end(end: RunnerEnd | { readonly status: "lost"; readonly error: string }): void;
}

export function createSessionEvents(parts: SessionParts): SessionEvents {
  const { key: effect, attempt, world, clean, dataProblem, submit } = parts;
  const session = { effect, attempt };
  let over = false;
  let used: SessionUsage | undefined;
  let iterations: number | undefined;
  /** Progress that waits to be recorded; null if there is none. */
  let waiting: { text: string } | null = null;
  let cancelTimer: CancelTimer | null = null;
  let order: Promise<void> = Promise.resolve();

  /** In order: checking data takes time. */
  function queue(work: () => void | Promise<void>): void {
    order = order.then(work);
  }

  function learn(given: unknown): void {
    const usage = parseUsage(given);
    if (usage === null) return;
    const cost = Math.max(usage.cost ?? -1, used?.cost ?? -1);
    const most = {
      input: Math.max(usage.input, used?.input ?? 0),
      output: Math.max(usage.output, used?.output ?? 0),
    };
    const cachedInput = usage.cachedInput ?? used?.cachedInput;
    used = { ...most, ...(cachedInput === undefined ? {} : { cachedInput }), ...(cost < 0 ? {} : { cost }) };
  }

  function progressed(text: string, token?: string): void {
    const resumable = token === undefined ? undefined : (true as const);
    const input = { type: "runner-progressed", ...session, used, iterations, resumable } as const;
    queue(() => submit({ input, texts: token === undefined ? [text] : [text, token] }));
  }

  function flush(): void {
    cancelTimer = null;
    if (waiting === null) return;
    const { text } = waiting;
    waiting = null;
    progressed(text);
    cancelTimer = world.after(PROGRESS_MS, flush);
  }

  async function reported(given: unknown): Promise<{ readonly report: Json; readonly problem: string | undefined }> {
    const { report, problem } = parseReport(given);
    const cleaned = clean(report);
    return { report: cleaned, problem: problem ?? (await dataProblem(cleaned["data"])) ?? undefined };
  }

  function end(given: unknown): void {
    if (over) return;
    over = true;
    cancelTimer?.();
    const { status, code, error, report, usage } = parseEnd(given);
    learn(usage);
    queue(async () => {
      const last = report === undefined ? null : await reported(report);
      const input = {
        type: "runner-ended",
        ...session,
        used,
        status,
        code,
        reported: last === null ? undefined : true,
        size: last === null ? 0 : reportSize(last.report),
        problem: last?.problem,
      } as const;
      parts.onEnd({ input, texts: [last?.report ?? null, clean(cleanText(error))] });
    });
  }

  /** A listener of a user's runner never sees an exception of its own values. */
  const safely =
    (take: (given: unknown) => void) =>
    (given: unknown): void => {
      if (over) return;
      try {
        take(given);
      } catch {
        // A getter or a proxy threw: then nothing was said.
      }
    };

  return {
    end,
    events: {
      progress: safely((given) => {
        const { text, usage, iterations: now } = membersOf(given, ["text", "usage", "iterations"]);
        learn(usage);
        iterations = Math.max(iterations ?? 0, wholeNumber(now, MOST_ITERATIONS) ?? 0) || undefined;
        const line = typeof text === "string" ? clean(codePointsPrefix(cleanLine(text), PROGRESS_LENGTH)) : "";
        waiting = { text: line === "" ? (waiting?.text ?? "") : line };
        if (cancelTimer === null) flush();
      }),
      resumable: safely((token) => {
        if (typeof token !== "string" || token === "" || token.length > TOKEN_LENGTH) return;
        progressed("", token.toWellFormed());
      }),
      question: safely((given) => {
        const question = parseQuestion(given);
        if (question === null) return;
        const { id, asked } = question;
        // Nobody could answer it.
        if (asked === null) return parts.tell({ type: "answer", question: id, text: null });
        queue(() => submit({ input: { type: "runner-asked", ...session, used, ask: id }, texts: [clean(asked)] }));
      }),
      report: safely((given) => {
        queue(async () => {
          const { report, problem } = await reported(given);
          const size = reportSize(report);
          submit({ input: { type: "runner-reported", ...session, used, size, problem }, texts: [report] });
        });
      }),
      ended: safely(end),
    },
  };
}
