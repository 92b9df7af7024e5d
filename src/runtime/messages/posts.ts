/**
 * Posts: messages and requests that come from outside a tree, each taken once under its id, and the answers that wait for their turns.
 *
 * Invariants:
 *  1. The same id with the same content gives the first post's result, whether that is under way, done, or done before a restart.
 *  2. The same id with other content is refused.
 */

import type { Mail, PostRecord, Store } from "../../contracts/store.ts";
import type { World } from "../../contracts/world.ts";
import { asPostId, type PostId, type TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import { headRead } from "../../core/journal/row.ts";
import { ErrandError } from "../../errors.ts";
import type { Committed, CommitLoop } from "../commits/commit-loop.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Submission } from "../commits/tree-commit.ts";
import { mailContent, type PostInput } from "./mail.ts";
import { type EndingStep, endingRow, endingStep, postsEnded, type Reply, turnReply } from "./turn-outcome.ts";

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
  /** True if mail that was there could not be taken yet, such as while the store had no room. */
  mailLeft(): boolean;
  /** Tells whoever waits for a turn that this step ended. */
  tell(committed: Committed): void;
  /** Trees of which somebody waits for a turn's end. */
  watched(): Iterable<TreeId>;
  /** Turns may have ended in steps that were not told: whoever waits is told from the store. */
  recheck(tree: TreeId): Promise<void>;
  /** The tree was quarantined: those who wait for its turns are told. */
  giveUp(tree: TreeId, error: ErrandError): void;
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
  /** True if this process lacks what the tree needs, and looked a short while ago: its mail waits. */
  readonly refused: (tree: TreeId) => boolean;
  readonly onFailure: (error: unknown) => void;
}

const MAIL_AT_A_TIME = 500;
/** Failures after which mail that was not taken is tried again. */
const MAIL_WAITS: ReadonlySet<string> = new Set(["store-full", "store-busy", "commit-conflict", "commit-unknown"]);

/** How often it is looked whether the process that runs a tree took its mail; and after how long it may be dead. */
const TAKEN_POLL_MS = 50;
const OWNER_PATIENCE = 40;

/** How long a worker that has what a tree needs is waited for. */
const PLACE_PATIENCE = 6 * OWNER_PATIENCE;

interface Taken {
  readonly late: string | null;
}
/** Another process runs the tree. */
const ELSEWHERE = "elsewhere";
/** This process lacks what the tree needs; another may have it. */
const UNPLACED = "unplaced";
const NOT_OURS: ReadonlySet<string> = new Set(["tree-owned", "tree-unknown", "tree-quarantined"]);
/** Failures of a tree that do not pass by themselves. */
const STUCK: ReadonlySet<string> = new Set(["tree-unknown", "tree-quarantined"]);

