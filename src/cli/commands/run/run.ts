/**
 * `errand run [TASK|-]`: what its words and options mean. With `--detach` and `--json` one object: `{ type: "detached", tree, pid, store, log }`.
 */

import { createErrand } from "../../../runtime/create-runtime.ts";
import type { TreeEvent } from "../../../runtime/errand.ts";
import { printDefinitionNotices } from "../../definitions/definition-notices.ts";
import { createStarter, type Starter } from "./starting-word.ts";
import { detachRun } from "./detach-run.ts";
import { readHanded } from "./handed.ts";
import { logPathOf, withBoundedLog } from "./bounded-log.ts";
import { nothingLeft } from "./nothing-left.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { problemOf } from "../../problem.ts";
import { workOnTrees, type WorkRequest } from "../../work/work-on-trees.ts";
import { givenText, pipedText } from "../../work/task-text.ts";
import { newRoot } from "../../work/new-root.ts";
import { DEMO_TASK } from "../../rehearsal/rehearsal-provider.ts";
import { timeoutOf } from "../../work/timeout.ts";
import { ownStore } from "../../store/own-store.ts";
import { databaseIs } from "../../store/scope.ts";
import { dateLabel } from "../../../view/amounts.ts";

const EXAMPLE = 'errand run "your task"';

export const runCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const timeoutMs = timeoutOf(options.timeout);
  if (options.detached === true) {
    const { task, scope } = readHanded(await host.readInput());
    return detached({ ...call, scope }, task, timeoutMs);
  }
  const task = await taskOf(call);
  if (options.detach === true) return detachRun(call, task);
  return workOnTrees(call, await workOf(call, task, timeoutMs, () => undefined));
};

/** The task's words, and what was piped in beside them; or that alone; or the demonstration. */
async function taskOf(call: CommandCall): Promise<string> {
  const { args, options, host } = call;
  const [given] = args;
  // Somebody types it, or there is none: the user should know what it costs before it begins.
  if (given === undefined || (given === "-" && host.keys !== null)) await sayModel(call);
  if (given === "-") return givenText(given, "task", EXAMPLE, host);
  const words = given === undefined ? null : await givenText(given, "task", EXAMPLE, host);
  const piped = await pipedText(host);
  if (piped !== "") return words === null ? piped : `${words}\n\n${piped}`;
  if (words === null && options.json !== true) host.err(`no task was given; a demonstration: ${DEMO_TASK}\n`);
  return words ?? DEMO_TASK;
}

async function sayModel(call: CommandCall): Promise<void> {
  if (call.options.json === true) return;
  const { model, because } = (await newRoot(call)).choice;
  call.host.err(`agents will use ${model} (because ${because})\n`);
}

async function workOf(
  call: CommandCall,
  task: string,
  timeoutMs: number | null,
  accepted: Starter["accepted"],
): Promise<WorkRequest> {
  const { scope, host } = call;
  const { agent: root, choice, read, runtimeOptions } = await newRoot(call);
  printDefinitionNotices(read, root, host);
  return {
    ...choice,
    timeoutMs,
    open: (told) => ownStore(scope, host, (store) => createErrand({ ...runtimeOptions, store, ...told })),
    begin: [
      async (errand, channel) => {
        const { agent } = await errand.start(task, { agent: root, channel });
        accepted(agent.id);
        return { agent, past: 0, begun: rootTurned };
      },
    ],
  };
}

/** The process that `--detach` started. Once the task is taken it belongs to nobody but its log. */
async function detached(call: CommandCall, task: string, timeoutMs: number | null): Promise<ExitCode> {
  const { scope } = call;
  const { world } = call.host;
  const host = withBoundedLog(call.host, logPathOf(scope, call.host));
  const starter = createStarter();
  try {
    const work = await workOf({ ...call, host }, task, timeoutMs, (tree) => {
      host.err(`${dateLabel(world.wall())} pid ${process.pid} works on tree ${tree}\n`);
      starter.accepted(tree);
    });
    // What else there is to do in a database is for its workers.
    const alone = databaseIs(scope) ? {} : { storeDone: (store: string) => nothingLeft(store, world) };
    return await workOnTrees({ ...call, host }, { ...work, ...alone });
  } catch (thrown) {
    if (starter.refused(problemOf(thrown))) return EXIT.failed;
    throw thrown;
  }
}

function rootTurned(event: TreeEvent): boolean {
  return event.facts.some((fact) => fact.type === "turn-started" && fact.agent === 0);
}
