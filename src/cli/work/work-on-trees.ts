/**
 * Work on trees from its beginning to an exit code: opens the runtime, begins what there is to do, follows each tree until it is at
 * rest (rule D13: open children are waited for), and closes in order whatever stops it before.
 */

import type { Channel } from "../../contracts/channel.ts";
import { ErrandError } from "../../errors.ts";
import type { Agent } from "../../runtime/agent.ts";
import type { ErrandOptions } from "../../runtime/create-runtime.ts";
import type { Errand } from "../../runtime/errand.ts";
import { storeName } from "../../stores/store-url.ts";
import type { Owned } from "../store/own-store.ts";
import type { Display, Ending } from "../display/display.ts";
import { EXIT } from "../exit-code.ts";
import type { Host, Keys } from "../host.ts";
import { noticeLine, type Problem, problemOf } from "../problem.ts";
import { treeParked } from "../../view/tree-model.ts";
import { type Asker, createAsker } from "./ask-user.ts";
import { cancelPolitely } from "./cancel-politely.ts";
import { createFollowing, type Following, type FollowTarget } from "./follow-tree.ts";
import { parkedProblem } from "./parked-problem.ts";
import { type Stop, watchStops } from "./stops.ts";
import { timeoutError } from "./timeout-error.ts";
import { DONE, type Ended, outcomeOf } from "./tree-outcome.ts";

/** A tree to follow, once it was found or made. */
export interface Target extends Omit<FollowTarget, "tree" | "unattended"> {
  readonly agent: Agent;
}

/** What the runtime tells the command. */
export type Told = Required<Pick<ErrandOptions, "onFailure" | "onNotice">>;

export interface WorkRequest {
  /** How the model is named to people. */
  readonly model: string;
  /** Why it is this model. */
  readonly because: string;
  readonly timeoutMs: number | null;
  /** Opens the runtime, and says on which store. */
  open(told: Told): Promise<Owned<Errand>>;
  /** What to begin, a tree each, or null for one that cannot run here; what the tree says to the user goes to the channel. */
  readonly begin: readonly ((errand: Errand, channel: Channel) => Promise<Target | null>)[];
  /** Resolves when the store has nothing to do: work that ends with it, and not with its own trees, is given it. */
  alsoOver?(store: string): Promise<void>;
}

export interface WorkResult {
  readonly code: Ending["code"];
  readonly problem: Problem | null;
}

/** How long closing may take. */
const CLOSE_WITHIN_MS = 3_000;

/**
 * Throws when the work cannot begin; whatever comes after is in the result: that of the tree that ended worst. `shown` has a display for
 * each tree. With `keys` the user at them answers questions.
 */
export async function workOnTrees(
  request: WorkRequest,
  host: Host,
  shown: readonly Display[],
  keys: Keys | null,
): Promise<WorkResult> {
  const stops = watchStops(host, request.timeoutMs);
  let errand: Errand | null = null;
  let asker: Asker | null = null;
  try {
    const { model, because, begin } = request;
    const works: Work[] = [];
    const onNotice = (notice: ErrandError): void => {
      // A tree that waits for a person never comes to rest: the command that works on it ends.
      const waits =
        notice.code === "tree-quarantined" && works.some(({ agent }) => agent.id === notice.details["tree"]);
      if (waits) stops.onFailure(notice);
      else shown[0]?.notice(noticeLine(notice));
    };
    const { path: store, opened } = await request.open({ onFailure: stops.onFailure, onNotice });
    errand = opened;
    const answering = opened;
    if (keys !== null) {
      asker = createAsker(host, keys, (question, given) => {
        answering.answer(question, given).catch((thrown: unknown) => {
          // Another process, or the end of its run, was quicker: there is nothing left to answer.
          if (!(thrown instanceof ErrandError) || thrown.code !== "question-closed") stops.onFailure(failureOf(thrown));
        });
      });
    }
    for (const [index, display] of shown.entries()) {
      display.begin({ model, because, store: storeName(store), recovered: index === 0 ? opened.recovered : 0 });
      const following = createFollowing(host.world, asker === null ? display : asking(display, asker));
      const target = await begin[index]?.(opened, following.channel);
      if (target === undefined || target === null) continue;
      const { agent, past, begun } = target;
      // While the process stays for other trees, an answer may come and the tree go on.
      const unattended = asker === null && request.alsoOver === undefined;
      const rest = following.follow(opened, { tree: agent.id, past, begun, unattended });
      works.push({ agent, following, host, display, rest });
    }
    const stop = await Promise.race([allOver({ ...request, store }, works), stops.first]);
    asker?.close();
    const ended = await Promise.all(works.map((work) => endedBy(stop, { ...request, store }, work)));
    // A tree that was parked goes on with the next owner of the store, so that it must be let go before the last word.
    await opened.close({ withinMs: CLOSE_WITHIN_MS });
    for (const [index, { display, following }] of works.entries()) {
      const how = ended[index] ?? DONE;
      const answer = following.answer();
      if (how.outcome === "done" && (answer !== null || following.answered())) display.answer(answer);
      display.end({ ...how, model: following.model, now: following.now() });
    }
    return ended.find((how) => how.code !== EXIT.done) ?? DONE;
  } finally {
    asker?.close();
    for (const display of shown) display.close();
    await errand?.close({ withinMs: CLOSE_WITHIN_MS });
    stops.close();
  }
}

/** Resolves when nothing is left to do: each tree is at rest, or waits for answers that nobody here can give. */
async function allOver(
  { alsoOver, store }: WorkRequest & { readonly store: string },
  works: readonly Work[],
): Promise<null> {
  if (alsoOver === undefined) await Promise.all(works.map(({ rest }) => rest));
  else {
    await alsoOver(store);
    // The events of a tree come a little later than the store's word that it is at rest.
    await Promise.all(works.map(({ rest, following }) => Promise.race([rest, following.parked()])));
  }
  return null;
}

/** A tree of which no turn had to end was only taken up: there is no answer that could have failed. */
async function endedBy(
  stop: Stop | null,
  request: WorkRequest & { readonly store: string },
  work: Work,
): Promise<Ended> {
  const { model } = work.following;
  if (stop === null && treeParked(model))
    return { code: EXIT.failed, outcome: "parked", problem: parkedProblem(model, request.store) };
  if (stop === null) return work.following.answered() ? outcomeOf(model) : DONE;
  return stopped(stop, request, work);
}

/** The tree moves on and the asker looks at it. */
function asking(display: Display, asker: Asker): Display {
  return {
    ...display,
    changed(model, changes, now) {
      display.changed(model, changes, now);
      asker.update(model, display);
    },
  };
}

function failureOf(thrown: unknown): ErrandError {
  if (thrown instanceof ErrandError) return thrown;
  return new ErrandError("store-failed", "The answer could not be kept.", { cause: thrown });
}

interface Work {
  readonly agent: Agent;
  readonly following: Following;
  readonly host: Host;
  readonly display: Display;
  /** Resolves when the tree is at rest. */
  readonly rest: Promise<void>;
}

async function stopped(stop: Stop, request: WorkRequest, work: Work): Promise<Ended> {
  switch (stop.type) {
    case "failure":
      return { code: EXIT.failed, outcome: "failed", problem: problemOf(stop.error) };
    case "timeout": {
      // Before cancelling: that ends the calls under way.
      const error = timeoutError(request.timeoutMs ?? 0, work.following.model);
      work.display.notice("out of time, cancelling");
      await cancelPolitely(work);
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
