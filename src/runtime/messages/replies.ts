/** Callers that wait for the end of the turn that took their post. */

import type { Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { PostId, TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import { ErrandError, errorText, passesByItself } from "../../errors.ts";
import type { Committed } from "../commits/commit-loop.ts";
import type { TreeCache } from "../trees/tree-cache.ts";
import { type EndingStep, endingRow, endingStep, postsEnded, type Reply, turnReply } from "./turn-outcome.ts";

export interface Replies {
  /** Resolves with the answer of the turn that took the post. */
  reply(tree: TreeId, post: PostId, timeoutMs: number): Promise<Reply>;
  /** Resolves the callers whose turn this step ended. */
  resolveEnded(committed: Committed): void;
  /** Rejects all callers that wait for turns of the tree. */
  reject(tree: TreeId, error: ErrandError): void;
  /** Reads from the store whether turns of the tree have ended in steps that were not published here. */
  readMissed(tree: TreeId): Promise<void>;
  /** Reads again what the store could not read for the moment. */
  retryReads(): Promise<void>;
  /** Trees whose turns callers wait for. */
  awaited(): Iterable<TreeId>;
  /** Rejects all callers: this process ends. */
  close(): void;
}

interface RepliesParts {
  readonly store: Store;
  readonly world: World;
  readonly trees: TreeCache;
  readonly sha256: Sha256;
}

type Resolve = (outcome: EndingStep | ErrandError) => void;

export function createReplies({ store, world, trees, sha256 }: RepliesParts): Replies {
  const waiting = new Map<TreeId, Map<PostId, Set<Resolve>>>();
  /** Trees whose missed steps could not be read. */
  const unread = new Set<TreeId>();
  let closed = false;

  function add(tree: TreeId, post: PostId, resolve: Resolve): () => void {
    const posts = waiting.get(tree) ?? new Map<PostId, Set<Resolve>>();
    const callers = posts.get(post) ?? new Set();
    waiting.set(tree, posts.set(post, callers.add(resolve)));
    return () => {
      callers.delete(resolve);
      if (callers.size === 0) posts.delete(post);
      if (posts.size === 0) waiting.delete(tree);
    };
  }

  /** True if the turn in memory took the post: then it has not ended. False says nothing. */
  function inOpenTurn(tree: TreeId, post: PostId): boolean {
    // In a shared store another process may continue the tree.
    if (store.shared !== undefined || closed) return false;
    const agents = [...(trees.get(tree)?.tree.state.agents.values() ?? [])];
    return agents.some(({ turn }) => turn?.posts.includes(post));
  }

  /** The recorded end of the turn; null if it has not ended. */
  async function endOf(tree: TreeId, post: PostId): Promise<EndingStep | ErrandError | null> {
    const known = await store.post(tree, post);
    if (known === null || known.endedSeq === null) return null;
    const [row] = await store.rows(tree, known.endedSeq, 1);
    if (row !== undefined) return endingRow(row, sha256);
    return new ErrandError("store-corrupt", `The row that ended the turn of post ${post} is missing.`);
  }

  /**
   * Loads the tree whose turn the caller waits for, and throws if it cannot continue: it is quarantined, cannot be
   * read, or needs what this process lacks. In a shared store the workers load it (`trees/sharing.ts`).
   */
  async function requireLoaded(tree: TreeId): Promise<void> {
    if (store.shared !== undefined || trees.get(tree) !== undefined) return;
    try {
      await trees.load(tree);
    } catch (error) {
      if (!passesByItself(error)) throw error;
    }
  }

  /** Never rejects: a tree that cannot be read for good costs its own callers. */
  async function readEnds(tree: TreeId): Promise<void> {
    try {
      for (const [post, callers] of waiting.get(tree) ?? []) {
        const end = await endOf(tree, post);
        if (end !== null) for (const resolve of callers) resolve(end);
      }
      unread.delete(tree);
    } catch (error) {
      if (passesByItself(error)) return void unread.add(tree);
      unread.delete(tree);
      resolveAll(waiting.get(tree), unreadable(error));
    }
  }

  function resolveAll(posts: ReadonlyMap<PostId, ReadonlySet<Resolve>> | undefined, error: ErrandError): void {
    for (const callers of posts?.values() ?? []) for (const resolve of callers) resolve(error);
  }

  return {
    async reply(tree, post, timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<EndingStep | ErrandError>();
      const remove = add(tree, post, resolve);
      const cancel = world.after(timeoutMs, () => resolve(turnTimeout(timeoutMs)));
      try {
        const stored = inOpenTurn(tree, post) ? null : await endOf(tree, post);
        if (stored === null) await requireLoaded(tree);
        const end = stored ?? (await promise);
        if (end instanceof ErrandError) throw end;
        return turnReply(end, post);
      } finally {
        cancel();
        remove();
      }
    },
    resolveEnded({ tree, stepped }) {
      for (const post of postsEnded(stepped.decision.events))
        for (const resolve of waiting.get(tree)?.get(post) ?? []) resolve(endingStep(stepped));
    },
    reject: (tree, error) => resolveAll(waiting.get(tree), error),
    readMissed: readEnds,
    async retryReads() {
      for (const tree of unread) await readEnds(tree);
    },
    awaited: () => waiting.keys(),
    close() {
      closed = true;
      for (const posts of waiting.values()) resolveAll(posts, closedBeforeAnswer());
    },
  };
}

function unreadable(cause: unknown): ErrandError {
  if (cause instanceof ErrandError) return cause;
  return new ErrandError("store-corrupt", `The answer cannot be read: ${errorText(cause)}.`, { cause });
}

function turnTimeout(milliseconds: number): ErrandError {
  return new ErrandError("turn-timeout", `No answer within ${milliseconds / 1_000} s. The turn goes on.`, {
    remedy: "Wait for it again with the same message id.",
  });
}

function closedBeforeAnswer(): ErrandError {
  return new ErrandError("store-closed", "Errand was closed before the answer came.", {
    remedy: "The next process that opens the store goes on with the turn. Wait for it there, with the same message id.",
  });
}
