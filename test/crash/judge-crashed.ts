/**
 * The judge at the scene: reads a store as a dead process left it, before anybody goes on with it, and looks for
 * everything that the world outside had been told or had seen done by then. A restart would ask for lost posts again
 * and so hide their loss.
 *
 * It reads a copy, because reading would already repair the log and take that work from the restart.
 */

import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ErrandError, type Store } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { openSqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { storedRows } from "../../src/runtime/journals/stored-rows.ts";
import type { Evidence } from "./evidence.ts";
import type { Finding } from "./judge.ts";
import type { Site } from "./processes.ts";

export async function judgeCrashed(
  site: Pick<Site, "folder" | "store">,
  evidence: Evidence,
): Promise<readonly Finding[]> {
  const folder = mkdtempSync(join(site.folder, "scene-"));
  const copy = join(folder, "errand.db");
  for (const end of ["", "-wal", "-journal"]) {
    if (existsSync(`${site.store}${end}`)) cpSync(`${site.store}${end}`, `${copy}${end}`);
  }
  try {
    const store = await openIfThere(copy);
    const lost = store === null ? everything(evidence) : await lookFor(store, evidence);
    await store?.close();
    return lost.map((what) => ({ kind: "lost", what: `right after the crash: ${what}` }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Null where the process died before there was a store. */
async function openIfThere(path: string): Promise<Store | null> {
  try {
    return openSqliteStore({ path, access: "read" });
  } catch (error) {
    if (error instanceof ErrandError && error.details["missing"] === true) return null;
    throw error;
  }
}

function everything({ opened, posted, replied, struck, delivered, seen }: Evidence): string[] {
  return [...opened.keys(), ...posted, ...replied, ...struck, ...delivered, ...seen].map((one) => JSON.stringify(one));
}

async function lookFor(store: Store, evidence: Evidence): Promise<string[]> {
  const lost: string[] = [];
  const trees = (await store.trees({ limit: 1_000_000 })).map((tree) => tree.id).toReversed();
  for (const [id, number] of evidence.opened)
    if (trees[number - 1] !== id) lost.push(`conversation ${number} as ${id}`);
  for (const { id, tree } of evidence.posted) {
    if ((await store.post(asTreeId(tree), asPostId(id))) === null) lost.push(`the post ${id}`);
  }
  for (const { id, tree } of evidence.replied) {
    const post = await store.post(asTreeId(tree), asPostId(id));
    if (post === null || post.endedSeq === null) lost.push(`the answer to ${id}`);
  }
  for (const { id } of evidence.delivered) if (!(await decided(store, id))) lost.push(`the decision to send ${id}`);
  for (const { tree, seq, facts } of evidence.seen) {
    const [row] = await store.rows(asTreeId(tree), seq, 1);
    const { input, events = [] } = row?.seq === seq ? headRead(row.head) : { input: null };
    if (JSON.stringify([input, ...events]) !== facts) lost.push(`row ${seq}, which a subscriber saw: ${facts}`);
  }
  for (const token of evidence.struck) {
    const tree = trees[Number(/^conversation-(\d+)/.exec(token)?.[1] ?? 0) - 1];
    if (tree === undefined || !(await asked(store, tree, token))) lost.push(`the intention to strike ${token}`);
  }
  return lost;
}

async function decided(store: Store, id: string): Promise<boolean> {
  const [, tree = "", seq = "", n = ""] = /^(.+)\/(\d+)\.(\d+)$/.exec(id) ?? [];
  const [row] = await store.rows(asTreeId(tree), Number(seq), 1);
  if (row?.seq !== Number(seq)) return false;
  return (headRead(row.head).events ?? []).some((event) => event.type === "channel-sent" && event.n === Number(n));
}

async function asked(store: Store, tree: string, token: string): Promise<boolean> {
  for await (const row of storedRows(store, asTreeId(tree))) {
    const called = (headRead(row.head).events ?? []).some(
      (event) => event.type === "tool-called" && event.name === "strike",
    );
    if (called && row.body?.includes(`"token":"${token}"`) === true) return true;
  }
  return false;
}
