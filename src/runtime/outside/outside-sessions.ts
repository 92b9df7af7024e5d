/**
 * Sessions of outside children that this process holds: starts them, passes messages on, and stops them.
 *
 * Invariants:
 *  1. Nothing of an earlier attempt runs any more when a session is resumed, or its run ends as interrupted.
 *  2. What runs is what this process's own definition says, never what a journal says: settings that a store brings are
 *     not used.
 *  3. A session whose effect was aborted is stopped. A result that comes after that is recorded as rejected.
 *  4. Nothing that a user's runner throws reaches the loop.
 */

import type {
  EarlierAttempts,
  Runner,
  RunnerMessage,
  RunnerRequest,
  RunnerSession,
  RunnerSettings,
} from "../../contracts/runner.ts";
import type { World } from "../../contracts/world.ts";
import type { Effect } from "../../core/effect.ts";
import { type ProcessRights, runnerRefusal } from "../../core/permissions/process-rights.ts";
import { codePointsPrefix } from "../../core/text/index.ts";
import type { DefinitionText } from "../../core/values/definition.ts";
import type { StepKey } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { errorText } from "../../errors.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { StandardSchema } from "../definitions/output-schema.ts";
import { createRedactor } from "../redaction/redactor.ts";
import type { SchemaChecker } from "../schemas/schema-checker.ts";
import type { LoadedTree } from "../trees/tree-cache.ts";
import { outsideRequest } from "./outside-request.ts";
import { createSessionEvents, type InputWithTexts, type SessionEvents } from "./session-events.ts";

interface OutsideParts {
  readonly runners: readonly Runner[];
  /** The definitions of this process, by their hashes. */
  readonly definitions: ReadonlyMap<string, DefinitionText>;
  readonly rights: ProcessRights;
  readonly schemas: SchemaChecker;
  readonly outputs: ReadonlyMap<string, StandardSchema>;
  readonly workspace: string;
  readonly world: Pick<World, "after">;
  readonly submit: (submission: Submission) => void;
  readonly onFailure: (error: unknown) => void;
}

type Start = Extract<Effect, { type: "start-runner" }>;
type Tell = Extract<Effect, { type: "tell-runner" }>;

export interface OutsideSessions {
  /** Resolves with the end of the session. */
  run(loaded: LoadedTree, effect: Start, signal: AbortSignal): Promise<Submission>;
  tell(loaded: LoadedTree, effect: Tell): Promise<Submission>;
  /** Resolves when no session of this process is being stopped. */
  stopped(): Promise<void>;
}

const RETRY_MS = 1_000;
const LONGEST_PROBLEM = 1_000;

interface Held {
  /** The session, once it was started; null if it never will be. */
  readonly session: Promise<RunnerSession | null>;
  readonly started: (session: RunnerSession | null) => void;
}

