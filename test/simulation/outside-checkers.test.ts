/** The checkers of posts, channels, tools and secrets fail for changed records. */

import { expect, test } from "vitest";
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
import type { WatchedTree } from "./invariants/watched-tree.ts";
import { createOutside, type OutsidePost } from "./outside.ts";
import { SECRET } from "./secret.ts";
import { CHILD_ID, ROOT_ID, smallRows, smallSteps, watchRows } from "./small-journal.ts";
import { violated } from "./invariants/violation.ts";

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

test("I1, I5, I12: the checker finds a lost post, a second answer and a second run for one spawn", () => {
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkPost(post, tree))).toBe("nothing");
  expect(violated(() => checkPost({ ...post, id: "post-2" }, tree))).toBe("I12");
  expect(violated(() => checkPost({ ...post, answers: ["a", "b"] }, tree))).toBe("I5");
  expect(violated(() => checkPost({ ...post, kind: "spawn", answers: ["a", "b"] }, tree))).toBe("I1");
  expect(violated(() => checkPostEnded(post, tree))).toBe("nothing");
  tree.posts.set("post-1", { seq: 2, late: false, ended: 0 });
  expect(violated(() => checkPostEnded(post, tree))).toBe("I12");
});

test("the checker finds an unmarked repetition, a changed text, a lost and an unrecorded channel message", () => {
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

test("I9: the checker finds a call for an agent that is gone or in no turn", () => {
  const rows = smallRows(smallSteps());
  const during = watchRows(rows.slice(0, 5));
  const after = watchRows(rows);
  const call = (agent: string, tree: WatchedTree): string => violated(() => checkCall({ what: "look", agent }, [tree]));
  expect(call(CHILD_ID, during)).toBe("nothing");
  expect(call(CHILD_ID, after)).toBe("I9");
  expect(call(ROOT_ID, after)).toBe("I9");
  expect(call("somebody of another tree", after)).toBe("nothing");
});

test("I28: the checker finds a secret in the store and in messages to people", () => {
  expect(violated(() => checkSecret("a row", `401 for ${SECRET}`))).toBe("I28");
  expect(violated(() => checkSecret("a row", null))).toBe("nothing");
  const told = { id: "x", text: SECRET, repeated: false, taken: false, slow: false };
  expect(violated(() => checkDelivery(createOutside(), told))).toBe("I28");
  const tree = watchRows(smallRows(smallSteps()));
  expect(violated(() => checkPost({ ...post, answers: [SECRET] }, tree))).toBe("I28");
});
