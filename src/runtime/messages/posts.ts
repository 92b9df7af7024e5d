/**
 * Posts: messages and requests from outside a tree. Each is taken once under its id.
 *
 * Invariants:
 *  1. The same id with the same content gives the first post's result, whether that is running, done, or done before
 *     a restart.
 *  2. The same id with other content is refused.
 */

import type { PostRecord, Store } from "../../contracts/store.ts";
import type { Mail } from "../../contracts/store-messages.ts";
import type { World } from "../../contracts/world.ts";
import type { PostId, TreeId } from "../../core/values/ids.ts";
import type { Sha256 } from "../../core/journal/journal.ts";
import type { Json } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import type { CommitLoop } from "../commits/commit-loop.ts";
import type { Submission } from "../commits/tree-commit.ts";
import type { CheckedRequest, DelegationHook } from "../effects/before-delegation.ts";
import { rejectionAt } from "../journals/stored-rows.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Placement } from "../trees/placement.ts";
import type { TreeCache } from "../trees/tree-cache.ts";
import { mailContent, type PostInput } from "./mail.ts";

type Posted = Submission & { readonly input: PostInput; readonly post: NonNullable<Submission["post"]> };

export interface Posts {
  /**
   * Resolves when the input is durable: with null, or with the reason why the kernel rejected it. `fresh`: its id was
   * created for it just now. `checked`: what is recorded in its place, if `beforeDelegation` was asked already.
   */
  post(
    tree: TreeId,
    input: PostInput,
    texts: readonly Json[],
    fresh?: boolean,
    checked?: CheckedRequest,
  ): Promise<string | null>;
  /** Takes mail that other processes have put. */
  takeMail(): Promise<void>;
  /** True if mail could not be taken yet, such as while the disk is full. */
  mailLeft(): boolean;
}

interface PostsParts {
  readonly store: Store;
  readonly world: World;
  readonly loop: CommitLoop;
  readonly trees: Pick<TreeCache, "load">;
  readonly delegations: DelegationHook;
  readonly placement: Placement;
  readonly sha256: Sha256;
  readonly redactor: Redactor;
  readonly onFailure: (error: unknown) => void;
}

const MAIL_AT_A_TIME = 500;
/** After these failures mail is tried again. */
const MAIL_WAITS: ReadonlySet<string> = new Set(["store-full", "store-busy", "commit-conflict", "commit-unknown"]);
/** In a shared store another process may have the tree by now, or the mail names a tree that does not exist. */
const NOT_OURS: ReadonlySet<string> = new Set(["tree-owned", "tree-unknown", "tree-quarantined"]);
/** After these failures a tree cannot take its mail until a person has looked at it. */
const STUCK: ReadonlySet<string> = new Set(["tree-unknown", "tree-quarantined"]);

const TAKEN_POLL_MS = 50;
/** After this many polls without an answer the worker that runs the tree may be dead. */
const OWNER_POLLS = 40;
/** After this many polls no worker with what the tree needs is waited for. */
const PLACE_POLLS = 6 * OWNER_POLLS;

/**
 * `elsewhere`: another worker runs the tree. `unplaced`: this process lacks what the tree needs; another may have it.
 */
type Submitted = { readonly rejected: string | null } | "elsewhere" | "unplaced";

