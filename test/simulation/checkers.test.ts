/** Each checker of the simulation can fail: a doctored journal, request or record makes it complain. */

import { expect, test } from "vitest";
import type { ContextMessage } from "../../src/index.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import type { JournalRow } from "../../src/core/journal/journal.ts";
import { settingsOf } from "../../src/core/values/limits.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { definitionHashes } from "../../src/runtime/journals/stored-rows.ts";
import { treeEventOf } from "../../src/view/tree-event.ts";
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts";
import {
  checkAgentsAtRest,
  checkDeadline,
  checkRunAtRest,
  checkStoreAtRest,
  checkStoredJournal,
} from "./invariants/at-rest.ts";
import { sha256 } from "./invariants/chain.ts";
import { createIdleSlots } from "./invariants/idle-slots.ts";
import {
  checkAcknowledged,
  checkCall,
  checkDelivered,
  checkDelivery,
  checkPost,
  checkPostEnded,
  checkSecret,
  checkStrike,
  checkStrikesKnown,
} from "./invariants/outside-checks.ts";
import { createProvenJournal, type ProvenJournal } from "./invariants/proven-journal.ts";
import { checkEvent, checkSeen, checkStillThere } from "./invariants/reading.ts";
import { checkRights } from "./invariants/rights-facts.ts";
import { checkRequest, checkRoles } from "./invariants/requests.ts";
import { Violation } from "./invariants/violation.ts";
import type { WatchedRun, WatchedTree } from "./invariants/watched-tree.ts";
import { createOutside, type OutsidePost } from "./outside.ts";
import { type Disk, memoryDisk } from "./place.ts";
import { SECRET } from "./secret.ts";
import { simulate } from "./simulation.ts";
import {
  CHILD_ID,
  type LooseFact,
  ROOT_ID,
  RUN_ID,
  RUN_NAME,
  SMALL_RIGHTS,
  smallRows,
  type SmallStep,
  smallSteps,
  watchRows,
} from "./small-journal.ts";

function violated(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof Violation ? error.invariant : `threw ${String(error)}`;
  }
  return "nothing";
}

/** The events of row `seq`, to be doctored. */
function at(steps: SmallStep[], seq: number): LooseFact[] {
  return steps[seq - 1]?.events ?? [];
}

function without(steps: SmallStep[], seq: number, type: string): void {
  const events = at(steps, seq);
  events.splice(
    events.findIndex((event) => event.type === type),
    1,
  );
}

function limit(steps: SmallStep[], limits: object): void {
  const settings = steps[0]?.input["settings"];
  if (steps[0] !== undefined)
    steps[0].input = {
      ...steps[0].input,
      settings: { ...(settings as object), limits: { ...settingsOf().limits, ...limits } },
    };
}

