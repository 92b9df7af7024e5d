/**
 * The stores as a command that only reads sees them: opened to read, also while other processes own them, and joined
 * into one.
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
import { joinStores } from "./joined-store.ts";
import { formerStore, formerText, projectFiles, type StoreScope } from "./scope.ts";

/** One store of a view. */
export interface StoreFile {
  /** Its path or its URL. */
  readonly path: string;
  readonly store: Store;
  /** False: it can be read, and none of its trees may run. */
  readonly trusted: boolean;
  /** The process that owns the file, or the workers of the database; null when there is none. */
  owner(): Promise<string | null>;
}

export interface View {
  /** All of them as one. */
  readonly store: Store;
  readonly files: readonly StoreFile[];
  /** The store that has the tree. */
  holder(tree: TreeId): Promise<StoreFile>;
}

const MAKES_ONE = 'A first errand run "your task" makes one; --store PATH names another.';

/** Opens the stores of a command for as long as the work takes. */
export async function withView<Result>(
  scope: StoreScope,
  work: (store: Store, view: View) => Promise<Result>,
): Promise<Result> {
  if (scope.kind === "project") return withFiles(projectFiles(scope.folder), work, scope.project);
  requireFile(scope.store);
  return withFiles([scope.store], work, null);
}

/** Opens one store for as long as the work takes. */
export function withStore<Result>(path: string, work: (store: Store, view: View) => Promise<Result>): Promise<Result> {
  return withFiles([path], work, null);
}

/**
 * With the folder of a project, a file that another process is just creating is left out; at least one must be left.
 */
async function withFiles<Result>(
  paths: readonly string[],
  work: (store: Store, view: View) => Promise<Result>,
  project: string | null,
): Promise<Result> {
  const files: StoreFile[] = [];
  try {
    for (const path of paths) {
      try {
        files.push(await openFile(path));
      } catch (thrown) {
        if (project === null || !storeMissing(thrown)) throw thrown;
      }
    }
    if (project !== null && files.length === 0) throw noStore(project);
    const view = viewOf(files);
    return await work(view.store, view);
  } catch (thrown) {
    throw files.every((file) => file.trusted) ? thrown : explainForeign(thrown);
  } finally {
    for (const file of files) await file.store.close();
  }
}

function noStore(project: string): ErrandError {
  const remedy = formerStore(project) === null ? MAKES_ONE : `${MAKES_ONE} Beside: ${formerText()}`;
  return new ErrandError("store-unreadable", "There is no store for this folder", { remedy });
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
      // No file beside an untrusted store is opened.
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
    if (!storeMissing(thrown)) throw thrown;
    throw new ErrandError("store-unreadable", `There is no store ${storeName(path)}`, {
      remedy: MAKES_ONE,
      cause: thrown,
      details: { missing: true },
    });
  }
}

function storeMissing(thrown: unknown): boolean {
  return thrown instanceof ErrandError && thrown.details["missing"] === true;
}

/** A store that is not trusted may hold anything: what cannot be read in it is no bug. */
export function explainForeign(thrown: unknown): unknown {
  if (thrown instanceof ErrandError) return thrown;
  return new ErrandError("store-corrupt", "The store, which is not trusted, holds what cannot be read.", {
    remedy: "It was changed by something other than Errand: do not use it.",
    cause: thrown,
  });
}

/** For commands that act on a tree. */
export function requireTrusted({ path, trusted }: StoreFile): void {
  if (!trusted) requireRunnable(canonicalPath(path), storeTrustStatus(path));
}

/** A store in memory cannot be read by another command. */
export function requireFile(path: string): void {
  if (path !== "memory") return;
  throw new ErrandError("usage", "A store in memory is gone with its process", { remedy: "Name a file: --store PATH" });
}

/** Adds to the refusal of an owned store what a user of the command line can do. */
export function explainOwned(thrown: unknown): unknown {
  if (!(thrown instanceof ErrandError) || thrown.code !== "store-owned") return thrown;
  return new ErrandError("store-owned", thrown.message, {
    remedy:
      "That process works on its trees: watch it with errand logs -f TREE, " +
      "tell it more with errand send TREE, or stop it.",
    cause: thrown,
    details: thrown.details,
  });
}

/** Throws if the tree has expired, or is in a newer format. */
export function requireJournal(tree: TreeRecord): void {
  requireFormat(tree);
  if (tree.status !== "expired") return;
  throw new ErrandError("tree-unknown", `The tree ${tree.id} has expired: only its record is left`, {
    remedy: "Trees are kept for as long as the retention says; export those that must stay.",
  });
}
