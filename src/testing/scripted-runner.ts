/**
 * A runner in memory, which plays a script for each session in place of another program. It keeps the promises of the
 * port: `ended` is called exactly once, and a session that is stopped is over.
 */

import type {
  Runner,
  RunnerEnd,
  RunnerEvents,
  RunnerMessage,
  RunnerRequest,
  RunnerSession,
  RunnerSettings,
} from "../contracts/runner.ts";
import { errorText } from "../errors.ts";

/** A session of a scripted runner, as its script and the test see it. */
export interface ScriptedSession {
  readonly request: RunnerRequest;
  /** The token of the session that it resumes; null for a new one. */
  readonly token: string | null;
  /** Says what the child does. After the end it does nothing. */
  readonly events: RunnerEvents;
  /** What it was told, in order. */
  readonly told: readonly RunnerMessage[];
  /** The next message that this did not return before. */
  next(): Promise<RunnerMessage>;
  /** Aborts when the session is stopped. */
  readonly stopped: AbortSignal;
}

/** If it returns, or throws, before it has called `events.ended`, the child has died. */
export type RunnerScript = (session: ScriptedSession) => void | Promise<void>;

/** Options of a scripted runner. */
export interface ScriptedRunnerOptions extends Partial<Pick<Runner, "name" | "takes" | "check" | "secrets">> {
  /** Default: it cannot resume. */
  readonly resumes?: boolean;
  /** False: a session that is stopped goes on, and may still end with a result. Default: it is over at once. */
  readonly stops?: boolean;
  /** Why no session can be started. */
  readonly unavailable?: (settings: RunnerSettings) => string | null;
  /** Resolves when nothing of an earlier process runs any more. */
  readonly gone?: Runner["gone"];
}

/** A runner whose sessions a script plays. */
export interface ScriptedRunner extends Runner {
  /** All sessions that were started or resumed, in order. */
  readonly sessions: readonly ScriptedSession[];
}

/** Creates a runner for tests: it calls the script for each session. */
export function createScriptedRunner(script: RunnerScript, options: ScriptedRunnerOptions = {}): ScriptedRunner {
  const sessions: ScriptedSession[] = [];

  function open(request: RunnerRequest, token: string | null, given: RunnerEvents): RunnerSession {
    const told: RunnerMessage[] = [];
    const waiting: ((message: RunnerMessage) => void)[] = [];
    const stopping = new AbortController();
    let taken = 0;
    let over = false;

    function ended(end: RunnerEnd): void {
      if (over) return;
      over = true;
      given.ended(end);
    }
    const died = (error: string): void => ended({ status: "failed", code: "runner-died", error });
    const session: ScriptedSession = {
      request,
      token,
      told,
      stopped: stopping.signal,
      events: {
        progress: (progress) => void (over || given.progress(progress)),
        resumable: (newest) => void (over || given.resumable(newest)),
        question: (question) => void (over || given.question(question)),
        report: (report) => void (over || given.report(report)),
        ended,
      },
      next() {
        const message = told[taken];
        taken += 1;
        if (message !== undefined) return Promise.resolve(message);
        return new Promise((resolve) => waiting.push(resolve));
      },
    };
    sessions.push(session);
    void (async () => {
      try {
        // The session is there before its script begins.
        await Promise.resolve();
        await script(session);
        died("the script is over, and gave no result");
      } catch (error) {
        died(`the script failed: ${errorText(error)}`);
      }
    })();
    return {
      tell(message) {
        if (over) return;
        told.push(message);
        waiting.shift()?.(message);
      },
      stop() {
        stopping.abort();
        if (options.stops !== false) died("it was stopped");
        return Promise.resolve();
      },
    };
  }

  const { resumes = false, unavailable = () => null, secrets, gone } = options;
  return {
    sessions,
    name: options.name ?? "scripted",
    takes: options.takes ?? ["answer", "steer", "report-accepted", "report-refused"],
    check: options.check ?? (() => null),
    available: (settings) => Promise.resolve(unavailable(settings)),
    ...(secrets === undefined ? {} : { secrets }),
    start: (request, events) => open(request, null, events),
    ...(resumes
      ? { resume: (request: RunnerRequest, token: string, events: RunnerEvents) => open(request, token, events) }
      : {}),
    gone: gone ?? (() => Promise.resolve()),
  };
}