const ended = { type: "run-ended", run: 1, status: "ok", report: "tool" };
const DOCTORED: readonly (readonly [string, string, (steps: SmallStep[]) => unknown])[] = [
  ["I1", "a run is created twice", (steps) => at(steps, 3).push({ ...at(steps, 3)[0], type: "run-created" })],
  ["I1", "a post is taken twice", (steps) => steps.push(steps[1] ?? { input: ended, events: [] })],
  ["I17", "a request has more model calls than its limit", (steps) => limit(steps, { modelCallsPerRequest: 1 })],
  [
    "I17",
    "it is asked for more model calls before they are used",
    (steps) => at(steps, 2).push({ type: "question-asked", agent: 0, n: 9, calls: 1_000, name: "model_calls" }),
  ],
  [
    "I18",
    "a tool is called that the process does not have",
    (steps) => Object.assign(steps[0]?.input ?? {}, { rights: { tools: [] } }),
  ],
  [
    "I18",
    "a tool is called that the process denies",
    (steps) =>
      Object.assign(steps[0]?.input ?? {}, {
        rights: { ...SMALL_RIGHTS, permissions: [{ decision: "deny", tool: "look" }] },
      }),
  ],
  ["I2", "a run ends twice", (steps) => at(steps, 8).push(ended)],
  ["I3", "the end of a run reaches nobody", (steps) => void at(steps, 7).splice(3, 3)],
  [
    "I4",
    "an outcome is placed twice",
    (steps) => at(steps, 8).push({ type: "run-undeliverable", run: 1, reason: "x" }),
  ],
  [
    "I4",
    "an outcome is placed before the end",
    (steps) => at(steps, 6).push({ type: "run-undeliverable", run: 1, reason: "x" }),
  ],
  ["I7", "a limit ends as ok", (steps) => Object.assign(at(steps, 7)[2] ?? {}, { reason: "iteration-limit" })],
  [
    "I7",
    "a failure ends in silence",
    (steps) => Object.assign(steps[7] ?? {}, { input: { type: "model-failed", effect: "7.2" }, events: [] }),
  ],
  [
    "I12",
    "a message is taken twice",
    (steps) => at(steps, 8).push({ type: "messages-joined", agent: 0, take: ["2.0"] }),
  ],
  ["I12", "a post ends twice", (steps) => Object.assign(at(steps, 8)[0] ?? {}, { posts: ["post-1"] })],
  ["I2", "a report comes after the end", (steps) => at(steps, 8).push({ type: "run-reported", run: 1, call: "c0" })],
  ["I13", "a report is invented", (steps) => without(steps, 7, "run-reported")],
  [
    "I14",
    "a run is announced twice",
    (steps) => at(steps, 7).splice(4, 0, { type: "announcement-queued", agent: 0, key: "7.1", runs: [1] }),
  ],
  ["I16", "an announcement waits for an idle agent", (steps) => void at(steps, 7).splice(4, 2)],
  ["I16", "a message waits for an idle agent", (steps) => void at(steps, 2).splice(0, 2)],
  ["I16", "a turn is about nothing", (steps) => at(steps, 8).push({ type: "turn-started", agent: 0, take: [] })],
  ["I17", "a run is deeper than the limit", (steps) => limit(steps, { maxDepth: 0 })],
  ["I17", "more children live than the limit", (steps) => limit(steps, { liveChildren: 0 })],
  [
    "I18",
    "a child calls a tool that it does not have",
    (steps) => Object.assign(at(steps, 5)[0] ?? {}, { name: "strike" }),
  ],
  ["I19", "a model is called for an ended run", (steps) => at(steps, 8).push({ type: "model-called", agent: 1, n: 3 })],
  [
    "I19",
    "a result is taken for an ended run",
    (steps) => Object.assign(steps[7] ?? {}, { input: { ...steps[7]?.input, effect: "6.1" } }),
  ],
  [
    "I23",
    "an unsafe call is repeated",
    (steps) => {
      Object.assign(at(steps, 5)[0] ?? {}, { safe: undefined });
      at(steps, 6).push({ type: "effect-repeated", effect: "5.1", attempt: 2 });
    },
  ],
];

test("the journal that the others are doctored from breaks nothing", () => {
  const tree = watchRows(smallRows(smallSteps()));
  expect(tree.runs.get(1)?.told).toEqual(["announcement"]);
});

test.each(DOCTORED)("%s: %s", (invariant, _what, doctor) => {
  const steps = smallSteps();
  doctor(steps);
  expect(violated(() => watchRows(smallRows(steps)))).toBe(invariant);
});

test("I21: a missing row, a changed head and a changed body are found", () => {
  const rows = smallRows(smallSteps());
  const changed = (seq: number, change: object): typeof rows =>
    rows.map((row) => (row.seq === seq ? { ...row, ...change } : row));
  expect(violated(() => watchRows(rows.filter((row) => row.seq !== 4)))).toBe("I21");
  expect(violated(() => watchRows(changed(4, { head: rows[3]?.head.replace("done", "gone") })))).toBe("I21");
  expect(violated(() => watchRows(changed(4, { body: '["salt","other"]' })))).toBe("I21");
});

test("I15: roles that do not alternate and calls without their results are found", () => {
  const user: ContextMessage = { role: "user", text: "x" };
  const call: ContextMessage = { role: "assistant", parts: [{ type: "tool-call", id: "c", name: "look", input: {} }] };
  const result: ContextMessage = { role: "tool", results: [{ id: "d", name: "look", text: "", failed: false }] };
  for (const messages of [[call], [user, user], [user, call], [user, call, user], [user, call, result]]) {
    expect(violated(() => checkRoles(messages))).toBe("I15");
  }
  expect(violated(() => checkRoles([user]))).toBe("nothing");
});

const ANNOUNCED = `Background task "${RUN_NAME}" completed successfully.`;
const FRAMED = `<findings origin="${CHILD_ID}">\ntk1k\n</findings>`;

