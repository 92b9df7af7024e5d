/**
 * Makes this process the owner of a store: of the one that was named, or of the first file of the project that no other
 * process owns. So several commands can work in one folder, each with its own rights, model and key.
 */

import { ErrandError } from "../../errors.ts";
import { dataFolder, makeOwnFolder } from "../../stores/user-data.ts";
import type { Host } from "../host.ts";
import { writeJsonFile } from "../settings/json-file.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { explainOwned } from "./open-view.ts";
import {
  FORMER_STORE,
  formerStore,
  formerText,
  projectFile,
  projectRecordFile,
  readProjectRecord,
  type StoreScope,
  storesFolder,
} from "./scope.ts";

type OwnHost = Pick<Host, "env" | "home" | "world" | "err">;

export interface Owned<Opened> {
  /** The file or the URL. */
  readonly path: string;
  readonly opened: Opened;
}

/** `open` opens a store as its owner, or throws `store-owned`. */
export async function ownStore<Opened>(
  scope: StoreScope,
  host: OwnHost,
  open: (path: string) => Promise<Opened>,
): Promise<Owned<Opened>> {
  if (scope.kind === "named") return ownFile(scope.store, open);
  await makeProjectFolder(scope, host);
  for (let number = 1; ; number += 1) {
    const path = projectFile(scope.folder, number);
    try {
      return { path, opened: await open(path) };
    } catch (thrown) {
      if (!(thrown instanceof ErrandError) || thrown.code !== "store-owned") throw thrown;
    }
  }
}

/** Owns exactly this store, such as the one that holds a tree. */
export async function ownFile<Opened>(path: string, open: (path: string) => Promise<Opened>): Promise<Owned<Opened>> {
  try {
    return { path, opened: await open(path) };
  } catch (thrown) {
    throw explainOwned(thrown);
  }
}

/** Makes the folder of the project's stores, with the record of its project. */
export async function makeProjectFolder(scope: Extract<StoreScope, { kind: "project" }>, host: OwnHost): Promise<void> {
  for (const folder of [dataFolder(host), storesFolder(host), scope.folder]) makeOwnFolder(folder);
  const known = readProjectRecord(scope.folder);
  const former = formerStore(scope.project);
  const telling = former !== null && known?.told.includes(FORMER_STORE) !== true;
  if (known !== null && !telling) return;
  if (telling) host.err(`${terminalLine(formerText())}\n`);
  const told = former === null ? [] : [FORMER_STORE];
  await writeJsonFile(projectRecordFile(scope.folder), { version: 1, project: scope.project, told }, host.world);
}
