/** `errand stores`: the stores that this user's Errand made or may run. */

import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { storeTrustStatus, trustParts } from "../../../runtime/create-runtime.ts";
import { canonicalPath } from "../../../stores/sqlite/open-database.ts";
import { postgresUrlIs, storeName } from "../../../stores/store-url.ts";
import { registerOf } from "../../../stores/trust/trust-status.ts";
import type { CommandAction, CommandCall } from "../../command.ts";
import { print } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { everyTree } from "../../../runtime/trees/every-tree.ts";
import { requireFile, withStore } from "../../store/open-view.ts";
import { projectFiles, projectFolders, readProjectRecord } from "../../store/scope.ts";
import { countLabel } from "../../../view/amounts.ts";
import { terminalLine } from "../../text/terminal-text.ts";

/** A field is null if it cannot be known, because the store is gone or cannot be read. */
interface StoreLine {
  readonly path: string;
  readonly id: string | null;
  /** The folder whose store it is. */
  readonly project: string | null;
  /** False if the folder was moved or removed. */
  readonly projectThere: boolean | null;
  readonly there: boolean;
  readonly trusted: boolean;
  readonly trees: number | null;
  readonly unfinished: number | null;
  readonly owner: string | null;
  readonly bytes: number | null;
}

export const storesCommand: CommandAction = async (call) => {
  const { options, host } = call;
  const lines: StoreLine[] = [];
  for (const [path, project] of pathsOf(call)) lines.push(await storeLine(path, project));
  if (lines.length === 0 && options.json !== true) host.err("there are no stores yet\n");
  for (const line of lines) {
    print(call, { type: "store", ...line }, () => textOf(line).map(terminalLine).join("\n  "));
  }
  return EXIT.done;
};

/** The paths of the stores, with the project of each: first those of folders, then others of the register. */
function pathsOf({ scope, host }: CommandCall): ReadonlyMap<string, string | null> {
  if (scope.kind === "named" && scope.from === "--store") {
    requireFile(scope.store);
    return new Map([[postgresUrlIs(scope.store) ? scope.store : canonicalPath(scope.store), null]]);
  }
  const paths = new Map<string, string | null>();
  for (const folder of projectFolders(host)) {
    for (const file of projectFiles(folder)) {
      paths.set(canonicalPath(file), readProjectRecord(dirname(file))?.project ?? null);
    }
  }
  // The register keeps the entries of deleted stores.
  const others = registerOf(trustParts())
    .list()
    .filter(({ path }) => existsSync(path));
  for (const { path } of others) if (!paths.has(path)) paths.set(path, null);
  return paths;
}

async function storeLine(path: string, project: string | null): Promise<StoreLine> {
  const database = postgresUrlIs(path);
  const bytes = database ? null : (statSync(path, { throwIfNoEntry: false })?.size ?? null);
  const there = database || bytes !== null;
  const entry = database ? null : registerOf(trustParts()).find(path);
  const nothing = { trusted: false, trees: null, unfinished: null, owner: null };
  const seen = there ? await look(path).catch(() => nothing) : nothing;
  const projectThere = project === null ? null : existsSync(project);
  return { path: storeName(path), id: entry?.id ?? null, project, projectThere, there, ...seen, bytes };
}

function look(path: string): Promise<Pick<StoreLine, "trusted" | "trees" | "unfinished" | "owner">> {
  const trusted = postgresUrlIs(path) || storeTrustStatus(path).status === "trusted";
  return withStore(path, async (store, { files: [file] }) => ({
    trusted,
    trees: (await everyTree(store)).length,
    unfinished: (await store.unfinished(Number.MAX_SAFE_INTEGER)).length,
    owner: (await file?.owner()) ?? null,
  }));
}

function textOf({ path, id, project, projectThere, there, trusted, trees, unfinished, owner }: StoreLine): string[] {
  const gone = projectThere === false ? " (moved or gone)" : "";
  const counts =
    trees === null ? "cannot be read" : `${countLabel(trees, "tree")}, ${unfinished ?? 0} with something to do`;
  const state = there ? `${counts}${trusted ? "" : ", not trusted"}` : "its file is gone";
  const ownedBy = owner === null ? "" : `, owned by ${owner}`;
  return [
    path,
    ...(project === null ? [] : [`of ${project}${gone}`]),
    `${state}${ownedBy}`,
    ...(id === null ? [] : [`id ${id}`]),
  ];
}
