/**
 * Posts: messages and requests that come from outside a tree, each taken once under its id, and the answers that wait for their turns.
 *
 * Invariants:
 *  1. The same id with the same content gives the first post's result, whether that is under way, done, or done before a restart.
 *  2. The same id with other content is refused.
 */

import type { Mail, PostRecord, Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import type { Input } from "../../core/event.ts";
import { asPostId, type PostId, type TreeId } from "../../core/ids.ts";
import type { Sha256 } from "../../core/journal.ts";
import type { Json } from "../../core/json.ts";
import { headRead } from "../../core/row.ts";
import { ErrandError } from "../../errors.ts";
import type { Committed, CommitLoop } from "../steps/commit-loop.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Submission } from "../steps/tree-commit.ts";
import {
  answerPlace,
  type EndingStep,
  endingRow,
  endingStep,
  postsEnded,
  type Reply,
  reportOfRow,
  turnOutcome,
} from "./turn-outcome.ts";

export type PostInput = Extract<Input, { readonly id: PostId }>;

type Posted = Submission & { readonly input: PostInput; readonly post: NonNullable<Submission["post"]> };

export interface Posts {
  /** Resolves when the input is durable, with the reason why it changed nothing, if it did not. `fresh`: its id was made for it just now. */
  post(
    tree: TreeId,
    input: PostInput,
    texts: readonly Json[],
    fresh?: boolean,
  ): Promise<{ readonly late: string | null }>;
  /** Waits for the end of the turn that took the post. */
  reply(tree: TreeId, post: PostId, timeoutMs: number): Promise<Reply>;
  /** Takes mail that other processes have put. */
  takeMail(): Promise<void>;
  /** True if the store had no room for mail that was to be taken: it is still there. */
  mailLeft(): boolean;
  /** Tells whoever waits for a turn that this step ended. */
  tell(committed: Committed): void;
  /** Trees of which somebody waits for a turn's end. */
  watched(): Iterable<TreeId>;
  /** Turns may have ended in steps that were not told: whoever waits is told from the store. */
  recheck(tree: TreeId): Promise<void>;
  /** Whoever still waits is told that this process ends. */
  close(): void;
}

interface PostsParts {
  readonly store: Store;
  readonly world: World;
  readonly loop: CommitLoop;
  readonly sha256: Sha256;
  readonly redactor: Redactor;
  /** True if a turn in memory is at work on the post: then it has not ended. False says nothing. */
  readonly answering: (tree: TreeId, post: PostId) => boolean;
  readonly onFailure: (error: unknown) => void;
}

const MAIL_AT_A_TIME = 500;
/** Failures after which mail that was not taken is tried again. */
const MAIL_WAITS: ReadonlySet<string> = new Set(["store-full", "commit-conflict", "commit-unknown"]);

/** How often it is looked whether the process that runs a tree took its mail; and after how long it may be dead. */
const TAKEN_POLL_MS = 50;
const OWNER_PATIENCE = 40;

/** Another process runs the tree. */
const ELSEWHERE = "elsewhere";
const NOT_OURS: ReadonlySet<string> = new Set(["tree-owned", "tree-unknown", "tree-quarantined"]);

export function createPosts({ store, world, loop, sha256, redactor, answering, onFailure }: PostsParts): Posts {
  const waiting = new Map<string, Set<(step: EndingStep | "closed") => void>>();
  let mailLeft = false;
  const posting = new Map<string, { readonly hash: string; readonly late: Promise<string | null> }>();

  /** Posts under way are known by their id, so that a repetition waits for the first instead of being taken twice. */
  function postOnce(posted: Posted, fresh: boolean): Promise<string | null> {
    const { id, hash } = posted.post;
    const name = `${posted.tree}/${id}`;
    const late = take(posted, fresh).finally(() => posting.delete(name));
    posting.set(name, { hash, late });
    return late;
  }

  async function take(posted: Posted, fresh: boolean): Promise<string | null> {
    const { tree, input, texts, post } = posted;
    const known = fresh ? null : await store.post(tree, post.id);
    if (known !== null) return resultOf(tree, known, post.hash);
    const taken = await submitHere(posted);
    if (taken !== ELSEWHERE) return taken.late;
    return send({ tree, ...post, payload: JSON.stringify({ input, texts }) }, posted);
  }

  async function submitHere(submission: Submission): Promise<{ readonly late: string | null } | typeof ELSEWHERE> {
    try {
      return { late: await loop.submit(submission) };
    } catch (error) {
      if (error instanceof ErrandError && error.code === "tree-owned") return ELSEWHERE;
      throw error;
    }
  }

  async function resultOf(tree: TreeId, known: PostRecord, hash: string): Promise<string | null> {
    if (known.hash !== hash) throw reused(known.id);
    const [row] = await store.rows(tree, known.seq, 1);
    return row === undefined ? null : (headRead(row.head).late ?? null);
  }

  /** Another process runs the tree: it gets the post as mail. Should it die before it took it, this one runs the tree if nobody else does. */
  async function send(mail: Mail, submission: Submission): Promise<string | null> {
    if ((await store.putMail(mail)).status === "id-reused") throw reused(mail.id);
    for (let looks = 1; ; looks += 1) {
      const known = await store.post(mail.tree, mail.id);
      if (known !== null) return resultOf(mail.tree, known, mail.hash);
      await new Promise<void>((resolve) => world.after(TAKEN_POLL_MS, resolve));
      const taken = looks % OWNER_PATIENCE === 0 ? await submitHere(submission) : ELSEWHERE;
      if (taken !== ELSEWHERE) return taken.late;
    }
  }

  /** The answer to a post: a child's report, from the row where it stands, or what the turn ended with. */
  async function outcomeOf(tree: TreeId, step: EndingStep, post: PostId): Promise<Reply> {
    const place = answerPlace(step, post);
    const [row] = place === null ? [] : await store.rows(tree, place.seq, 1);
    const outcome = place !== null && row !== undefined ? reportOfRow(row, place.call) : turnOutcome(step, post);
    if (outcome instanceof ErrandError) throw outcome;
    return outcome;
  }

  return {
    async post(tree, input, given, fresh = false) {
      const texts = redactor.json(given);
      const hash = sha256(JSON.stringify([input, texts]));
      const under = posting.get(`${tree}/${input.id}`);
      if (under === undefined)
        return { late: await postOnce({ tree, input, texts, post: { id: input.id, hash } }, fresh) };
      if (under.hash !== hash) throw reused(input.id);
      return { late: await under.late };
    },
    async reply(tree, post, timeoutMs) {
      const name = `${tree}/${post}`;
      const { promise, resolve } = Promise.withResolvers<EndingStep | "late" | "closed">();
      const told = waiting.get(name) ?? new Set();
      told.add(resolve);
      waiting.set(name, told);
      const cancel = world.after(timeoutMs, () => resolve("late"));
      try {
        const known = answering(tree, post) ? null : await store.post(tree, post);
        if (known !== null && known.endedSeq !== null) {
          const [row] = await store.rows(tree, known.endedSeq, 1);
          if (row !== undefined) return await outcomeOf(tree, endingRow(row, sha256), post);
          throw new ErrandError("store-corrupt", `The row that ended the turn of post ${post} is missing.`);
        }
        const step = await promise;
        if (step === "late") {
          throw new ErrandError("turn-timeout", `No answer within ${timeoutMs / 1_000} s. The turn goes on.`, {
            remedy: "Wait for it again with the same message id.",
          });
        }
        if (step === "closed") {
          throw new ErrandError("store-closed", "Errand was closed before the answer came.", {
            remedy: "Whoever opens the store next goes on with the turn: wait for it there, with the same message id.",
          });
        }
        return await outcomeOf(tree, step, post);
      } finally {
        cancel();
        told.delete(resolve);
        if (told.size === 0) waiting.delete(name);
      }
    },
    mailLeft: () => mailLeft,
    async takeMail() {
      mailLeft = false;
      for (const mail of await store.pendingMail(MAIL_AT_A_TIME)) {
        if (posting.has(`${mail.tree}/${mail.id}`)) continue;
        const { input, texts } = JSON.parse(mail.payload) as { input: PostInput; texts: readonly Json[] };
        const { tree, id, hash } = mail;
        void postOnce({ tree, input, texts, post: { id, hash } }, false).catch((error: unknown) => {
          if (error instanceof ErrandError && MAIL_WAITS.has(error.code)) mailLeft = true;
          // Where a store is shared somebody else may have the tree by now, or may have named one that is not there.
          else if (store.shared !== undefined && error instanceof ErrandError && NOT_OURS.has(error.code)) return;
          else onFailure(error);
        });
      }
    },
    tell({ tree, stepped }) {
      for (const post of postsEnded(stepped.decision.events)) {
        for (const told of waiting.get(`${tree}/${post}`) ?? []) told(endingStep(stepped));
      }
    },
    close() {
      for (const tellers of waiting.values()) for (const told of tellers) told("closed");
    },
    watched: () => [...waiting.keys()].map((name) => name.slice(0, name.indexOf("/")) as TreeId),
    async recheck(tree) {
      for (const [name, tellers] of waiting) {
        if (!name.startsWith(`${tree}/`)) continue;
        const known = await store.post(tree, asPostId(name.slice(tree.length + 1)));
        const [row] = known === null || known.endedSeq === null ? [] : await store.rows(tree, known.endedSeq, 1);
        if (row !== undefined) for (const told of tellers) told(endingRow(row, sha256));
      }
    },
  };
}

function reused(id: PostId): ErrandError {
  return new ErrandError("id-reused", `The id ${id} was used before, with other content.`, {
    remedy: "Use a new id for a new message.",
  });
}
