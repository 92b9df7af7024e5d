/** Mail that cannot be taken, and more mail than one look takes: all other mail is taken. */

import { join } from "node:path";
import { expect, test } from "vitest";
import type { ErrandError, Store } from "../../src/index.ts";
import { asPostId, asTreeId } from "../../src/core/values/ids.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import { say, type Script } from "../../src/testing/index.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";

/** More than one look for mail takes. */
const MANY = 520;

const echo: Script = (_request, { newest }) => say(`heard ${newest}`);

/** A silent message, which is taken and causes no turn. */
function silentMail(tree: string, name: string) {
  const input = { type: "message-posted", id: asPostId(name), to: 0, kind: "system", silent: true, size: 2 } as const;
  return mailOf(asTreeId(tree), input, ["hi"], sha256);
}

async function putMany(store: Pick<Store, "putMail">, tree: string, prefix: string): Promise<void> {
  for (let n = 0; n < MANY; n += 1) await store.putMail(silentMail(tree, `${prefix}${n}`));
}

/** A memory store that outlives the runtime. */
function lastingStore(): Store {
  return { ...createMemoryStore(), close: async () => undefined };
}

test("more mail than one look takes is taken while the process runs, and when it starts", async () => {
  const store = lastingStore();
  const first = await openTestErrand({ parent: echo }, { store });
  const agent = await first.errand.openAgent();
  await putMany(store, agent.id, "a");
  await expect.poll(async () => (await store.pendingMail(MANY)).length).toBe(0);
  await first.errand.close();
  await putMany(store, agent.id, "b");
  // The store tells of a write of another process once, and this process was not there.
  await store.changed();
  await openTestErrand({ parent: echo }, { store });
  await expect.poll(async () => (await store.pendingMail(MANY)).length).toBe(0);
});

test("more mail for a quarantined tree than one look takes does not keep other mail waiting", async () => {
  const store = lastingStore();
  const first = await openTestErrand({ parent: echo }, { store });
  const [bad, good] = [(await first.errand.openAgent()).id, (await first.errand.openAgent()).id];
  await first.errand.close();
  await store.markFailure(asTreeId(bad), true);
  await openTestErrand({ parent: echo }, { store });
  await putMany(store, bad, "m");
  await store.putMail(silentMail(good, "good"));
  await expect.poll(() => store.post(asTreeId(good), asPostId("good"))).not.toBeNull();
  // Its own mail is kept, and taken once a person has released the tree.
  expect(await store.pendingMail(2 * MANY)).toHaveLength(MANY);
  await store.release(asTreeId(bad));
  await store.putMail(silentMail(good, "again"));
  await expect.poll(async () => (await store.pendingMail(MANY)).length).toBe(0);
});

test("mail that cannot be read is reported once, and other mail is taken", async () => {
  const path = join(temporaryFolder(), "errand.db");
  const notices: ErrandError[] = [];
  const { errand } = await openTestErrand(
    { parent: echo },
    { store: path, onNotice: (notice) => void notices.push(notice) },
  );
  const agent = await errand.openAgent();
  const sender = await openStoreAt(path, "read");
  const tree = asTreeId(agent.id);
  for (const [index, payload] of ["{", "null", '{"input":null}', '{"input":{"type":"unknown"},"texts":[]}'].entries())
    await sender.putMail({ tree, id: asPostId(`broken-${index}`), hash: "x", payload });
  for (const name of ["one", "two"]) {
    await sender.putMail(silentMail(agent.id, name));
    await expect.poll(() => sender.post(tree, asPostId(name))).not.toBeNull();
  }
  expect(notices.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => "store-corrupt"));
  expect(notices[0]?.message).toContain("broken-0");
  expect(notices[0]?.remedy).not.toBe("");
  await sender.close();
});
