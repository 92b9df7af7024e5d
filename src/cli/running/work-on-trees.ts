/**
 * Works on trees for a command: opens the runtime, begins the work, follows each tree until it is at rest (rule D13:
 * open children are waited for), and closes everything in order, also if something stops it before.
 */

import type { Channel } from "../../contracts/channel.ts";
import { ErrandError } from "../../errors.ts";
import type { Agent } from "../../runtime/agent.ts";
import type { ErrandOptions } from "../../runtime/errand-options.ts";
import type { Errand } from "../../runtime/errand.ts";
import { storeName } from "../../stores/store-url.ts";
import type { Owned } from "../store/own-store.ts";
import type { CommandCall } from "../command.ts";
import type { Display } from "../display/display.ts";
import { createJsonDisplay } from "../display/jsonl.ts";
import { createLiveDisplay } from "../display/live.ts";
import { createAnswerOutput, createPlainDisplay } from "../display/plain.ts";
import { EXIT, type ExitCode, signalExit } from "../exit-code.ts";
import type { Host, Keys } from "../host.ts";
import { noticeLine, problemOf, reportProblem } from "../problem.ts";
import { treeParked } from "../../view/tree-model.ts";
import { type Asker, createAsker } from "./ask-user.ts";
import { explainModel } from "./choose-model.ts";
import { createFollowing, type Following, type FollowTarget } from "./follow-tree.ts";
import { cancelTree, type Stop, watchStops } from "./stops.ts";
import { timeoutError } from "./timeout.ts";
import { DONE, type Ended, outcomeOf, parkedProblem } from "./tree-outcome.ts";

/** A tree to follow. */
export interface Target extends Omit<FollowTarget, "tree" | "unattended"> {
  readonly agent: Agent;
}

/** The runtime's reports to the command. */
export type RuntimeHandlers = Required<Pick<ErrandOptions, "onFailure" | "onNotice">>;

export interface WorkRequest {
  /** The name of the model as the user reads it. */
  readonly model: string;
  /** Why it is this model. */
  readonly because: string;
  readonly timeoutMs: number | null;
  /** Opens the runtime and names its store. */
  open(handlers: RuntimeHandlers): Promise<Owned<Errand>>;
  /**
   * Begins the work of each tree, whose messages to the user go to the channel. Null for a tree that cannot run here.
   */
  readonly begin: readonly ((errand: Errand, channel: Channel) => Promise<Target | null>)[];
  /** Given for work that lasts until the store has nothing to do, not only these trees: resolves then. */
  storeDone?(store: string): Promise<void>;
}

const CLOSE_WITHIN_MS = 3_000;

/** The work of one tree. */
interface TreeWork {
  readonly agent: Agent;
  readonly following: Following;
  readonly host: Host;
  readonly display: Display;
  /** Resolves when the tree is at rest. */
  readonly rest: Promise<void>;
}

/**
 * Throws if the work cannot begin. A later failure is reported, and the exit code is that of the first tree that did
 * not end well.
 */
export async function workOnTrees({ options, host }: CommandCall, request: WorkRequest): Promise<ExitCode> {
  const json = options.json === true;
  const displays = displaysFor(request.begin.length, json, host);
  try {
    const { code, problem } = await endedWork(request, host, displays, json ? null : host.keys);
    if (problem !== null) reportProblem(problem, host, options.debug === true);
    return code;
  } catch (thrown) {
    throw explainModel(thrown, request.model);
  }
}

