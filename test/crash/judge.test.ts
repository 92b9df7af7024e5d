/** The judge itself is judged: a store or a record that was doctored must not pass. */

import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Evidence, evidenceOf } from "./evidence.ts";
import { type Finding, judgeStore } from "./judge.ts";
import { finish, scratchFolder, siteIn } from "./processes.ts";

const scratch = scratchFolder();
const whole = siteIn(scratch.path);
let evidence: Evidence;
let copies = 0;

beforeAll(async () => {
  await finish(whole, { conversations: 2 });
  evidence = evidenceOf(whole);
}, 60_000);
afterAll(scratch.remove);

/** Judges a copy of the store in which a statement was executed. */
async function doctored(sql: string): Promise<readonly Finding[]> {
  copies += 1;
  const folder = join(scratch.path, `copy-${copies}`);
  mkdirSync(folder);
  const site = siteIn(folder);
  cpSync(whole.store, site.store);
  const db = new DatabaseSync(site.store);
  db.exec(sql);
  expect(db.prepare("select changes() as changes").get()?.["changes"], "the store was changed").not.toBe(0);
  db.close();
  return judgeStore(site.store, evidence);
}

test("a store that was left alone passes, with all that was acknowledged", async () => {
  expect(await judgeStore(whole.store, evidence)).toEqual([]);
  expect(evidence.posted).toHaveLength(4);
  expect(evidence.replied).toHaveLength(4);
  expect(evidence.struck.toSorted()).toEqual(
    ["awaited", "first"].flatMap((call) => [`conversation-1/${call}`, `conversation-2/${call}`]).toSorted(),
  );
  expect(evidence.delivered).toHaveLength(6);
});

test.each([
  ["a row of a journal is gone", "delete from journal where tree = 1 and seq = 5"],
  [
    "the last row of a journal is gone",
    "delete from journal where tree = 1 and seq = (select max(seq) from journal where tree = 1)",
  ],
  [
    "two rows have changed places",
    `update journal set id = id + 100 where tree = 1 and seq in (10, 11);
     update journal set id = tree << 32 | (121 - seq) where tree = 1 and seq > 100`,
  ],
  [
    "a row's head was changed",
    `update journal set head = replace(head, '"status":"ok"', '"status":"error"') where tree = 2`,
  ],
  [
    "a text was changed",
    `update journal set body = replace(body, 'here is the answer', 'here is no answer')
     where body like '%here is the answer%'`,
  ],
  ["a run's status was changed", "update runs set status = 1 where tree = 1 and number = 1"],
  ["a run's delivery was changed", "update runs set delivery = 1 where tree = 2 and number = 2"],
  ["a run is gone from the list", "delete from runs where tree = 2 and number = 3"],
  ["a run is open", "update runs set state = 1 where tree = 1 and number = 2"],
  ["a post is gone", "delete from posts where arrival = 1"],
  ["a post was never answered", "update posts set ended_seq = null where arrival = 2"],
  ["a tree is gone", "delete from trees where key = 2"],
  ["a tree is not at rest", "update trees set busy = 1 where key = 1"],
  [
    "a message still waits for its channel",
    "insert into outbox (tree, key, place, agent, text, at) values (1, '4.9', 1, 0, 'x', 1)",
  ],
])("the judge finds it when %s", async (_what, sql) => {
  expect(await doctored(sql)).not.toEqual([]);
});

test("the judge finds what the world outside saw and the store does not hold", async () => {
  const [post] = evidence.posted;
  const [reply] = evidence.replied;
  const [message] = evidence.delivered;
  const [token] = evidence.struck;
  if (post === undefined || reply === undefined || message === undefined || token === undefined)
    throw new Error("no evidence");
  const cases: readonly (readonly [Finding["kind"], Partial<Evidence>])[] = [
    ["lost", { posted: [{ ...post, id: "another" }] }],
    ["lost", { opened: new Map([["01a1e182-509e-7dff-8965-ec05d955308f", 1]]) }],
    ["contradicted", { replied: [{ ...reply, text: "something else" }] }],
    ["contradicted", { replied: [reply, { ...reply, text: "something else" }] }],
    ["lost", { delivered: evidence.delivered.slice(1) }],
    ["lost", { delivered: [...evidence.delivered, { ...message, id: `${message.id}9` }] }],
    ["contradicted", { delivered: [...evidence.delivered, { ...message, text: "x", repeated: true }] }],
    ["duplicated", { delivered: [...evidence.delivered, message] }],
    ["duplicated", { struck: [...evidence.struck, token] }],
    ["contradicted", { struck: ["conversation-9/first"] }],
  ];
  for (const [kind, change] of cases) {
    const findings = await judgeStore(whole.store, { ...evidence, ...change });
    expect(
      findings.map((finding) => finding.kind),
      JSON.stringify(change),
    ).toContain(kind);
  }
  const again = { ...message, repeated: true };
  expect(await judgeStore(whole.store, { ...evidence, delivered: [...evidence.delivered, again] })).toEqual([]);
});
