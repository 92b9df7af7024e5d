/**
 * The stores as commands that only look at them see them: opened to read, also while other processes own them, and
 * read as one.
 */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import type { TreeId } from "../../core/values/ids.ts";
import { ErrandError } from "../../errors.ts";
import { openStoreAt, storeTrustStatus } from "../../runtime/create-runtime.ts";
import { toldStore } from "../../runtime/journals/durable-reads.ts";
import { requireFormat } from "../../runtime/trees/tree-errors.ts";
import { canonicalPath } from "../../stores/sqlite/open-database.ts";
import { ownerOf } from "../../stores/sqlite/ownership.ts";
import { postgresUrlIs, storeName } from "../../stores/store-url.ts";
import { requireRunnable } from "../../stores/trust/open-trusted.ts";
import { formerStore, formerText } from "./former-store.ts";
import { joinStores } from "./joined-store.ts";
import { projectFiles, type StoreScope } from "./scope.ts";

/** One store of a view. */
export interface StoreFile {
  /** Its path or its URL. */
  readonly path: string;
  readonly store: Store;
  /** False: it can be read, and nothing of it runs. */
  readonly trusted: boolean;
  /** The process that owns the file, or the workers of the database; null when there is none. */
  owner(): Promise<string | null>;
}

export interface View {
  /** All of them as one. */
  readonly store: Store;
  readonly files: readonly StoreFile[];
  /** The one that has the tree. */
  holder(tree: TreeId): Promise<StoreFile>;
}

const MAKES_ONE = 'A first errand run "your task" makes one; --store PATH names another.';

function makesOne(scope: StoreScope): string {
  const former = scope.kind === "project" && formerStore(scope.project) !== null;
  return former ? `${MAKES_ONE} Beside: ${formerText()}` : MAKES_ONE;
}

/** Opens the stores for as long as the work takes. */
export async function withView<Result>(
  scope: StoreScope,
  work: (store: Store, view: View) => Promise<Result>,
): Promise<Result> {
  if (scope.kind === "named") requireFile(scope.store);
  if (scope.kind === "named") return withFiles([scope.store], work);
  return withFiles(projectFiles(scope.folder), work, () => noStore(scope));
}

function noStore(scope: StoreScope): ErrandError {
  return new ErrandError("store-unreadable", "There is no store for this folder", { remedy: makesOne(scope) });
}

/** The same of one store. */
export function withStore<Result>(path: string, work: (store: Store, view: View) => Promise<Result>): Promise<Result> {
  return withFiles([path], work);
}

/** With `none`, a file that another process is just making is passed over, and `none` is thrown where no other is left. */
async function withFiles<Result>(
  paths: readonly string[],
  work: (store: Store, view: View) => Promise<Result>,
  none?: () => ErrandError,
): Promise<Result> {
  const files: StoreFile[] = [];
  try {
    for (const path of paths) {
      const file = await openFile(path).catch((thrown: unknown) => {
        if (none === undefined || !notMade(thrown)) throw thrown;
        return null;
      });
      if (file !== null) files.push(file);
    }
    if (none !== undefined && files.length === 0) throw none();
    const view = viewOf(files);
    return await work(view.store, view);
  } catch (thrown) {
    throw files.every((file) => file.trusted) ? thrown : explainForeign(thrown);
  } finally {
    for (const file of files) await file.store.close();
  }
}

function viewOf(files: readonly StoreFile[]): View {
  return {
    store: joinStores(files.map((file) => file.store)),
    files,
    async holder(tree) {
      for (const file of files) if ((await file.store.tree(tree)) !== null) return file;
      throw new ErrandError("tree-unknown", `There is no tree ${tree} in the store`);
    },
  };
}

async function openFile(path: string): Promise<StoreFile> {
  const trusted = postgresUrlIs(path) || storeTrustStatus(path).status !== "foreign";
  const store = await openView(path);
  return {
    path,
    store,
    trusted,
    async owner() {
      // Nothing beside a file that may come from anybody is opened.
      if (store.workers === undefined) return trusted ? ownerOf(path) : null;
      const workers = await store.workers();
      return workers.length === 0 ? null : workers.map((worker) => worker.name).join(", ");
    },
  };
}

export async function openView(path: string): Promise<Store> {
  try {
    return toldStore(await openStoreAt(path, "read"));
  } catch (thrown) {
    if (!(thrown instanceof ErrandError && thrown.message.includes("there is no store yet"))) throw thrown;
    throw new ErrandError("store-unreadable", `There is no store ${storeName(path)}`, {
      remedy: MAKES_ONE,
      cause: thrown,
    });
  }
}

function notMade(thrown: unknown): boolean {
  return thrown instanceof ErrandError && thrown.message.startsWith("There is no store ");
}

/** What cannot be read in a store that may come from anybody is that store's fault, not a bug. */
function explainForeign(thrown: unknown): unknown {
  if (thrown instanceof ErrandError) return thrown;
  return new ErrandError("store-corrupt", "The store, which is not trusted, holds what cannot be read.", {
    remedy: "It was changed by something other than Errand: do not use it.",
    cause: thrown,
  });
}

/** For commands that act on a tree, and do not only look at it. */
export function requireTrusted({ path, trusted }: StoreFile): void {
  if (!trusted) requireRunnable(canonicalPath(path), storeTrustStatus(path));
}

/** Nothing is kept in memory that another command could look at. */
export function requireFile(path: string): void {
  if (path !== "memory") return;
  throw new ErrandError("usage", "A store in memory is gone with its process", { remedy: "Name a file: --store PATH" });
}

/** An owner's refusal, with what a person at the command line can do. */
export function explainOwned(thrown: unknown): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "store-owned") return thrown;
  return new ErrandError("store-owned", thrown.message, {
    remedy:
      "That process works on its trees: watch it with errand logs -f TREE, tell it more with errand send TREE, or stop it.",
    cause: thrown,
    details: thrown.details,
  });
}

/** Of a tree that has expired only the record is left, and one of a newer format cannot be read. */
export function requireJournal(tree: TreeRecord): void {
  requireFormat(tree);
  if (tree.status !== "expired") return;
  throw new ErrandError("tree-unknown", `The tree ${tree.id} has expired: only its record is left`, {
    remedy: "Trees are kept for as long as the retention says; export those that must stay.",
  });
}
