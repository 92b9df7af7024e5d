/**
 * One run of a program: its request, its envelopes, and its end.
 *
 * Invariants:
 *  1. `ended` is called once, when no process of the child runs. The first thing that decided the end counts: a result,
 *     a failure, or the end of the program. Everything that the child sends after it is read and dropped.
 *  2. A child that breaks the protocol, sends more than SESSION_BYTES, or is silent for too long is killed at once.
 *  3. After its result the child gets the end of its input and LINGER_MS to end by itself. Then it is asked to end, and
 *     killed after the grace.
 *  4. Nothing throws.
 */

import { join } from "node:path";
import type { RunnerEnd, RunnerEvents, RunnerFailure, RunnerRequest, RunnerSession } from "../contracts/runner.ts";
import type { World } from "../contracts/world.ts";
import { codePointsPrefix } from "../core/text/index.ts";
import { createBoundedOutput } from "../processes/bounded-output.ts";
import type { Enclosure } from "../processes/enclosure.ts";
import { createSavedOutput } from "../processes/saved-output.ts";
import { type ProcessEnd, superviseProcess, type SupervisedProcess } from "../processes/supervise.ts";
import { messageEnvelope, progressOf, questionOf, reportOf, requestEnvelope, resultEnd } from "./envelope-events.ts";
import { ENVELOPE_BYTES } from "./envelope-schemas.ts";
import { envelopeProblemIs, envelopeRead, envelopeSizeProblem, envelopeWrite } from "./envelope.ts";
import type { Envelope } from "./envelope-types.ts";
import { createLineReader } from "./line-reader.ts";
import type { SubprocessSettings } from "./subprocess-settings.ts";

export interface Preparation {
  readonly settings: SubprocessSettings;
  /** An absolute path. */
  readonly program: string;
  readonly folder: string;
  readonly mark: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly enclosure: Enclosure;
}

interface SessionParts {
  readonly request: RunnerRequest;
  readonly events: RunnerEvents;
  readonly world: Pick<World, "after">;
  readonly logs: string | null;
  /** A sentence if the child cannot be started. */
  prepare(): Promise<Preparation | string>;
  /** Called when the child has ended. `left`: some of its processes may run. Resolves when nothing of it is left. */
  clean(prepared: Preparation, left: boolean): Promise<void>;
}

/** The most bytes of all that a child sends. */
const SESSION_BYTES = 64 * 1024 * 1024;
const LINGER_MS = 1_000;
const LOG = { head: 4 * 1024, tail: 12 * 1024 };
const LAST_WORDS = 300;
const QUOTED = 80;

