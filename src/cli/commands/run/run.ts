/** `errand run [TASK|-]`. */

import { createErrand } from "../../../runtime/create-runtime.ts";
import type { TreeEvent } from "../../../runtime/errand.ts";
import { printDefinitionNotices } from "../../definitions/definition-notices.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { problemOf } from "../../problem.ts";
import { workOnTrees, type WorkRequest } from "../../running/work-on-trees.ts";
import { givenText, pipedText } from "../../running/task-text.ts";
import { newRoot } from "../../running/new-root.ts";
import { DEMO_TASK } from "../../rehearsal/rehearsal-provider.ts";
import { timeoutOf } from "../../running/timeout.ts";
import { ownStore } from "../../store/own-store.ts";
import { databaseIs } from "../../store/scope.ts";
import { dateLabel } from "../../../view/amounts.ts";
import { logPathOf, storeDone, withBoundedLog } from "./background.ts";
import { detachRun } from "./detach-run.ts";
import { type Answerer, createAnswerer, readTask } from "./handover.ts";

const EXAMPLE = 'errand run "your task"';

export const runCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const timeoutMs = timeoutOf(options.timeout);
  if (options.detached === true) {
    const { task, scope } = readTask(await host.readInput());
    return detached({ ...call, scope }, task, timeoutMs);
  }
  const task = await taskOf(call);
  if (options.detach === true) return detachRun(call, task);
  return workOnTrees(call, await workOf(call, task, timeoutMs, () => undefined));
};

/** The argument, followed by what is piped in; or one of them; or the task of the demonstration. */
async function taskOf(call: CommandCall): Promise<string> {
  const { args, options, host } = call;
  const [given] = args;
  // The user types the task now, or gives none: they should know which model it will cost before it begins.
  if (options.json !== true && (given === undefined || (given === "-" && host.keys !== null))) {
    const { model, because } = (await newRoot(call)).choice;
    host.err(`agents will use ${model} (because ${because})\n`);
  }
  if (given === "-") return givenText(given, "task", EXAMPLE, host);
  const words = given === undefined ? null : await givenText(given, "task", EXAMPLE, host);
  const piped = await pipedText(host);
  if (piped !== "") return words === null ? piped : `${words}\n\n${piped}`;
  if (words === null && options.json !== true) host.err(`no task was given; a demonstration: ${DEMO_TASK}\n`);
  return words ?? DEMO_TASK;
}

async function workOf(
  call: CommandCall,
  task: string,
  timeoutMs: number | null,
  accepted: Answerer["accepted"],
): Promise<WorkRequest> {
  const { scope, host } = call;
  const { agent: root, choice, read, runtimeOptions } = await newRoot(call);
  printDefinitionNotices(read, root, host);
  return {
    ...choice,
    timeoutMs,
    open: (handlers) => ownStore(scope, host, (store) => createErrand({ ...runtimeOptions, store, ...handlers })),
    begin: [
      async (errand, channel) => {
        const { agent } = await errand.start(task, { agent: root, channel });
        accepted(agent.id);
        return { agent, past: 0, begun: rootTurned };
      },
    ],
  };
}

/** The process that `--detach` started. */
async function detached(call: CommandCall, task: string, timeoutMs: number | null): Promise<ExitCode> {
  const { scope } = call;
  const { world } = call.host;
  const host = withBoundedLog(call.host, logPathOf(scope, call.host));
  const answerer = createAnswerer();
  try {
    const work = await workOf({ ...call, host }, task, timeoutMs, (tree) => {
      host.err(`${dateLabel(world.wall())} pid ${process.pid} works on tree ${tree}\n`);
      answerer.accepted(tree);
    });
    // It stays until its store has nothing to do. In a database the workers do the rest.
    const rest = databaseIs(scope) ? {} : { storeDone: (store: string) => storeDone(store, world) };
    return await workOnTrees({ ...call, host }, { ...work, ...rest });
  } catch (thrown) {
    if (answerer.refused(problemOf(thrown))) return EXIT.failed;
    throw thrown;
  }
}

function rootTurned(event: TreeEvent): boolean {
  return event.facts.some((fact) => fact.type === "turn-started" && fact.agent === 0);
}
