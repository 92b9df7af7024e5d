/** A conversation with one agent: opens the runtime, opens a tree with the first message, and follows it. */

import type { HistoryItem } from "../../../view/history.ts";
import type { ErrandError } from "../../../errors.ts";
import type { Agent } from "../../../runtime/agent.ts";
import { createErrand } from "../../../runtime/create-runtime.ts";
import type { Errand, GivenAnswer } from "../../../runtime/errand.ts";
import type { CommandCall } from "../../command.ts";
import type { Display } from "../../display/display.ts";
import { cancelTree } from "../../running/stops.ts";
import { explainModel } from "../../running/choose-model.ts";
import { createFollowing, type Following } from "../../running/follow-tree.ts";
import { storeName } from "../../../stores/store-url.ts";
import { newPostId } from "../../../runtime/messages/deliver.ts";
import { type Owned, ownFile, ownStore } from "../../store/own-store.ts";
import { noticeLine } from "../../problem.ts";
import type { RuntimeHandlers } from "../../running/work-on-trees.ts";
import type { TreeModel } from "../../../view/tree-model.ts";
import type { ChatTarget } from "./chat-target.ts";

const CLOSE_WITHIN_MS = 3_000;

export interface SessionRequest {
  readonly call: CommandCall;
  readonly target: ChatTarget;
  readonly display: Display;
  readonly onFailure: (error: ErrandError) => void;
  /** Called when every message so far is shown. */
  readonly onShown?: (model: TreeModel) => void;
  /** Called when the tree has taken a message of this session. */
  readonly onTaken?: () => void;
}

export interface Session {
  /** The file or the URL of its store. */
  readonly store: string;
  readonly following: Following;
  /** The conversation before this session, oldest first. */
  readonly past: readonly HistoryItem[];
  /** Resolves when the message is durable. */
  send(text: string): Promise<void>;
  answer(question: string, answer: GivenAnswer): Promise<void>;
  /** Ends the turn and every run. */
  cancel(): Promise<void>;
  cancelRun(run: string): Promise<boolean>;
  close(): Promise<void>;
}

export async function openSession(request: SessionRequest): Promise<Session> {
  const { call, target, display, onFailure, onShown, onTaken } = request;
  const { host } = call;
  const { model, because } = target;
  let agent: Agent | null = null;
  const { path: store, opened: errand } = await open(call, target, {
    onFailure,
    onNotice(notice) {
      const stopped = notice.code === "tree-quarantined" && notice.details["tree"] === agent?.id;
      if (stopped) onFailure(notice);
      else display.notice(noticeLine(notice));
    },
  });
  display.begin({ model, because, store: storeName(store), recovered: errand.recovered });
  const following = createFollowing(host.world, display, () => onShown?.(following.model));
  const posts = new Set<string>();

  function follow(found: Agent, past: number): void {
    agent = found;
    void following
      .follow(errand, {
        tree: found.id,
        past,
        unattended: false,
        // A conversation does not end by itself.
        begun: ({ facts: [input] }) => {
          if (input?.type === "message-posted" && posts.delete(input.id)) onTaken?.();
          return false;
        },
      })
      .catch(onFailure);
  }

  let past: readonly HistoryItem[] = [];
  if (target.tree !== null) {
    const found = await errand.agent(target.tree.id, { channel: following.channel });
    past = await found.history();
    follow(found, target.tree.nextSeq - 1);
  }

  return {
    store,
    following,
    past,
    async send(text) {
      if (agent === null) follow(await errand.openAgent({ agent: target.agent, channel: following.channel }), 0);
      const id = newPostId(host.world);
      posts.add(id);
      await agent?.post(text, { id });
    },
    answer: errand.answer,
    async cancel() {
      if (agent !== null) await cancelTree(agent, following, host);
    },
    cancelRun: (run) => errand.cancel(run),
    close: () => errand.close({ withinMs: CLOSE_WITHIN_MS }),
  };
}

async function open(
  { scope, host }: CommandCall,
  { path, model, runtimeOptions }: ChatTarget,
  handlers: RuntimeHandlers,
): Promise<Owned<Errand>> {
  const openAt = (store: string): Promise<Errand> => createErrand({ ...runtimeOptions, store, ...handlers });
  try {
    return path === null ? await ownStore(scope, host, openAt) : await ownFile(path, openAt);
  } catch (thrown) {
    throw explainModel(thrown, model);
  }
}