function request(tree: WatchedTree, messages: readonly ContextMessage[], expected: string | null = null): string {
  const agent = tree.agents.get(0);
  if (agent === undefined) throw new Error("there is no root");
  const sent = { model: "sim/x", system: "", tools: [], messages };
  return violated(() =>
    checkRequest({
      tree,
      agent,
      request: sent,
      given: JSON.stringify(messages),
      compacting: false,
      expected,
      author: () => 1,
    }),
  );
}

const asked = (text: string): readonly ContextMessage[] => [{ role: "user", text }];

test("I4, I6, I19, I20, I26, D11: a request that does not say what the journal says is found", () => {
  const rows = smallRows(smallSteps());
  const told = (): WatchedTree => watchRows(rows.slice(0, 7));
  const open = (): WatchedTree => watchRows(rows.slice(0, 3));
  expect(request(told(), asked(`${FRAMED}\n${ANNOUNCED}`))).toBe("nothing");
  expect(request(told(), asked("nothing of it"))).toBe("I4");
  expect(request(told(), asked(`${FRAMED}\n${ANNOUNCED}\n${ANNOUNCED}`))).toBe("I4");
  expect(request(open(), asked(`[run ${RUN_ID} "x": running]\n${ANNOUNCED}`))).toBe("I6");
  expect(request(told(), asked(ANNOUNCED), "[]")).toBe("I20");
  expect(request(told(), asked(`${ANNOUNCED}\ntk1k`))).toBe("I26");
  expect(request(told(), asked(`${ANNOUNCED}\n${FRAMED.replace(CHILD_ID, ROOT_ID)}`))).toBe("I26");
  const third = watchRows(smallRows(smallSteps()).slice(0, 3));
  third.agents.get(0)?.owed.clear();
  expect(request(third, asked("no run in sight"))).toBe("D11");
  const accepted = (id: string): readonly ContextMessage[] => [
    ...asked("go"),
    { role: "assistant", parts: [{ type: "tool-call", id: "c0", name: "start_background_agent", input: {} }] },
    {
      role: "tool",
      results: [
        { id: "c0", name: "start_background_agent", text: `{"status":"accepted","run_id":"${id}"}`, failed: false },
      ],
    },
  ];
  expect(request(third, accepted(RUN_ID))).toBe("nothing");
  expect(request(third, accepted(ROOT_ID))).toBe("D11");
  expect(request(third, [...accepted(RUN_ID), ...asked("what else?")])).toBe("D11");
  const gone = told();
  Object.assign(gone.agents.get(0) ?? {}, { alive: false });
  expect(request(gone, asked(ANNOUNCED))).toBe("I19");
});

const post: OutsidePost = {
  id: "post-1",
  tree: ROOT_ID,
  agent: ROOT_ID,
  kind: "user",
  silent: false,
  text: "x",
  awaited: true,
  byMail: false,
  acknowledged: true,
  refused: false,
  settled: true,
  asked: 1,
  answers: ["a"],
};

test("I1, I5, I12: a lost post, a second answer and a second run for one spawn are found", () => {
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkPost(post, tree))).toBe("nothing");
  expect(violated(() => checkPost({ ...post, id: "post-2" }, tree))).toBe("I12");
  expect(violated(() => checkPost({ ...post, answers: ["a", "b"] }, tree))).toBe("I5");
  expect(violated(() => checkPost({ ...post, kind: "spawn", answers: ["a", "b"] }, tree))).toBe("I1");
  expect(violated(() => checkPostEnded(post, tree))).toBe("nothing");
  tree.posts.set("post-1", { seq: 2, late: false, ended: 0 });
  expect(violated(() => checkPostEnded(post, tree))).toBe("I12");
});

test("the checker finds an unmarked repetition, changed words, a lost and an unrecorded channel message", () => {
  const tree = watchRows(smallRows(smallSteps()));
  const outside = createOutside();
  const delivery = { id: `${ROOT_ID}/4.1`, text: "x", repeated: false, taken: true, slow: false };
  expect(violated(() => checkDelivered(outside, tree))).toBe("channel");
  outside.deliveries.push(delivery);
  expect(violated(() => checkDelivered(outside, tree))).toBe("nothing");
  expect(violated(() => checkAcknowledged(outside, tree))).toBe("channel");
  expect(violated(() => checkDelivery(outside, delivery))).toBe("channel");
  expect(violated(() => checkDelivery(outside, { ...delivery, repeated: true }))).toBe("nothing");
  expect(violated(() => checkDelivery(outside, { ...delivery, repeated: true, text: "y" }))).toBe("channel");
  outside.acknowledged.add(delivery.id);
  expect(violated(() => checkDelivery(outside, { ...delivery, repeated: true }))).toBe("channel");
  outside.deliveries.push({ ...delivery, id: `${ROOT_ID}/9.9` });
  expect(violated(() => checkDelivered(outside, tree))).toBe("channel");
});