/** With `keys` the user answers questions at the keyboard. */
async function endedWork(
  request: WorkRequest,
  host: Host,
  displays: readonly Display[],
  keys: Keys | null,
): Promise<Ended> {
  const stops = watchStops(host, request.timeoutMs);
  let errand: Errand | null = null;
  let asker: Asker | null = null;
  try {
    const { model, because, begin } = request;
    const works: TreeWork[] = [];
    const onNotice = (notice: ErrandError): void => {
      // A quarantined tree never comes to rest, so the command that works on it ends.
      const waits =
        notice.code === "tree-quarantined" && works.some(({ agent }) => agent.id === notice.details["tree"]);
      if (waits) stops.onFailure(notice);
      else displays[0]?.notice(noticeLine(notice));
    };
    const { path: store, opened } = await request.open({ onFailure: stops.onFailure, onNotice });
    errand = opened;
    if (keys !== null) {
      asker = createAsker(host, keys, (question, answer) => {
        opened.answer(question, answer).catch((thrown: unknown) => {
          // Another process has answered before, or the run has ended.
          if (thrown instanceof ErrandError && thrown.code === "question-closed") return;
          const failure =
            thrown instanceof ErrandError
              ? thrown
              : new ErrandError("store-failed", "The answer could not be kept.", { cause: thrown });
          stops.onFailure(failure);
        });
      });
    }
    for (const [index, display] of displays.entries()) {
      display.begin({ model, because, store: storeName(store), recovered: index === 0 ? opened.recovered : 0 });
      const following = createFollowing(host.world, asker === null ? display : asking(display, asker));
      const target = await begin[index]?.(opened, following.channel);
      if (target === undefined || target === null) continue;
      const { agent, past, begun } = target;
      // While the process works on other trees, an answer may arrive and this tree may continue.
      const unattended = asker === null && request.storeDone === undefined;
      const rest = following.follow(opened, { tree: agent.id, past, begun, unattended });
      works.push({ agent, following, host, display, rest });
    }
    const stop = await Promise.race([workDone(request, store, works), stops.first]);
    asker?.close();
    const endings = await Promise.all(works.map((work) => endingOf(stop, request, store, work)));
    // The next owner of the store continues a parked tree, so the store is closed before the last line is printed.
    await opened.close({ withinMs: CLOSE_WITHIN_MS });
    for (const [index, { display, following }] of works.entries()) {
      const ending = endings[index] ?? DONE;
      const answer = following.answer();
      if (ending.outcome === "done" && (answer !== null || following.answered())) display.answer(answer);
      display.end({ ...ending, model: following.model, now: following.now() });
    }
    return endings.find((ending) => ending.code !== EXIT.done) ?? DONE;
  } finally {
    asker?.close();
    for (const display of displays) display.close();
    await errand?.close({ withinMs: CLOSE_WITHIN_MS });
    stops.close();
  }
}

function displaysFor(trees: number, json: boolean, host: Host): readonly Display[] {
  const output = createAnswerOutput(host);
  return Array.from({ length: trees }, () => {
    if (json) return createJsonDisplay(host);
    // Only one tree can be drawn. Several are printed as lines.
    if (host.screen !== null && trees === 1) return createLiveDisplay(host, host.screen);
    return createPlainDisplay(host, output, trees > 1);
  });
}

/** Lets the asker see every change of the tree. */
function asking(display: Display, asker: Asker): Display {
  return {
    ...display,
    changed(model, changes, now) {
      display.changed(model, changes, now);
      asker.update(model, display);
    },
  };
}

/** Resolves when each tree is at rest, or waits for answers that no user can give here. */
async function workDone({ storeDone }: WorkRequest, store: string, works: readonly TreeWork[]): Promise<null> {
  await storeDone?.(store);
  // The events of a tree are read a little after the store knows that the tree is at rest.
  const parked = ({ rest, following }: TreeWork): Promise<void> => Promise.race([rest, following.parked()]);
  await Promise.all(works.map((work) => (storeDone === undefined ? work.rest : parked(work))));
  return null;
}

async function endingOf(stop: Stop | null, request: WorkRequest, store: string, work: TreeWork): Promise<Ended> {
  const { agent, following, host, display } = work;
  const { model } = following;
  switch (stop?.type) {
    case undefined:
      if (treeParked(model)) return { code: EXIT.failed, outcome: "parked", problem: parkedProblem(model, store) };
      // Without a turn there is no answer that could have failed: the tree was only taken up.
      return following.answered() ? outcomeOf(model) : DONE;
    case "failure":
      return { code: EXIT.failed, outcome: "failed", problem: problemOf(stop.error) };
    case "timeout": {
      // Before cancelling, which ends the open calls.
      const error = timeoutError(request.timeoutMs ?? 0, model);
      display.notice("out of time, cancelling");
      await cancelTree(agent, following, host);
      return { code: EXIT.limit, outcome: "timeout", problem: problemOf(error) };
    }
    case "signal":
      if (stop.signal === "SIGINT") {
        display.notice("cancelling; Ctrl-C again leaves at once");
        await cancelTree(agent, following, host);
        return { code: EXIT.interrupted, outcome: "interrupted", problem: null };
      }
      // The signal asks the process to end, not the work: open work is parked in the store.
      return { code: signalExit(stop.signal), outcome: "terminated", problem: null };
  }
}
