/** The store: what kind of file it is, who owns it, and what waits in it. Nothing is written. */

import type { Store, TreeRecord } from "../../contracts/store.ts";
import { openStoreAt } from "../../runtime/create-runtime.ts";
import { toldStore } from "../../runtime/journals/told-store.ts";
import { formatKnown } from "../../stores/formats.ts";
import { canonicalPath, inspectFile } from "../../stores/sqlite/open-database.ts";
import { SCHEMA_VERSION } from "../../stores/sqlite/schema.ts";
import { postgresUrlIs, storeName } from "../../stores/store-url.ts";
import { problemOf } from "../problem.ts";
import { treesThat } from "../store/find-id.ts";
import { storeOwner } from "../store/store-owner.ts";
import { countLabel } from "../text/amounts.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";

const NAME = "store";

export async function checkStore(path: string): Promise<Finding[]> {
  try {
    if (!postgresUrlIs(path)) {
      const version = inspectFile(canonicalPath(path));
      if (version === null) return [ok(NAME, `there is none at ${path} yet; the first errand run makes it`)];
      if (version < SCHEMA_VERSION) return [older(path, version)];
    }
    const store = toldStore(await openStoreAt(path, "read"));
    try {
      return await checkOpened(store, path);
    } finally {
      await store.close();
    }
  } catch (thrown) {
    const { message, remedy } = problemOf(thrown);
    return [broken(NAME, message, remedy ?? "Name another store with --store PATH.")];
  }
}

function older(path: string, version: number): Finding {
  const text = `${path} has schema ${version}, and this Errand writes schema ${SCHEMA_VERSION}`;
  return warning(NAME, text, "The next errand run upgrades it; commands that only look wait until then.");
}

async function checkOpened(store: Store, path: string): Promise<Finding[]> {
  const trees = await treesThat(store, () => true);
  const owner = await storeOwner(store, path);
  return [
    ok(NAME, `${postgresUrlIs(path) ? storeName(path) : `${path}, schema ${SCHEMA_VERSION}`}, ${countsOf(trees)}`),
    ok("owner", owner === null ? "no process owns the store now" : `${owner} works on its trees`),
    await waitingWork(store, owner !== null),
    ...quarantined(trees),
    ...newer(trees),
    ...arriving(trees),
  ];
}

function countsOf(trees: readonly TreeRecord[]): string {
  const counts = (["open", "closed", "expired"] as const).map((status) => {
    const count = trees.filter((tree) => tree.status === status).length;
    return count === 0 ? "" : `, ${count} ${status}`;
  });
  return `${countLabel(trees.length, "tree")}${counts.join("")}`;
}

/** What an earlier process left, and what was sent since; with an owner it is under way. */
async function waitingWork(store: Store, owned: boolean): Promise<Finding> {
  const waiting = new Set<string>([
    ...(await store.unfinished(Number.MAX_SAFE_INTEGER)),
    ...(await store.outboxTrees()),
  ]);
  for (const { tree } of await store.pendingMail(Number.MAX_SAFE_INTEGER)) waiting.add(tree);
  if (waiting.size === 0) return ok("work", "nothing waits");
  const trees = countLabel(waiting.size, "tree");
  if (owned) return ok("work", `${trees} under way`);
  return warning("work", `${trees} with work that an earlier process left`, "Go on with it: errand resume");
}

function quarantined(trees: readonly TreeRecord[]): Finding[] {
  const [first, ...others] = trees.filter((tree) => tree.status === "quarantined");
  if (first === undefined) return [];
  const text = `${countLabel(others.length + 1, "tree")} failed several times and waits for a person`;
  return [warning("quarantine", text, `See errand logs ${first.id}, and release it with errand resume ${first.id}`)];
}

function newer(trees: readonly TreeRecord[]): Finding[] {
  const count = trees.filter((tree) => !formatKnown(tree)).length;
  if (count === 0) return [];
  return [warning("format", `${countLabel(count, "tree")} of a newer format than this Errand knows`, "Update Errand.")];
}

function arriving(trees: readonly TreeRecord[]): Finding[] {
  const count = trees.filter((tree) => tree.status === "arriving").length;
  if (count === 0) return [];
  const text = `${countLabel(count, "tree")} of a store that is being moved here, or whose move was interrupted`;
  return [warning("move", text, "Finish it: errand migrate --from FILE --to this database")];
}