export function createPosts(parts: PostsParts): Posts {
  const { store, world, loop, trees, delegations, sha256, redactor } = parts;
  let mailLeft = false;
  /** How much mail of the last read cannot be taken now. The next read takes that much more. */
  let mailRefused = 0;
  const stuckTrees = new Set<TreeId>();
  /** Mail that cannot be read, so that each is reported once. */
  const unreadable = new Set<string>();
  /** Running posts, by tree and id: a repetition waits for the first. */
  const posting = new Map<string, { readonly hash: string; readonly rejected: Promise<string | null> }>();

  function postOnce(posted: Posted, fresh: boolean, checked?: CheckedRequest): Promise<string | null> {
    const { id, hash } = posted.post;
    const name = `${posted.tree}/${id}`;
    const rejected = take(posted, fresh, checked).finally(() => posting.delete(name));
    posting.set(name, { hash, rejected });
    return rejected;
  }

  async function take(posted: Posted, fresh: boolean, checked?: CheckedRequest): Promise<string | null> {
    const { tree, input, texts, post } = posted;
    const known = fresh ? null : await store.post(tree, post.id);
    if (known !== null) return resultOf(tree, known, post.hash);
    const submitted = await (checked === undefined ? submit(posted) : enter({ ...posted, ...checked }));
    if (typeof submitted === "object") return submitted.rejected;
    return send({ tree, ...post, payload: JSON.stringify({ input, texts }) }, posted);
  }

  /** Only the process that runs the tree asks `beforeDelegation`, with what it knows of the tree. */
  async function submit(posted: Posted): Promise<Submitted> {
    const { tree, input, texts } = posted;
    if (input.type !== "run-asked" || !delegations.given) return enter(posted);
    return unlessElsewhere(async () => {
      const loaded = await trees.load(tree);
      const { id: parent = tree, depth = 0 } = loaded.tree.state.agents.get(input.parent) ?? {};
      const { data = null } = loaded.tree.contexts;
      const place = { tree, parent, depth: depth + 1, data };
      const checked = await delegations.checkRequest(place, input, texts[0] ?? null);
      return loop.submit({ ...posted, ...checked });
    });
  }

  function enter(submission: Submission): Promise<Submitted> {
    return unlessElsewhere(() => loop.submit(submission));
  }

  async function unlessElsewhere(work: () => Promise<string | null>): Promise<Submitted> {
    try {
      return { rejected: await work() };
    } catch (error) {
      if (error instanceof ErrandError && error.code === "tree-owned") return "elsewhere";
      if (error instanceof ErrandError && error.code === "tree-unplaced" && (await othersTake())) return "unplaced";
      throw error;
    }
  }

  /** True if other workers take trees of the store: one of them may have what this process lacks. */
  async function othersTake(): Promise<boolean> {
    return (await store.workers?.())?.some((worker) => worker.takes) === true;
  }

  async function resultOf(tree: TreeId, known: PostRecord, hash: string): Promise<string | null> {
    if (known.hash !== hash) throw reused(known.id);
    return rejectionAt(store, tree, known.seq);
  }

  /** Puts the post as mail for the worker that runs the tree. If that worker dies, this process submits it itself. */
  async function send(mail: Mail, posted: Posted): Promise<string | null> {
    if ((await store.putMail(mail)).status === "id-reused") throw reused(mail.id);
    for (let polls = 1; ; polls += 1) {
      const known = await store.post(mail.tree, mail.id);
      if (known !== null) return resultOf(mail.tree, known, mail.hash);
      await new Promise<void>((resolve) => world.after(TAKEN_POLL_MS, resolve));
      const submitted = polls % OWNER_POLLS === 0 ? await submit(posted) : "elsewhere";
      if (typeof submitted === "object") return submitted.rejected;
      if (submitted === "unplaced" && polls >= PLACE_POLLS) throw await unplaced(mail.tree);
    }
  }

  async function unplaced(tree: TreeId): Promise<ErrandError> {
    const reason = (await store.tree(tree))?.unplaced ?? "no worker has taken it";
    return new ErrandError("tree-unplaced", `No worker runs tree ${tree}: ${reason}.`, {
      remedy: "The message is kept. Start a worker that has what the tree needs: it takes the message.",
      details: { tree, reason },
    });
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
    parts.onFailure(
      new ErrandError("store-corrupt", `The mail ${mail.id} for tree ${mail.tree} cannot be read.`, {
        remedy:
          "Other mail is taken. It was written by another program, or by another version of Errand: send it again.",
        details: { tree: mail.tree },
      }),
    );
    return null;
  }

  function mailFailed(tree: TreeId, error: unknown): void {
    const code = error instanceof ErrandError ? error.code : "";
    if (STUCK.has(code)) stuckTrees.add(tree);
    if (MAIL_WAITS.has(code)) mailLeft = true;
    else if (store.shared === undefined || !NOT_OURS.has(code)) parts.onFailure(error);
  }

  return {
    async post(tree, input, given, fresh = false, checked) {
      const texts = redactor.json(given);
      const hash = sha256(JSON.stringify([input, texts]));
      for (;;) {
        const underWay = posting.get(`${tree}/${input.id}`);
        if (underWay === undefined)
          return postOnce({ tree, input, texts, post: { id: input.id, hash } }, fresh, checked);
        if (underWay.hash === hash) return underWay.rejected;
        // Other content under the same id may fail itself. After it the store says which of both was first.
        await Promise.allSettled([underWay.rejected]);
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
        const content = parts.placement.refusedRecently(tree) || stuckTrees.has(tree) ? null : readMail(mail);
        if (content === null) {
          mailRefused += 1;
          continue;
        }
        const { input, texts } = content;
        // Answers to the same question are taken one at a time, in the order in which they arrived: the first counts.
        const question = input.type === "answer-given" ? `${tree}/${input.question}` : null;
        const waits = question !== null && questions.has(question);
        if (waits) mailLeft = true;
        if (question !== null) questions.add(question);
        if (waits || posting.has(`${tree}/${id}`)) continue;
        void postOnce({ tree, input, texts, post: { id, hash } }, false).catch((error: unknown) =>
          mailFailed(tree, error),
        );
      }
    },
  };
}

function reused(id: PostId): ErrandError {
  return new ErrandError("id-reused", `The id ${id} was used before, with other content.`, {
    remedy: "Use a new id for a new message.",
  });
}