test("I23: the checker finds an unsafe tool that ran twice, and one that is in no journal", () => {
  const outside = createOutside();
  outside.strikes.set("tk1k", 2);
  expect(violated(() => checkStrike(outside, "tk1k"))).toBe("I23");
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkStrikesKnown(outside, [tree]))).toBe("I23");
  tree.rows.push({ seq: 99, head: "", body: '["salt",[{"input":"tk1k"}]]', hash: "" });
  expect(violated(() => checkStrikesKnown(outside, [tree]))).toBe("nothing");
});

test("I2, I4, I6, I10, I16, I22: the checker finds open, undelivered and overdue runs at rest", async () => {
  const tree = watchRows(smallRows(smallSteps()));
  const run = tree.runs.get(1) as WatchedRun;
  expect(violated(() => checkRunAtRest(run))).toBe("nothing");
  expect(violated(() => checkRunAtRest({ ...run, state: "running" }))).toBe("I10");
  expect(violated(() => checkRunAtRest({ ...run, told: [] }))).toBe("I4");
  const timed = { ...run, startedNow: 0, reason: "deadline" };
  expect(violated(() => checkDeadline({ ...timed, endedNow: 30_000 }, -1))).toBe("nothing");
  expect(violated(() => checkDeadline({ ...timed, endedNow: 32_000 }, -1))).toBe("I22");
  expect(violated(() => checkDeadline({ ...timed, endedNow: 3_000 }, -1))).toBe("I22");
  expect(violated(() => checkAgentsAtRest(tree))).toBe("nothing");
  expect(violated(() => checkAgentsAtRest(watchRows(smallRows(smallSteps()).slice(0, 3))))).toBe("I16");
  const root = tree.agents.get(0);
  if (root !== undefined) tree.agents.set(1, { ...root, number: 1 });
  expect(violated(() => checkAgentsAtRest(tree))).toBe("I10");
  await expect(checkStoreAtRest(createMemoryStore(), tree)).rejects.toThrow("I21");
});

test("I16: the checker finds a run left waiting while a slot is free, unless its parent is at its limit", () => {
  /** Looks twice, so long apart; the run waits beside a sibling of that state. */
  const looks = (options: { ms?: number; slots?: number; calm?: boolean; sibling?: WatchedRun["state"] }): string => {
    const { ms = 1_001, slots = 2, calm = true, sibling = "ended" } = options;
    const tree = watchRows(smallRows(smallSteps()));
    const run = tree.runs.get(1);
    if (run === undefined || tree.settings === null) throw new Error("there is no run");
    tree.settings = { ...tree.settings, limits: { ...tree.settings.limits, liveChildren: 1 } };
    tree.runs.set(1, { ...run, state: "queued" });
    tree.runs.set(2, { ...run, number: 2, state: sibling });
    const idle = createIdleSlots(slots);
    idle.look([tree], 5_000, calm);
    return violated(() => idle.look([tree], 5_000 + ms, true));
  };
  expect(looks({})).toBe("I16");
  expect(looks({ ms: 1_000 })).toBe("nothing");
  expect(looks({ calm: false })).toBe("nothing");
  expect(looks({ sibling: "running" })).toBe("nothing");
  expect(looks({ sibling: "waiting" })).toBe("nothing");
  expect(looks({ slots: 0 })).toBe("nothing");
});

test("I18: a row that was decided under the rights of another process is found", () => {
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkRights(tree, SMALL_RIGHTS, 1))).toBe("nothing");
  expect(violated(() => checkRights(tree, { ...SMALL_RIGHTS, asks: true }, 1))).toBe("I18");
});

test("I9: a call for an agent that is gone, or in no turn, is found", () => {
  const rows = smallRows(smallSteps());
  const during = watchRows(rows.slice(0, 5));
  const after = watchRows(rows);
  const call = (agent: string, tree: WatchedTree): string => violated(() => checkCall({ what: "look", agent }, [tree]));
  expect(call(CHILD_ID, during)).toBe("nothing");
  expect(call(CHILD_ID, after)).toBe("I9");
  expect(call(ROOT_ID, after)).toBe("I9");
  expect(call("somebody of another tree", after)).toBe("nothing");
});

