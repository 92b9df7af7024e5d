/** The checkers of model requests fail for changed requests. */

import { expect, test } from "vitest";
import type { ContextMessage } from "../../src/index.ts";
import { checkRequest, checkRoles } from "./invariants/requests.ts";
import type { WatchedTree } from "./invariants/watched-tree.ts";
import { CHILD_ID, ROOT_ID, RUN_ID, RUN_NAME, smallRows, smallSteps, watchRows } from "./small-journal.ts";
import { violated } from "./invariants/violation.ts";

test("I15: the checker finds roles that do not alternate and calls without results", () => {
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

test("I4, I6, I19, I20, I26, D11: the checker finds a request that differs from the journal", () => {
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
