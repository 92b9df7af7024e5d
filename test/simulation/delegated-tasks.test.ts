/** The checker of delegated tasks can fail. */

import { expect, test } from "vitest";
import { checkDelegated } from "./invariants/delegated-tasks.ts";
import { violated } from "./invariants/violation.ts";

const head = (call: string | null): string =>
  JSON.stringify({
    rev: "8.10",
    at: 1,
    input: { type: "slots-offered" },
    events: [{ type: "run-created", run: 1, call }],
  });
const row = (call: string | null, text: unknown) => ({
  seq: 1,
  head: head(call),
  body: JSON.stringify(["salt", text]),
  hash: "",
});
const called = [{ type: "tool-call", id: "c", name: "subagent", input: { task: "a" } }];

test.each<[string, ReturnType<typeof row>, string[], string]>([
  ["a task that was allowed", row("c", called), ["a"], "nothing"],
  ["a task that was not", row("c", called), ["b"], "I29"],
  ["a spawn of the program that was not", row(null, { task: "a" }), [], "I29"],
  ["an erased text", { ...row("c", called), body: JSON.stringify(["salt"]) }, [], "nothing"],
])("I29: %s", (_what, one, allowed, expected) => {
  expect(violated(() => checkDelegated({ rows: [one] }, new Set(allowed)))).toBe(expected);
});
