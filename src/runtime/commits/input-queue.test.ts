import { expect, test } from "vitest";
import { asPostId, asTreeId } from "../../core/values/ids.ts";
import type { Input } from "../../core/event.ts";
import { createInputQueue, type InputQueue } from "./input-queue.ts";

const tree = asTreeId("00000000-0000-7000-8000-000000000001");
const other = asTreeId("00000000-0000-7000-8000-000000000002");

function add(queue: InputQueue, input: Input, to = tree): string[] {
  const told: string[] = [];
  queue.add(
    { tree: to, input, texts: [] },
    { resolve: (late) => told.push(`resolved ${late}`), reject: (error) => told.push(`rejected ${String(error)}`) },
  );
  return told;
}

const types = (queue: InputQueue): string[] => queue.takeAll().map(({ submission }) => submission.input.type);

test("one wake-up of a kind waits for a tree; the later one replaces it, and both callers are told", () => {
  const queue = createInputQueue();
  const first = add(queue, { type: "effects-lost", effects: [] });
  const second = add(queue, { type: "effects-lost", effects: [] });
  add(queue, { type: "timers-due" });
  add(queue, { type: "timers-due" }, other);
  const taken = queue.takeAll();
  expect(taken.map(({ submission }) => submission.input.type)).toEqual(["effects-lost", "timers-due", "timers-due"]);
  for (const one of taken) queue.resolve(one, null);
  expect([first, second]).toEqual([["resolved null"], ["resolved null"]]);
  expect(queue.pending(tree)).toBe(false);
});

test("a wake-up whose commit is under way does not stand for a later one", () => {
  const queue = createInputQueue();
  add(queue, { type: "timers-due" });
  queue.takeAll();
  add(queue, { type: "timers-due" });
  expect(types(queue)).toEqual(["timers-due"]);
});

test("inputs that come back stand in front, behind what the load of their tree found to do", () => {
  const queue = createInputQueue();
  add(queue, { type: "timers-due" });
  const taken = queue.takeAll();
  add(queue, { type: "slots-offered" }, other);
  add(queue, { type: "effects-lost", effects: [] });
  queue.putBackLoaded(tree, taken);
  expect(types(queue)).toEqual(["effects-lost", "timers-due", "slots-offered"]);
});

test("a wake-up that waited for the load comes before the posts that waited with it", () => {
  const queue = createInputQueue();
  add(queue, { type: "rights-changed", rights: { tools: [] } });
  add(queue, { type: "slots-offered" });
  queue.putBackLoaded(tree, queue.takeAll());
  expect(types(queue)).toEqual(["slots-offered", "rights-changed"]);
});

test("a listener that waits for a wake-up already is not added again: an hour without room leaves one", () => {
  const queue = createInputQueue();
  const told: unknown[] = [];
  const reject = (error: unknown): void => void told.push(error);
  for (let second = 0; second < 3_600; second += 1)
    queue.add({ tree, input: { type: "slots-offered" }, texts: [] }, { resolve: () => {}, reject });
  queue.rejectQueued("closed");
  expect(told).toEqual(["closed"]);
});

test("definitions of this process come before inputs that waited when the tree was loaded for something else", () => {
  const queue = createInputQueue();
  add(queue, { type: "close-asked", id: asPostId("a") });
  add(queue, { type: "catalog-changed", catalog: [] });
  add(queue, { type: "timers-due" });
  expect(types(queue)).toEqual(["catalog-changed", "close-asked", "timers-due"]);
});
