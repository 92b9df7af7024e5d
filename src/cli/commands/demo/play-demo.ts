/**
 * The demonstration: one process begins a job and is killed, another one resumes it and ends it, then the journal is
 * checked. The processes are `errand run` and `errand resume`; this one only watches their journal and kills the first.
 */

import type { World } from "../../../contracts/world.ts";
import { pause } from "../../waiting.ts";
import { ErrandError } from "../../../errors.ts";
import { withStore } from "../../store/open-view.ts";
import { foldEvent } from "../../../view/fold-event.ts";
import { createTreeModel, openRuns, type TreeModel } from "../../../view/tree-model.ts";
import type { DemoScreen } from "./demo-screen.ts";
import { createJournalWatch } from "./journal-watch.ts";
import { type DemoProof, proveDemo } from "./prove-demo.ts";
import type { DemoProcess, DemoProcesses, Finished } from "./demo-processes.ts";
import { stepsOf } from "./step.ts";

export interface DemoRequest {
  readonly task: string;
  /** The model of every agent. */
  readonly model: string;
  readonly store: string;
  readonly processes: DemoProcesses;
  readonly screen: DemoScreen;
  readonly world: World;
  /** Aborts when the user leaves. */
  readonly signal: AbortSignal;
}

/** The number of ended children at which the process is killed. */
const ENDED_BEFORE_KILL = 2;
const POLL_MS = 25;
/** How long no process runs, so that people notice it. */
const SILENCE_MS = 1_000;

export async function playDemo(request: DemoRequest): Promise<DemoProof> {
  const { store, processes, screen, world, signal } = request;
  const journal = createJournalWatch(store);
  const model = createTreeModel();
  let lead = Number.NEGATIVE_INFINITY;
  const now = (): number => Math.max(model.at, lead + world.monotonic());

  /** Shows the new rows of the journal. */
  async function showNews(): Promise<void> {
    for (const event of await journal.read()) {
      lead = Math.max(lead, event.at - world.monotonic());
      for (const step of stepsOf(event, foldEvent(model, event), model)) screen.step(step);
      screen.drawTree(model, now);
    }
  }

  /** Watches the journal until the process has ended, or until `enough`, which gives null. */
  async function watch(process: DemoProcess, enough: () => boolean): Promise<Finished | null> {
    let finished: Finished | null = null;
    void process.finished.then((how) => (finished = how));
    for (;;) {
      // Known before the journal is read, so that the last rows of the process are shown.
      const ended: Finished | null = finished;
      await showNews();
      if (enough()) return null;
      if (ended !== null) return ended;
      await pause(world, POLL_MS, signal);
    }
  }

  function start(...given: readonly string[]): DemoProcess {
    const args = [...given, "--store", store];
    const process = processes.start(args);
    screen.step({ type: "process-started", pid: process.pid, args });
    return process;
  }

  try {
    screen.begin();
    const first = start("run", "--model", request.model, request.task);
    const early = await watch(first, () => endedRuns(model) >= ENDED_BEFORE_KILL);
    if (early !== null) throw unexpected("ended before it could be killed", first, early);
    first.kill();
    const killed = await first.finished;
    await showNews();
    if (killed.signal !== "SIGKILL") throw unexpected("ended before it could be killed", first, killed);
    const at = journal.last();
    const counts = { ended: endedRuns(model), open: openRuns(model).length };
    screen.step({ type: "process-killed", row: at.seq, pid: first.pid, ...counts });
    screen.drawTree(model, null);
    await pause(world, SILENCE_MS, signal);

    const second = start("resume");
    screen.drawTree(model, now);
    const ended = await watch(second, () => false);
    if (ended?.code !== 0) throw unexpected("could not finish the job", second, ended);
    const proof = await withStore(store, async (view) => {
      const [tree] = await view.trees({ limit: 1 });
      if (tree === undefined) throw unexpected("left no tree", second, ended);
      return proveDemo(view, tree, at);
    });
    screen.end(ended.out, proof);
    return proof;
  } finally {
    await journal.close();
  }
}

function endedRuns(model: TreeModel): number {
  return [...model.agents.values()].filter(({ run }) => run?.state === "ended").length;
}

function unexpected(what: string, process: DemoProcess, finished: Finished | null): ErrandError {
  const how = finished === null ? "" : finished.signal === null ? `exit code ${finished.code}` : finished.signal;
  const error = finished?.err.trim().split("\n").slice(-2).join(" ") ?? "";
  const message = `Process ${process.pid} ${what} (${how}${error === "" ? "" : `: ${error}`})`;
  return new ErrandError("demo-failed", message, { remedy: "Try it again; errand doctor checks this machine." });
}
