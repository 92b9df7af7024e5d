/**
 * A request to a tree from a process that does not run it. Where another process owns the store, or workers take its
 * trees, the request is put as mail. Otherwise this process owns the store for a moment: the request is recorded, and
 * no model and no tool is called.
 */

import { ModelFailure, type ModelProvider } from "../../contracts/model.ts";
import type { Store } from "../../contracts/store.ts";
import type { Tool } from "../../contracts/tool.ts";
import type { World } from "../../contracts/world.ts";
import { asPostId, type PostId, type TreeId, uuidOf } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { headRead } from "../../core/journal/row.ts";
import { ErrandError } from "../../errors.ts";
import { createErrand, sha256 } from "../create-runtime.ts";
import type { Errand } from "../errand.ts";
import { mailOf, type PostInput } from "./mail.ts";

/** The store that holds the tree, opened to read. */
export interface Recipient {
  /** Its path or its URL. */
  readonly path: string;
  readonly store: Store;
  /** The process that owns the file, or the workers of the database; null when there is none. */
  owner(): Promise<string | null>;
}

export interface MailRequest {
  readonly tree: TreeId;
  readonly input: PostInput;
  readonly texts: readonly Json[];
}

export interface Request extends MailRequest {
  /** The same request, made as the owner. Returns why it changed nothing, or null. */
  asOwner(errand: Errand): Promise<string | null>;
}

export interface Delivered {
  /** `owner`: this process recorded it. `mail`: another process has it, or will have it. */
  readonly by: "owner" | "mail";
  /** False while no owner has taken the mail. */
  readonly taken: boolean;
  /** Why it changed nothing, or null. */
  readonly rejected: string | null;
}

/** How long an owner is waited for. A live one looks for mail every 50 ms. */
const WAIT_MS = 5_000;
const POLL_MS = 50;

/** `tools` are those that the trees of the store may need. None of them is called. */
export async function deliver(
  recipient: Recipient,
  request: Request,
  { world, tools }: { readonly world: World; readonly tools: readonly Tool[] },
): Promise<Delivered> {
  const workers = (await recipient.store.workers?.()) ?? [];
  if (workers.some((worker) => worker.takes)) return putMail(recipient.store, request, world, true);
  try {
    const rejected = await ownForAMoment(recipient.path, request, world, tools);
    return { by: "owner", taken: true, rejected };
  } catch (thrown) {
    if (!(thrown instanceof ErrandError)) throw thrown;
    switch (thrown.code) {
      case "store-owned":
      case "tree-owned":
        return putMail(recipient.store, request, world, true);
      case "tree-unplaced":
        // The tree needs tools that this process lacks: a process that has them takes the mail.
        return putMail(recipient.store, request, world, false);
      default:
        throw thrown;
    }
  }
}

/** Puts the request as mail, even if there is no owner now: the next one takes it. */
export function deliverAsMail({ store, owner }: Recipient, request: MailRequest, world: World): Promise<Delivered> {
  // The owner is looked for after the mail was put: one that came in between has taken it, or will.
  return putMail(store, request, world, async () => (await owner()) !== null);
}

async function putMail(
  store: Store,
  { tree, input, texts }: MailRequest,
  world: World,
  owned: boolean | (() => Promise<boolean>),
): Promise<Delivered> {
  const mail = mailOf(tree, input, texts, sha256);
  await store.putMail(mail);
  const waitMs = (typeof owned === "boolean" ? owned : await owned()) ? WAIT_MS : 0;
  for (let waited = 0; ; waited += POLL_MS) {
    const post = await store.post(tree, mail.id);
    const [row] = post === null ? [] : await store.rows(tree, post.seq, 1);
    if (row !== undefined) return { by: "mail", taken: true, rejected: headRead(row.head).rejected ?? null };
    if (waited >= waitMs) return { by: "mail", taken: false, rejected: null };
    await new Promise<void>((resolve) => world.after(POLL_MS, resolve));
  }
}

async function ownForAMoment(
  path: string,
  request: Request,
  world: World,
  tools: readonly Tool[],
): Promise<string | null> {
  const failures: ErrandError[] = [];
  const errand = await createErrand({
    store: path,
    world,
    models: [waitingModels],
    tools: tools.map((tool) => ({ ...tool, run: waitingTool })),
    // This process executes nothing of what is decided now.
    permissions: [{ decision: "deny", tool: "*" }],
    recover: false,
    renewDefinitions: false,
    onNotice: () => undefined,
    onFailure: (error) => void failures.push(error),
  });
  try {
    const rejected = await request.asOwner(errand);
    await errand.close({ withinMs: 0 });
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    return rejected;
  } finally {
    await errand.close({ withinMs: 0 });
  }
}

/** A placeholder for every model. A call waits until it is aborted, and the next owner calls again. */
const waitingModels: ModelProvider = {
  resolve: () => ({
    facts: { window: null, price: null },
    model: {
      call: (_request, { signal }) => untilAborted(signal, new ModelFailure("aborted", "The call was aborted.")),
    },
  }),
};

const waitingTool: Tool["run"] = (_input, { signal }) => untilAborted(signal, new Error("The call was aborted."));

function untilAborted(signal: AbortSignal, error: Error): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(error);
    else signal.addEventListener("abort", () => reject(error), { once: true });
  });
}

/** A new id for a post. */
export function newPostId(world: World): PostId {
  return asPostId(uuidOf(world.wall(), world.random(16), Number.parseInt(world.random(3), 16)));
}
