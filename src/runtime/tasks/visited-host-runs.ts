/**
 * Runs of hosts in a store that another process owns: they are read, and what is asked of them goes there as mail.
 *
 * Invariants:
 *  1. No run is started here; the key of a run that is there gives that run.
 *  2. Nothing but mail is written.
 */

import type { ModelProvider } from "../../contracts/model.ts";
import type { World } from "../../contracts/world.ts";
import { ANSWER_UNFIT } from "../../core/questions/questions.ts";
import { asTreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import type { HostAgent, HostRuntime } from "../../host-tools/host-runtime.ts";
import { sha256 } from "../create-runtime.ts";
import { readHistory } from "../journals/read-history.ts";
import { storedRows } from "../journals/stored-rows.ts";
import { answerInput, answerUnfit, questionClosed } from "../messages/answers.ts";
import { deliverAsMail, type MailRequest, newPostId, type Recipient } from "../messages/deliver.ts";
import { mailOf } from "../messages/mail.ts";
import { openQuestions, questionNamed } from "../messages/open-questions.ts";
import { keyExpired, keyReused } from "./beginning.ts";
import type { FeedSource } from "./event-feed.ts";
import { createHostRuns } from "./host-runs.ts";

interface Visit {
  readonly world: World;
  readonly models: ModelProvider;
  /** The definitions that the host's model may name. */
  readonly agents: readonly HostAgent[];
  readonly onFailure: (error: ErrandError) => void;
}

/** How often a run that is followed is looked at. */
const POLL_MS = 200;

export function visitHostRuns(recipient: Recipient, { world, models, agents, onFailure }: Visit): HostRuntime {
  const { store } = recipient;

  async function post(tree: MailRequest["tree"], input: MailRequest["input"], texts: MailRequest["texts"]) {
    return (await deliverAsMail(recipient, { tree, input, texts }, world)).rejected;
  }

  return createHostRuns({
    store,
    models,
    world,
    sha256,
    source: pollingSource(recipient, world),
    agents: () => agents,
    newId: () => newPostId(world),
    post,
    async begin({ tree, first }) {
      if ((await store.tree(tree))?.status === "expired") throw keyExpired();
      const known = first === undefined ? null : await store.post(tree, first.input.id);
      if (first === undefined || known === null)
        throw new ErrandError("run-unknown", "There is no run under this key.");
      if (known.hash !== mailOf(tree, first.input, [first.text], sha256).hash) throw keyReused("for other work");
    },
    questions: (tree) => openQuestions(store, sha256, tree),
    async answer(question, given) {
      const named = questionNamed(question);
      if (named === null) throw questionClosed(question);
      const { input, words } = answerInput(newPostId(world), named.key, given);
      const rejected = await post(named.tree, input, [words]);
      if (rejected === ANSWER_UNFIT) throw answerUnfit(question);
      if (rejected !== null) throw questionClosed(question);
    },
    history: (tree, agent) => readHistory(store, tree, agent, sha256),
    onFailure,
  });
}

/** Rows as they come, read again and again. There is no live text. */
function pollingSource({ store }: Recipient, world: World): FeedSource {
  return {
    async *rows(tree, after, signal) {
      for (let from = after + 1; !signal.aborted;) {
        for await (const row of storedRows(store, asTreeId(tree), Number.MAX_SAFE_INTEGER, from)) {
          yield row;
          from = row.seq + 1;
        }
        await new Promise<void>((resolve) => {
          const done = (): void => {
            cancel();
            signal.removeEventListener("abort", done);
            resolve();
          };
          const cancel = world.after(POLL_MS, done);
          signal.addEventListener("abort", done);
        });
      }
    },
    onText: () => () => undefined,
  };
}
