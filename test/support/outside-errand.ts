/** An Errand whose agent `outer` is executed by a scripted runner. */

import type { AgentOptions, Errand, Runner } from "../../src/index.ts";
import {
  createScriptedRunner,
  type RunnerScript,
  type ScriptedRunnerOptions,
  type Script,
} from "../../src/testing/index.ts";
import { byContext, say, type ScriptedModels, type ScriptedRunner } from "../../src/testing/index.ts";
import { parentRequests, toolJson } from "./model-requests.ts";
import { delegationCall, type Mode, type TestOptions } from "./run-delegation.ts";
import type { Arguments } from "./scripted-replies.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "./test-errand.ts";

export interface OutsideOptions extends TestOptions {
  readonly runner?: ScriptedRunnerOptions;
  /** More of the definition `outer`. */
  readonly outer?: Partial<AgentOptions>;
}

export interface OutsideErrand {
  readonly errand: Errand;
  readonly models: ScriptedModels;
  readonly runner: ScriptedRunner;
}

export async function openOutside(
  script: RunnerScript,
  parent: Script,
  { runner: how, outer, ...options }: OutsideOptions = {},
): Promise<OutsideErrand> {
  const runner = createScriptedRunner(script, how);
  const { errand, models } = await openTestErrand({ parent }, { ...withRunner(runner, outer), ...options });
  return { errand, models, runner };
}

/** The options of a process that has the runner and the agent `outer`. */
export function withRunner(runner: Runner, outer: Partial<AgentOptions> = {}): TestOptions {
  return {
    runners: [runner],
    agents: {
      orchestrator: { prompt: "You are the parent.", model: "scripted/parent" },
      worker: { prompt: "You are a child.", model: "scripted/child" },
      outer: { prompt: "Be brief.", runner: runner.name, settings: { command: "true" }, ...outer },
    },
  };
}

/** A parent that gives one task to `outer`. */
export function outsideParent(mode: Mode = "awaited", args: Arguments = {}): Script {
  return byContext([
    delegationCall(mode, { agent: "outer", ...args }),
    say("heard"),
    say("told"),
    say("more"),
    say("again"),
  ]);
}

/** What a parent gets from one awaited task for `outer`. */
export async function outsidePayload(script: RunnerScript, args: Arguments = {}, options: OutsideOptions = {}) {
  const opened = await openOutside(script, outsideParent("awaited", args), options);
  const agent = await opened.errand.openAgent();
  await agent.post("go");
  const events = await eventsUntil(opened.errand, agent.id, turnsEnded(1));
  const answer = toolJson(parentRequests(opened.models)[1]);
  return { ...opened, agent, events, answer };
}
