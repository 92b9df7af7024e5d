/** Agents as users of the library hold them: posting, waiting, spawning, history. */

import type { ModelProvider } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import type { HistoryItem } from "../view/history.ts";
import type { Sha256 } from "../core/journal/journal.ts";
import { asPostId, type PostId, type TreeId } from "../core/values/ids.ts";
import type { Json } from "../core/values/json.ts";
import { ErrandError } from "../errors.ts";
import { readHistory } from "./journals/read-history.ts";
import type { PostInput } from "./messages/mail.ts";
import { notTaken, postedMessage, type PostOptions } from "./messages/posted-message.ts";
import type { Attachment } from "./messages/channel-line.ts";
import type { Reply } from "./messages/turn-outcome.ts";
import {
  runEnded,
  runMadeBy,
  runOutcome,
  runRefused,
  runRequest,
  toldRun,
  type SpawnedRun,
  type SpawnOptions,
} from "./runs.ts";
import type { Runtime } from "./runtime.ts";
import type { EventStream } from "./tasks/event-stream.ts";
import type { AskOptions, TaskOptions, TaskResult } from "./tasks/task-options.ts";
import type { Tasks } from "./tasks/tasks.ts";

/** How a message is posted, and how long its answer is waited for. */
export interface AwaitOptions extends PostOptions {
  /** How long to wait for the answer. Default: 600 s. The turn continues after it. */
  readonly timeoutMs?: number;
}

/** An addressable conversation with an inbox. */
export interface Agent {
  readonly id: string;
  /** Resolves when the message is durable. */
  post(text: string, options?: PostOptions): Promise<{ readonly id: string }>;
  /**
   * Posts, and waits for the answer of the turn that takes the message. Rejects when that turn fails, is cancelled or
   * takes too long, or when Errand is closed before it ends: never a failure as an answer. The wait survives a restart:
   * ask again under the same id.
   */
  postAndAwait(text: string, options?: AwaitOptions): Promise<Reply>;
  /**
   * Posts, and waits until the whole tree is idle: children, announcements and relayed messages included.
   * Gives what came of it, and rejects if it did not end well.
   */
  ask(text: string, options?: AskOptions & Pick<TaskOptions, "onEvent">): Promise<TaskResult>;
  /** The same as a stream of events. */
  stream(text: string, options?: AskOptions & { readonly after?: string }): EventStream<TaskResult>;
  /** Resolves once the whole tree is idle. */
  settled(): Promise<void>;
  /** Starts a background run below this agent. */
  spawn<Output = unknown>(options: SpawnOptions<Output>): Promise<SpawnedRun<Output>>;
  /**
   * The messages from and to the user, in order. With `internal`, also what only the model saw: nudges, announcements,
   * system messages.
   */
  history(options?: { readonly internal?: boolean }): Promise<readonly HistoryItem[]>;
  /** Ends the current turn and every run below. */
  cancel(): Promise<void>;
  /** Takes no more messages. Runs below continue, queued runs are cancelled, and all outcomes are kept. */
  close(): Promise<void>;
  /**
   * Releases the channel that was given for this conversation. Messages stay in the outbox until a channel is attached
   * again.
   */
  detach(): void;
}

export const AWAIT_TIMEOUT_MS = 600_000;

interface AgentParts {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly models: ModelProvider;
  readonly sha256: Sha256;
  readonly tasks: Tasks;
}

export function createAgent(
  { runtime, store, models, sha256, tasks }: AgentParts,
  tree: TreeId,
  number: number,
  id: string,
  given: Attachment | null = null,
): Agent {
  /** Held here, so that the channel is kept for as long as the user keeps the agent. */
  let attachment = given;

  async function postInput(input: PostInput, texts: readonly Json[], fresh: boolean): Promise<void> {
    if (attachment !== null) await runtime.reattach(attachment);
    const rejected = await runtime.post(tree, input, texts, fresh);
    if (rejected !== null) throw notTaken(id, rejected);
  }

  function postId(given?: string): PostId {
    return asPostId(given ?? runtime.newId());
  }

  async function post(text: string, options: PostOptions = {}): Promise<{ id: string }> {
    const posted = postId(options.id);
    await postInput(postedMessage(posted, number, text, options), [text], options.id === undefined);
    return { id: posted };
  }

  return {
    id,
    post,
    async postAndAwait(text, options = {}) {
      if (options.silent === true) {
        throw new ErrandError("silent-await", "A silent message causes no turn, so there is no answer to wait for.", {
          remedy: "Post it without waiting, or leave `silent` out.",
        });
      }
      const posted = await post(text, options);
      return runtime.reply(tree, asPostId(posted.id), options.timeoutMs ?? AWAIT_TIMEOUT_MS);
    },
    ask: (text, options = {}) => tasks.ask({ tree, number, post }, text, options),
    stream: (text, options = {}) => tasks.streamOf({ tree, number, post }, text, options),
    settled: () => tasks.settled(tree),
    async spawn({ id: given, ...options }) {
      const asked = postId(given);
      const { input, args } = runRequest(options, { parent: number, asked, models });
      const rejected = await runtime.post(tree, input, [args], given === undefined);
      if (rejected !== null) throw runRefused(rejected);
      const run = await runMadeBy(store, tree, asked);
      const told = await toldRun(store, run);
      return { ...told, outcome: async () => runOutcome(store, await runEnded(runtime, store, run), options.output) };
    },
    async history(options = {}) {
      const items = await readHistory(store, tree, number, sha256);
      return items.filter((item) => options.internal === true || item.from !== "internal");
    },
    cancel: () => postInput({ type: "cancel-asked", id: postId(), run: number === 0 ? null : number }, [], true),
    close: () => postInput({ type: "close-asked", id: postId() }, [], true),
    detach() {
      attachment = null;
      if (number === 0) runtime.detach(tree);
    },
  };
}
