import { expect, test } from "vitest";
import { goldenHeads } from "./golden-heads.test-support.ts";
import { headGivenRead, headNamesDefinitions, headRead } from "./row.ts";

const heads = goldenHeads();

/** A head without what was decided, whichever way it was read. */
function given(head: object): object {
  return { ...head, events: undefined, contexts: undefined };
}

test("what a step is decided from is read without what was decided", () => {
  expect(heads.length).toBeGreaterThan(40);
  for (const head of heads) {
    const read = headGivenRead(head);
    expect(given(read)).toEqual(given(headRead(head)));
    if (head.includes(',"events":[')) expect(read).not.toHaveProperty("events");
  }
});

test.each([
  ["in a text", { rev: "1", at: 1, input: { type: "x", text: 'a,"events":[1],"body":"' }, events: [{ type: "y" }] }],
  [
    "as a member of the input",
    { rev: "1", at: 1, input: { type: "x", list: 1, events: [1, 2] }, body: "z".repeat(43) },
  ],
  ["in both", { rev: "1", at: 1, input: { type: "x", a: ',"events":[', events: [] }, events: [{ type: "y" }] }],
  [
    "as a member of an input that ends like a head",
    { rev: "1", at: 1, input: { type: "x", id: "y", events: [1], body: "z".repeat(42) } },
  ],
  [
    "before a body of another length",
    { rev: "1", at: 1, input: { type: "x" }, events: [{ type: "y" }], body: "short" },
  ],
  ["before an event that ends like one", { rev: "1", at: 1, input: { type: "x" }, events: [{ body: "z".repeat(43) }] }],
])("what looks like the beginning of events %s misleads nobody", (_where, head) => {
  const text = JSON.stringify(head);
  expect(given(headGivenRead(text))).toEqual(given(headRead(text)));
});

test("rows that bring definitions are told from their text", () => {
  const bringing = heads.filter((head) =>
    ["tree-opened", "catalog-changed", "tree-forked"].includes(headRead(head).input.type),
  );
  expect(bringing.length).toBeGreaterThan(3);
  expect(heads.filter(headNamesDefinitions)).toEqual(bringing);
});