export function createPosts({
  store,
  world,
  loop,
  sha256,
  redactor,
  answering,
  refused,
  onFailure,
}: PostsParts): Posts {
  const waiting = new Map<string, Set<(step: EndingStep | ErrandError | "closed") => void>>();
  let mailLeft = false;
  /** How much mail of the last look cannot be taken now. The next look reads so much more. */
  let mailRefused = 0;
  /** Trees that cannot take their mail until a person has looked at them. */
  const stuckTrees = new Set<TreeId>();
  /** Mail that cannot be read, so that each is reported once. */
  const unreadable = new Set<string>();
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
    if (typeof taken === "object") return taken.late;
    return send({ tree, ...post, payload: JSON.stringify({ input, texts }) }, posted);
  }

  async function submitHere(submission: Submission): Promise<Taken | typeof ELSEWHERE | typeof UNPLACED> {
    try {
      return { late: await loop.submit(submission) };
    } catch (error) {
      if (error instanceof ErrandError && error.code === "tree-owned") return ELSEWHERE;
      if (error instanceof ErrandError && error.code === "tree-unplaced" && (await othersTake())) return UNPLACED;
      throw error;
    }
  }

  /** True if workers share the store, of which one may have what this process lacks. */
  async function othersTake(): Promise<boolean> {
    return (await store.workers?.())?.some((worker) => worker.takes) === true;
  }

  async function unplaced(tree: TreeId): Promise<ErrandError> {
    const reason = (await store.tree(tree))?.unplaced ?? "no worker has taken it";
    return new ErrandError("tree-unplaced", `No worker runs tree ${tree}: ${reason}.`, {
      remedy: "The message is kept. Start a worker that has what the tree needs; it takes the message.",
      details: { tree, reason },
    });
  }

  async function resultOf(tree: TreeId, known: PostRecord, hash: string): Promise<string | null> {
    if (known.hash !== hash) throw reused(known.id);
    const [row] = await store.rows(tree, known.seq, 1);
    return row === undefined ? null : (headRead(row.head).rejected ?? null);
  }

  /** Another process runs the tree: it gets the post as mail. Should it die before it took it, this one runs the tree if nobody else does. */
  async function send(mail: Mail, submission: Submission): Promise<string | null> {
    if ((await store.putMail(mail)).status === "id-reused") throw reused(mail.id);
    for (let looks = 1; ; looks += 1) {
      const known = await store.post(mail.tree, mail.id);
      if (known !== null) return resultOf(mail.tree, known, mail.hash);
      await new Promise<void>((resolve) => world.after(TAKEN_POLL_MS, resolve));
      const taken = looks % OWNER_PATIENCE === 0 ? await submitHere(submission) : ELSEWHERE;
      if (typeof taken === "object") return taken.late;
      if (taken === UNPLACED && looks >= PLACE_PATIENCE) throw await unplaced(mail.tree);
    }
  }

  async function canTake(tree: TreeId): Promise<boolean> {
    const record = await store.tree(tree);
    return record !== null && record.status !== "quarantined";
  }

  /** Null if it cannot be read, which is reported once. */
  function readMail(mail: Mail): ReturnType<typeof mailContent> {
    const name = `${mail.tree}/${mail.id}`;
    if (unreadable.has(name)) return null;
    const content = mailContent(mail);
    if (content !== null) return content;
    unreadable.add(name);
    onFailure(
      new ErrandError("store-corrupt", `The mail ${mail.id} for tree ${mail.tree} cannot be read.`, {
        remedy:
          "Other mail is taken. It was written by another program, or by another version of Errand: send it again.",
        details: { tree: mail.tree },
      }),
    );
    return null;
  }

  return {
    async post(tree, input, given, fresh = false) {
      const texts = redactor.json(given);
      const hash = sha256(JSON.stringify([input, texts]));
      for (;;) {
        const under = posting.get(`${tree}/${input.id}`);
        if (under === undefined)
          return { late: await postOnce({ tree, input, texts, post: { id: input.id, hash } }, fresh) };
        if (under.hash === hash) return { late: await under.late };
        // Other content under the same id: it may be refused itself, so the store decides which of both was first.
        await Promise.allSettled([under.late]);
      }
    },
    async reply(tree, post, timeoutMs) {
      const name = `${tree}/${post}`;
      const { promise, resolve } = Promise.withResolvers<EndingStep | ErrandError | "late" | "closed">();
      const told = waiting.get(name) ?? new Set();
      told.add(resolve);
      waiting.set(name, told);
      const cancel = world.after(timeoutMs, () => resolve("late"));
      try {
        const known = answering(tree, post) ? null : await store.post(tree, post);
        if (known !== null && known.endedSeq !== null) {
          const [row] = await store.rows(tree, known.endedSeq, 1);
          if (row !== undefined) return turnReply(endingRow(row, sha256), post);
          throw new ErrandError("store-corrupt", `The row that ended the turn of post ${post} is missing.`);
        }
        const step = await promise;
        if (step instanceof ErrandError) throw step;
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
        return turnReply(step, post);
      } finally {
        cancel();
        told.delete(resolve);
        if (told.size === 0) waiting.delete(name);
      }
    },
    mailLeft: () => mailLeft,
    async takeMail() {
      mailLeft = loop.paused();
      if (mailLeft) return;
      for (const tree of stuckTrees) if (await canTake(tree)) stuckTrees.delete(tree);
      const most = MAIL_AT_A_TIME + mailRefused;
      const pending = await store.pendingMail(most);
      if (pending.length === most) mailLeft = true;
      mailRefused = 0;
      const questions = new Set<string>();
      for (const mail of pending) {
        const { tree, id, hash } = mail;
        const read = refused(tree) || stuckTrees.has(tree) ? null : readMail(mail);
        if (read === null) {
          mailRefused += 1;
          continue;
        }
        const { input, texts } = read;
        // One answer to a question at a time, in the order of arrival: the sender of the first was told that it counts.
        const question = input.type === "answer-given" ? `${tree}/${input.question}` : null;
        const waits = question !== null && questions.has(question);
        if (waits) mailLeft = true;
        if (question !== null) questions.add(question);
        if (waits || posting.has(`${tree}/${id}`)) continue;
        void postOnce({ tree, input, texts, post: { id, hash } }, false).catch((error: unknown) => {
          const code = error instanceof ErrandError ? error.code : "";
          if (STUCK.has(code)) stuckTrees.add(tree);
          if (MAIL_WAITS.has(code)) mailLeft = true;
          // Where a store is shared somebody else may have the tree by now, or may have named one that is not there.
          else if (store.shared === undefined || !NOT_OURS.has(code)) onFailure(error);
        });
      }
    },
    tell({ tree, stepped }) {
      for (const post of postsEnded(stepped.decision.events)) {
        for (const told of waiting.get(`${tree}/${post}`) ?? []) told(endingStep(stepped));
      }
    },
    giveUp(tree, error) {
      for (const [name, tellers] of waiting) if (name.startsWith(`${tree}/`)) for (const told of tellers) told(error);
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