test("I24: a step that is shown twice, too late, too early or otherwise is found", () => {
  const tree = watchRows(smallRows(smallSteps()));
  const event = (seq: number) => treeEventOf(tree.id, tree.rows[seq - 1] as JournalRow);
  expect(violated(() => checkEvent(tree, event(3), 2))).toBe("nothing");
  expect(violated(() => checkEvent(tree, event(3), 3))).toBe("I24");
  expect(violated(() => checkEvent(tree, event(3), 1))).toBe("I24");
  expect(violated(() => checkEvent(tree, { ...event(3), seq: 99 }, 98))).toBe("I24");
  expect(violated(() => checkEvent(tree, { ...event(3), at: 7 }, 2))).toBe("I24");
  expect(violated(() => checkEvent(tree, { ...event(3), texts: ["other"] }, 2))).toBe("I24");
  tree.erased.set(3, null);
  expect(violated(() => checkEvent(tree, { ...event(3), texts: [] }, 2))).toBe("nothing");
  expect(violated(() => checkSeen(tree, tree.rows.length))).toBe("nothing");
  expect(violated(() => checkSeen(tree, tree.rows.length - 1))).toBe("I24");
  expect(violated(() => checkStillThere(tree, tree.rows.length))).toBe("nothing");
  expect(violated(() => checkStillThere(tree, tree.rows.length + 1))).toBe("I24");
});

test("I28: the checker finds a secret in the store and in messages to people", () => {
  expect(violated(() => checkSecret("a row", `401 for ${SECRET}`))).toBe("I28");
  expect(violated(() => checkSecret("a row", null))).toBe("nothing");
  const told = { id: "x", text: SECRET, repeated: false, taken: false, slow: false };
  expect(violated(() => checkDelivery(createOutside(), told))).toBe("I28");
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkPost({ ...post, answers: [SECRET] }, tree))).toBe("I28");
});

/** A seed of few rows, in memory: its tree as the onlooker knows it, and the store that holds it. */
async function smallSeed(): Promise<{ readonly disk: Disk; readonly tree: WatchedTree }> {
  const disk = memoryDisk();
  const { watch, failure } = await simulate(3, disk);
  const [tree] = watch.trees.values();
  if (tree === undefined || failure !== null) throw new Error("the seed for this test is no longer what it was");
  return { disk, tree };
}

test("I20: a row that is not what is decided again is found, though its chain holds", async () => {
  const { disk, tree } = await smallSeed();
  const texts: [string, string][] = [];
  for (const hash of tree.rows.flatMap(definitionHashes)) {
    texts.push([hash, (await disk.beside().blob(asTreeId(tree.id), hash)) ?? ""]);
  }
  const proof = (): ProvenJournal => {
    const journal = createProvenJournal();
    for (const [hash, text] of texts) journal.learn(hash, text);
    return journal;
  };
  const whole = proof();
  for (const row of tree.rows) whole.take(row);
  expect(whole.request(0)).toContain('"role":"user"');

  const doctored = proof();
  const at = tree.rows.findIndex((row) => (headRead(row.head).events?.length ?? 0) > 1);
  for (const row of tree.rows.slice(0, at)) doctored.take(row);
  const row = tree.rows[at] as JournalRow;
  const { events = [], ...rest } = headRead(row.head);
  const head = JSON.stringify({ ...rest, events: events.slice(0, -1) });
  const hash = sha256((tree.rows[at - 1]?.hash ?? "") + head);
  expect(violated(() => doctored.take({ ...row, head, hash }))).toBe("I20");
});

test("I21: the checker finds a stored row or an erased body that differs from the committed one", async () => {
  const { disk, tree } = await smallSeed();
  const store = disk.beside();
  await checkStoredJournal(store, tree);
  const [first, second, ...others] = tree.rows as [JournalRow, JournalRow, ...JournalRow[]];
  const otherwise = (rows: JournalRow[], erased = tree.erased): Promise<void> =>
    checkStoredJournal(store, { ...tree, rows, erased });
  await expect(otherwise([first, ...others])).rejects.toThrow("I21");
  await expect(otherwise([first, { ...second, head: "{}" }, ...others])).rejects.toThrow("I21");
  await expect(otherwise([first, { ...second, body: "[]" }, ...others])).rejects.toThrow("I21");
  const kept = tree.rows.find((row) => row.body !== null && !tree.erased.has(row.seq))?.seq ?? 0;
  await expect(otherwise([...tree.rows], new Map([...tree.erased, [kept, null]]))).rejects.toThrow("I21");
});
