/** Checks the stores: where they are, who owns each, and what waits in it. Writes nothing. */

import type { Store, TreeRecord } from "../../../contracts/store.ts";
import { storeTrustStatus } from "../../../runtime/create-runtime.ts";
import { formatKnown } from "../../../stores/formats.ts";
import { SCHEMA_VERSION } from "../../../stores/sqlite/schema.ts";
import { postgresUrlIs, storeName } from "../../../stores/store-url.ts";
import { problemOf } from "../../problem.ts";
import type { Host } from "../../host.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { FORMER_STORE, formerStore, projectFiles, type StoreScope } from "../../store/scope.ts";
import { type StoreFile, withStore } from "../../store/open-view.ts";
import { countLabel } from "../../../view/amounts.ts";
import { broken, type Finding, ok, warning } from "./finding.ts";

const NAME = "store";

export async function checkStores(scope: StoreScope, host: Pick<Host, "env">): Promise<Finding[]> {
  if (scope.kind === "named") return checkStore(scope.store);
  const files = projectFiles(scope.folder);
  const found: Finding[] = [];
  if (files.length === 0)
    found.push(ok(NAME, `there is none for this folder yet; the first errand run makes it in ${scope.folder}`));
  for (const path of files) found.push(...(await checkStore(path)));
  if (formerStore(scope.project) !== null) {
    const remedy = `If it is yours: errand trust --store ${FORMER_STORE}, and name it with --store. Else remove it.`;
    found.push(warning("other store", `this folder holds ${FORMER_STORE}, which is not used`, remedy));
  }
  if (postgresUrlIs(host.env["DATABASE_URL"] ?? "")) {
    const remedy = "To use it: errand config set --global useDatabaseUrl true, or name it in ERRAND_DATABASE_URL.";
    found.push(warning("database", "DATABASE_URL names a PostgreSQL database, which is not used", remedy));
  }
  return found;
}

async function checkStore(path: string): Promise<Finding[]> {
  try {
    if (!postgresUrlIs(path)) {
      const { status, ...trust } = storeTrustStatus(path);
      if (status === "new") return [ok(NAME, `there is none at ${path} yet; the first errand run makes it`)];
      if ("why" in trust) return await checkForeign(path, trust.why);
    }
    return await withStore(path, (store, { files: [file] }) => checkOpened(store, path, file?.owner));
  } catch (thrown) {
    const { message, remedy } = problemOf(thrown);
    return [broken(NAME, message, remedy ?? "Name another store with --store PATH.")];
  }
}

function checkForeign(path: string, why: string): Promise<Finding[]> {
  return withStore(path, async (store) => {
    const trees = await everyTree(store);
    const text = `${path}, ${countsOf(trees)}; it can be read and does not run: ${why}`;
    return [warning(NAME, text, `If it is yours, look at it and agree: errand trust --store ${path}`)];
  });
}

async function checkOpened(store: Store, path: string, ownerOf: StoreFile["owner"] | undefined): Promise<Finding[]> {
  const trees = await everyTree(store);
  const owner = (await ownerOf?.()) ?? null;
  return [
    ok(NAME, `${postgresUrlIs(path) ? storeName(path) : `${path}, schema ${SCHEMA_VERSION}`}, ${countsOf(trees)}`),
    ok("owner", owner === null ? "no process owns the store now" : `${owner} works on its trees`),
    await waitingWork(store, owner !== null),
    ...treeWarnings(trees),
  ];
}

function countsOf(trees: readonly TreeRecord[]): string {
  const counts = (["open", "closed", "expired"] as const).map((status) => {
    const count = trees.filter((tree) => tree.status === status).length;
    return count === 0 ? "" : `, ${count} ${status}`;
  });
  return `${countLabel(trees.length, "tree")}${counts.join("")}`;
}

/** Trees with something to do. If a process owns the store, it works on them. */
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

function treeWarnings(trees: readonly TreeRecord[]): Finding[] {
  const findings: Finding[] = [];
  const warn = (name: string, found: readonly TreeRecord[], text: string, remedy: string): void => {
    if (found.length > 0) findings.push(warning(name, `${countLabel(found.length, "tree")} ${text}`, remedy));
  };
  const quarantined = trees.filter((tree) => tree.status === "quarantined");
  const id = quarantined[0]?.id ?? "";
  const release = `See errand logs ${id}, and release it with errand resume ${id}`;
  warn("quarantine", quarantined, "failed several times and waits for a person", release);
  const newer = trees.filter((tree) => !formatKnown(tree));
  warn("format", newer, "of a newer format than this Errand knows", "Update Errand.");
  const arriving = trees.filter((tree) => tree.status === "arriving");
  const moved = "of a store that is being moved here, or whose move was interrupted";
  warn("move", arriving, moved, "Finish it: errand migrate --from FILE --to this database");
  return findings;
}