export function startSubprocess(parts: SessionParts): RunnerSession {
  const { request, events, world } = parts;
  const graceMs = request.limits.graceSeconds * 1_000;
  const log = createBoundedOutput(LOG.head, LOG.tail);
  const logName = `${request.run}-${request.attempt}.log`;
  const saved = parts.logs === null ? null : createSavedOutput({ base: parts.logs, folder: ".", name: logName });
  let child: SupervisedProcess | null = null;
  let stopped = false;
  let over = false;
  /** What decided the end. */
  let outcome: RunnerEnd | null = null;
  let received = 0;
  /** What is sent as soon as the child has been started. */
  const waiting: Envelope[] = [requestEnvelope(request)];
  let silence = request.limits.timeoutSeconds + request.limits.graceSeconds;
  const open = new Set<string>();
  let cancelTimer = (): void => {};

  function fail(code: RunnerFailure, error: string): void {
    if (outcome !== null) return;
    outcome = { status: "failed", code, error };
    cancelTimer();
    child?.end(0);
  }

  /** Starts the wait for the next envelope; none while the child waits for an answer. */
  function waitForEnvelope(): void {
    if (outcome !== null) return;
    cancelTimer();
    if (open.size > 0) return;
    const seconds = silence;
    cancelTimer = world.after(seconds * 1_000, () =>
      fail("runner-hung", `the child sent nothing for ${seconds} seconds; let it send \`progress\` while it works`),
    );
  }

  function send(envelope: Envelope): void {
    if (child === null) return void waiting.push(envelope);
    const text = envelopeWrite(envelope);
    const problem = envelopeSizeProblem(envelope.type, text);
    if (problem !== null) fail("envelope-size", problem.message);
    else if (!child.write(`${text}\n`)) fail("runner-hung", "the child does not read its input");
  }

  function take(text: string | null): void {
    if (outcome !== null) return;
    if (text === null) return fail("envelope-json", "the child sent a line that is not UTF-8");
    const envelope = envelopeRead(text);
    if (envelopeProblemIs(envelope))
      return fail(envelope.problem, `the child sent ${quoted(text)}: ${envelope.message}`);
    if (envelope.correlation_id !== request.run) {
      return fail("envelope-json", "`correlation_id` is not the one of the request: the child answers another one");
    }
    switch (envelope.type) {
      case "progress":
        return events.progress(progressOf(envelope));
      case "report":
        return events.report(reportOf(envelope));
      case "question":
        open.add(envelope.id);
        return events.question(questionOf(envelope));
      case "result":
        outcome = resultEnd(envelope);
        cancelTimer();
        child?.closeInput();
        cancelTimer = world.after(LINGER_MS, () => child?.end(graceMs));
        return;
      default:
        return fail("envelope-json", `\`type\` ${envelope.type} is sent to a child, not by it`);
    }
  }

  async function run(): Promise<RunnerEnd> {
    const prepared = await parts.prepare();
    if (typeof prepared === "string") return unavailable(prepared);
    const { settings } = prepared;
    silence = settings.silenceSeconds ?? silence;
    let left = false;
    try {
      if (stopped) return unavailable("it was stopped before it was started");
      const lines = createLineReader(ENVELOPE_BYTES.result, {
        line(text) {
          take(text);
          waitForEnvelope();
        },
        tooLong: () =>
          fail(
            "envelope-size",
            `the child sent a line of more than ${ENVELOPE_BYTES.result} bytes; keep results short`,
          ),
      });
      child = superviseProcess({
        program: prepared.program,
        parameters: settings.parameters,
        folder: prepared.folder,
        environment: prepared.environment,
        enclosure: prepared.enclosure,
        mark: prepared.mark,
        input: true,
        timers: world,
        onOutput(chunk) {
          received += chunk.length;
          if (received > SESSION_BYTES) fail("envelope-size", `the child sent more than ${SESSION_BYTES} bytes`);
          if (outcome === null) lines.add(chunk);
        },
        onErrorOutput(chunk) {
          log.add(chunk);
          saved?.add(chunk);
        },
      });
      waitForEnvelope();
      for (const envelope of waiting.splice(0)) send(envelope);
      if (settings.resumable) events.resumable(request.run);
      const end = await child.ended;
      if (outcome === null) lines.end();
      left = end.left > 0;
      return outcome ?? endOf(end);
    } finally {
      cancelTimer();
      saved?.close();
      await parts.clean(prepared, left);
    }
  }

  /** The end of a child that sent no result. */
  function endOf({ problem, code, signal }: ProcessEnd): RunnerEnd {
    if (problem !== null) return unavailable(`the child could not be started (${problem})`);
    const how = stopped
      ? "was stopped"
      : code === null
        ? `was ended by ${signal ?? "a signal"}`
        : `ended with exit code ${code}`;
    const words = lastWords();
    const kept = parts.logs === null || log.bytes === 0 ? "" : `; its log is ${join(parts.logs, logName)}`;
    const error = `the child ${how} before it gave a result${kept}${words === "" ? "" : `. Its last words: ${words}`}`;
    return { status: "failed", code: "runner-died", error };
  }

  function lastWords(): string {
    const lines = log.text().trimEnd().split("\n");
    return codePointsPrefix((lines.at(-1) ?? "").trim(), LAST_WORDS);
  }

  const ended = run()
    .catch((error: unknown): RunnerEnd => unavailable(error instanceof Error ? error.message : String(error)))
    .then((end) => {
      over = true;
      events.ended(end);
    });

  return {
    tell(message) {
      if (over || outcome !== null) return;
      if (message.type === "answer") open.delete(message.question);
      send(messageEnvelope(request.run, message));
      waitForEnvelope();
    },
    stop() {
      stopped = true;
      child?.end(graceMs);
      return ended;
    },
  };
}

function unavailable(error: string): RunnerEnd {
  return { status: "failed", code: "runner-unavailable", error };
}

function quoted(text: string): string {
  return JSON.stringify(codePointsPrefix(text, QUOTED));
}
