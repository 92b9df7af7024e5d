/**
 * A request to a tree from a process that runs none: put as mail where another process owns the store, or workers take its trees; else by owning it for a
 * moment, in which the request is recorded and nothing is called.
 */

import { ModelFailure, type ModelProvider } from "../../contracts/model.ts";
import type { Mail, Store } from "../../contracts/store.ts";
import type { Tool } from "../../contracts/tool.ts";
import type { World } from "../../contracts/world.ts";
import { asPostId, type TreeId, uuidOf } from "../../core/values/ids.ts";
import type { Json } from "../../core/values/json.ts";
import { headRead } from "../../core/journal/row.ts";
import { ErrandError } from "../../errors.ts";
import { createErrand, sha256 } from "../../runtime/create-runtime.ts";
import type { Errand } from "../../runtime/errand.ts";
import { mailOf, type PostInput } from "../../runtime/messages/mail.ts";
import { workspaceTools } from "../../tools/index.ts";
import type { StoreFile } from "./open-view.ts";

export interface Request {
  readonly tree: TreeId;
  readonly input: PostInput;
  readonly texts: readonly Json[];
  /** The same request, made as the owner. Returns why it changed nothing, or null. */
  asOwner(errand: Errand): Promise<string | null>;
}

export interface Delivered {
  /** `owner`: this process, for a moment. `mail`: another one has it, or will. */
  readonly by: "owner" | "mail";
  /** False while no owner has taken the mail. */
  readonly taken: boolean;
  /** Why it changed nothing, or null. */
  readonly late: string | null;
}

/** How long an owner is waited for; one that lives looks for mail every 50 ms. */
const WAIT_MS = 5_000;
/** Another process runs the store, or the tree. */
const ELSEWHERE: ReadonlySet<string> = new Set(["store-owned", "tree-owned"]);
const POLL_MS = 50;

export async function deliver(file: StoreFile, request: Request, world: World): Promise<Delivered> {
  const { store, path } = file;
  if ((await store.workers?.())?.some((worker) => worker.takes) === true) return deliverAsMail(store, request, world);
  try {
    return { by: "owner", taken: true, late: await ownForAMoment(path, request, world) };
  } catch (thrown) {
    if (!(thrown instanceof ErrandError)) throw thrown;
    // A tree with tools of another program: the process that has them takes the mail.
    if (thrown.code === "tree-unplaced") return putForLater(store, request);
    if (!ELSEWHERE.has(thrown.code)) throw thrown;
  }
  return deliverAsMail(store, request, world);
}

/** The request becomes mail, which the next owner takes, if there is none now. */
export async function deliverLater(
  { store, owner }: StoreFile,
  request: Omit<Request, "asOwner">,
  world: World,
): Promise<Delivered> {
  const mail = mailOf(request.tree, request.input, request.texts, sha256);
  await store.putMail(mail);
  // Asked after the put: an owner that came in between has taken the mail, or will.
  if ((await owner()) !== null) return untilTaken(store, mail, world);
  return (await takenNow(store, mail)) ?? { by: "mail", taken: false, late: null };
}

async function putForLater(store: Store, request: Omit<Request, "asOwner">): Promise<Delivered> {
  await store.putMail(mailOf(request.tree, request.input, request.texts, sha256));
  return { by: "mail", taken: false, late: null };
}

async function deliverAsMail(store: Store, request: Omit<Request, "asOwner">, world: World): Promise<Delivered> {
  const mail = mailOf(request.tree, request.input, request.texts, sha256);
  await store.putMail(mail);
  return untilTaken(store, mail, world);
}

async function untilTaken(store: Store, mail: Mail, world: World): Promise<Delivered> {
  for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
    const taken = await takenNow(store, mail);
    if (taken !== null) return taken;
    await new Promise<void>((resolve) => world.after(POLL_MS, resolve));
  }
  return { by: "mail", taken: false, late: null };
}

/** Null while no owner has taken it. */
async function takenNow(store: Store, mail: Mail): Promise<Delivered | null> {
  const post = await store.post(mail.tree, mail.id);
  const [row] = post === null ? [] : await store.rows(mail.tree, post.seq, 1);
  return row === undefined ? null : { by: "mail", taken: true, late: headRead(row.head).rejected ?? null };
}

async function ownForAMoment(path: string, request: Request, world: World): Promise<string | null> {
  const failures: ErrandError[] = [];
  const errand = await createErrand({
    store: path,
    world,
    models: [waitingModels],
    tools: workspaceTools({ world, environment: {} }).map((tool) => ({ ...tool, run: waitingTool })),
    // What is decided in this moment is executed by nobody here.
    permissions: [{ decision: "deny", tool: "*" }],
    recover: false,
    renewDefinitions: false,
    onNotice: () => undefined,
    onFailure: (error) => void failures.push(error),
  });
  try {
    const late = await request.asOwner(errand);
    await errand.close({ withinMs: 0 });
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    return late;
  } finally {
    await errand.close({ withinMs: 0 });
  }
}

/** Stand for every model and tool: what is called in that moment waits, and is called again by the next owner. */
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
export function newPostId(world: World): PostInput["id"] {
  return asPostId(uuidOf(world.wall(), world.random(16), Number.parseInt(world.random(3), 16)));
}
