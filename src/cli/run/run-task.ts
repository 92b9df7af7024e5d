/**
 * One task from its text to an exit code: opens the store and an agent, posts the task, follows the tree until it is at rest (rule
 * D13: open children are waited for), and closes in order whatever stops it before.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import { ErrandError } from "../../errors.ts";
import { createErrand } from "../../runtime/create-runtime.ts";
import type { Agent, Errand } from "../../runtime/errand.ts";
import type { Display, Ending } from "../display/display.ts";
import { EXIT } from "../exit-code.ts";
import type { Host } from "../host.ts";
import { type Problem, problemOf } from "../problem.ts";
import { elapsedLabel } from "../text/amounts.ts";
import { treeAtRest, type TreeModel } from "../tree/tree-model.ts";
import { createFollowing, type Following } from "./follow-tree.ts";
import { type Stop, watchStops } from "./stops.ts";

export interface TaskRequest {
  readonly task: string;
  readonly model: string;
  /** A path, or `memory`. */
  readonly store: string;
  readonly timeoutMs: number | null;
  /** Where models come from, beside the offline one. */
  readonly models: readonly ModelProvider[];
}

export interface TaskResult {
  readonly code: Ending["code"];
  readonly problem: Problem | null;
}

const ROOT = "orchestrator";
/** How long a cancelled tree is waited for, and how long closing may take. */
const CANCEL_WITHIN_MS = 5_000;
const CLOSE_WITHIN_MS = 3_000;
/** Runs that were cancelled may be announced to their parent, which begins another turn. */
const CANCELS = 3;
/** Reasons of a failed turn that are limits. */
const LIMITS = /-limit$|^context-overflow$/;

/** Throws when the work cannot begin; whatever comes after is in the result. */
export async function runTask(request: TaskRequest, host: Host, display: Display): Promise<TaskResult> {
  const stops = watchStops(host, request.timeoutMs);
  let errand: Errand | null = null;
  try {
    const { store, model, models } = request;
    errand = await createErrand({ store, model, models, world: host.world, onFailure: stops.onFailure });
    display.begin({ model, store, recovered: errand.recovered });
    const following = createFollowing(host.world, display);
    const agent = await errand.openAgent({ agent: ROOT, channel: following.channel });
    const rest = following.follow(errand, agent.id).then(() => null);
    await agent.post(request.task);
    const stop = await Promise.race([rest, stops.first]);
    const ended =
      stop === null ? outcomeOf(following.model) : await stopped(stop, request, { agent, following, host, display });
    // A tree that was parked goes on with the next owner of the store, so that it must be let go before the last word.
    await errand.close({ withinMs: CLOSE_WITHIN_MS });
    if (ended.outcome === "done") display.answer(following.answer());
    display.end({ ...ended, model: following.model, now: following.now() });
    return ended;
  } finally {
    display.close();
    await errand?.close({ withinMs: CLOSE_WITHIN_MS });
    stops.close();
  }
}

type Ended = Pick<Ending, "code" | "outcome" | "problem">;

/** How it went, when nothing stopped it: by the root's last turn. */
function outcomeOf(model: TreeModel): Ended {
  const root = model.agents.get(0);
  if (root?.outcome === "done") return { code: EXIT.done, outcome: "done", problem: null };
  const reason = root?.reason ?? root?.outcome ?? "unknown";
  const why = root?.error === null || root?.error === undefined ? "" : `: ${root.error}`;
  const problem = problemOf(
    new ErrandError("turn-failed", `The turn ended without an answer (${reason})${why}`, {
      remedy: "The conversation is kept in the store; its runs that ended can be read there.",
      details: { reason },
    }),
  );
  return { code: LIMITS.test(reason) ? EXIT.limit : EXIT.failed, outcome: "failed", problem };
}

interface Work {
  readonly agent: Agent;
  readonly following: Following;
  readonly host: Host;
  readonly display: Display;
}

async function stopped(stop: Stop, request: TaskRequest, work: Work): Promise<Ended> {
  switch (stop.type) {
    case "failure":
      return { code: EXIT.failed, outcome: "failed", problem: problemOf(stop.error) };
    case "timeout": {
      work.display.notice("out of time, cancelling");
      await cancelPolitely(work);
      const message = `The task did not end within ${elapsedLabel(request.timeoutMs ?? 0)}`;
      const error = new ErrandError("turn-timeout", message, { remedy: "Give it more time with --timeout SECONDS." });
      return { code: EXIT.limit, outcome: "timeout", problem: problemOf(error) };
    }
    case "signal":
      if (stop.signal === "SIGINT") {
        work.display.notice("cancelling; Ctrl-C again leaves at once");
        await cancelPolitely(work);
        return { code: EXIT.interrupted, outcome: "interrupted", problem: null };
      }
      // The process is asked to go, not the work to end: what is under way is parked in the store.
      return { code: stop.signal === "SIGHUP" ? EXIT.hangup : EXIT.terminated, outcome: "terminated", problem: null };
  }
}

/** Ends the turn and every run, and waits a moment until that is done. */
async function cancelPolitely({ agent, following, host }: Work): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancelTimer = host.world.after(CANCEL_WITHIN_MS, late.resolve);
  const cancelled = async (): Promise<void> => {
    for (let times = 0; times < CANCELS && !treeAtRest(following.model); times += 1) {
      await agent.cancel();
      // The event is committed now; following sees it in a later turn of the event loop.
      await new Promise<void>((resolve) => host.world.soon(resolve));
    }
  };
  await Promise.race([cancelled(), late.promise]);
  cancelTimer();
}