export function createOutsideSessions(parts: OutsideParts): OutsideSessions {
  const { definitions, rights, schemas, outputs, world, submit, onFailure } = parts;
  const runners = new Map(parts.runners.map((runner) => [runner.name, runner]));
  const held = new Map<string, Held>();
  const stopping = new Set<Promise<void>>();
  const nameOf = ({ id }: LoadedTree, key: StepKey): string => `${id}/${key}`;

  /** The runner and its settings here, or why there are none. */
  function runnerOf({ tree }: LoadedTree, { agent }: Start): { runner: Runner; settings: RunnerSettings } | string {
    const definition = tree.state.agents.get(agent)?.definition;
    if (definition?.runner === undefined) return "its definition has no runner any more";
    const refusal = runnerRefusal(rights, definition);
    if (refusal !== null) return refusal.error;
    const runner = runners.get(definition.runner.name);
    const own = definitions.get(definition.hash)?.runner;
    if (runner === undefined || own?.name !== runner.name)
      return `the definition "${definition.name}" is not the one of this process; define it here as it was`;
    return { runner, settings: own.settings };
  }

  async function whyUnavailable(runner: Runner, settings: RunnerSettings): Promise<string | null> {
    try {
      return runner.check(settings) ?? (await runner.available(settings));
    } catch (error) {
      return `the runner "${runner.name}" failed: ${errorText(error)}`;
    }
  }

  /** Waits until nothing of earlier attempts runs. */
  async function waitUntilGone(runner: Runner, earlier: EarlierAttempts, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && earlier.attempts > 0) {
      try {
        return await runner.gone(earlier);
      } catch (error) {
        onFailure(error);
        await new Promise<void>((resolve) => {
          world.after(RETRY_MS, resolve);
        });
      }
    }
  }

  /** A child that cannot be started here again may still run from before. */
  async function lastOneGone({ id, tree }: LoadedTree, { agent, attempt }: Start, signal: AbortSignal): Promise<void> {
    const runner = runners.get(tree.state.agents.get(agent)?.definition.runner?.name ?? "");
    const run = tree.state.runs.get(agent)?.id;
    if (runner !== undefined && run !== undefined)
      await waitUntilGone(runner, { tree: id, run, attempts: attempt - 1, settings: null }, signal);
  }

  function stop(session: RunnerSession): void {
    const over = (async () => {
      try {
        await session.stop();
      } catch (error) {
        onFailure(error);
      }
    })();
    stopping.add(over);
    void over.then(() => stopping.delete(over));
  }

  function dataProblem({ tree }: LoadedTree, agent: number): (data: Json | undefined) => Promise<string | null> {
    const schema = tree.state.runs.get(agent)?.typed === true ? tree.contexts.runs.get(agent)?.schema : undefined;
    const own = outputs.get(tree.state.agents.get(agent)?.definition.hash ?? "");
    return async (data) => {
      if (schema === undefined) return null;
      const problem = await (own === undefined
        ? schemas.dataProblem(schema, data)
        : schemas.standardProblem(own, data));
      return problem === null ? null : codePointsPrefix(problem.toWellFormed(), LONGEST_PROBLEM);
    };
  }

  function secretsOf(runner: Runner, settings: RunnerSettings): readonly string[] {
    const secrets: readonly unknown[] = runner.secrets?.(settings) ?? [];
    return secrets.filter((secret) => typeof secret === "string");
  }

  async function begin(
    runner: Runner,
    request: RunnerRequest,
    token: string | null,
    { events, end }: SessionEvents,
    signal: AbortSignal,
  ): Promise<RunnerSession | null> {
    const fail = (error: string): null => {
      end({ status: "failed", code: "runner-unavailable", error });
      return null;
    };
    const { tree, run, attempt, settings } = request;
    await waitUntilGone(runner, { tree, run, attempts: attempt - 1, settings }, signal);
    if (attempt > 1) {
      if (token === null || runner.resume === undefined) {
        const why = runner.resume === undefined ? "its runner cannot resume" : "it cannot be resumed yet";
        end({ status: "lost", error: `the process that ran it is gone, and ${why}` });
        return null;
      }
    }
    const why = await whyUnavailable(runner, settings);
    if (why !== null) return fail(why);
    if (signal.aborted) return fail("it was stopped before it was started");
    try {
      return attempt > 1 && token !== null && runner.resume !== undefined
        ? runner.resume(request, token, events)
        : runner.start(request, events);
    } catch (error) {
      return fail(`the runner "${runner.name}" failed: ${errorText(error)}`);
    }
  }

  /** The session, kept for messages until it is over. */
  function hold(name: string): Held {
    const { promise: session, resolve: started } = Promise.withResolvers<RunnerSession | null>();
    const made = { session, started };
    held.set(name, made);
    return made;
  }

  async function tellSession(session: RunnerSession | null, runner: string, message: RunnerMessage): Promise<void> {
    try {
      session?.tell(message);
    } catch (error) {
      onFailure(new Error(`the runner "${runner}" did not take a message: ${errorText(error)}`));
    }
  }

  return {
    async run(loaded, effect, signal) {
      const { id: tree } = loaded;
      const name = nameOf(loaded, effect.key);
      const mine = hold(name);
      const over = Promise.withResolvers<InputWithTexts>();
      const found = runnerOf(loaded, effect);
      const problem = typeof found === "string" ? found : null;
      const redactor = createRedactor(typeof found === "string" ? [] : secretsOf(found.runner, found.settings));
      const session = createSessionEvents({
        key: effect.key,
        attempt: effect.attempt,
        world,
        clean: (value) => redactor.json(value),
        dataProblem: dataProblem(loaded, effect.agent),
        submit: (input) => {
          if (!signal.aborted) submit({ tree, ...input });
        },
        onEnd: over.resolve,
        tell: (message) => void mine.session.then((live) => tellSession(live, name, message)),
      });
      const request =
        typeof found === "string" ? null : outsideRequest(loaded, effect, found.settings, parts.workspace);
      if (typeof found === "string" || request === null) {
        mine.started(null);
        const error = problem ?? "its task is gone";
        void lastOneGone(loaded, effect, signal).then(() =>
          session.end({ status: "failed", code: "runner-unavailable", error }),
        );
      } else {
        const token = loaded.tree.contexts.runs.get(effect.agent)?.outside?.token ?? null;
        void begin(found.runner, request, token, session, signal).then((live) => {
          mine.started(live);
          if (live === null) return;
          if (signal.aborted) stop(live);
          else signal.addEventListener("abort", () => stop(live), { once: true });
        });
      }
      const ended = await over.promise;
      if (held.get(name) === mine) held.delete(name);
      return { tree, ...ended };
    },
    async tell(loaded, effect) {
      const told = loaded.tree.contexts.told.get(effect.key);
      const name = nameOf(loaded, effect.session);
      const session = await (held.get(name)?.session ?? null);
      if (told !== undefined) await tellSession(session, name, told.message);
      const { key, attempt } = effect;
      return { tree: loaded.id, input: { type: "runner-told", effect: key, attempt }, texts: [] };
    },
    async stopped() {
      while (stopping.size > 0) await Promise.all(stopping);
    },
  };
}
