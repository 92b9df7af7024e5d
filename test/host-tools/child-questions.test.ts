/** What a child outside Errand asks by itself: a host answers with words. */

import { expect, test } from "vitest";
import type { HostRunOutput } from "../../src/index.ts";
import { fail } from "../../src/testing/index.ts";
import { openOutside } from "../support/outside-errand.ts";

test("a question of an outside child takes words, a refusal, and not a plain yes", async () => {
  const { errand, runner } = await openOutside(
    async ({ events, next }) => {
      events.question({ id: "floor", text: "Which floor?" });
      await next();
      events.question({ id: "door", text: "Which door?" });
      await next();
      events.ended({ status: "ok", report: { text: "found" } });
    },
    () => fail(),
  );
  const tools = errand.hostTools({ agents: ["outer"], background: true });
  const ask = async (name: string, input: unknown): Promise<HostRunOutput> =>
    (await tools.call(name, input)).output as HostRunOutput;
  const { run_id, status, questions: [floor] = [] } = await ask("subagent", { task: "Look.", agent: "outer" });
  expect({ status, floor }).toMatchObject({
    status: "input_required",
    floor: { tool: "child_question", question: expect.stringContaining("Which floor?") as string },
  });
  const first = { run_id, question_id: floor?.question_id };
  expect(await ask("subagent_send", first)).toMatchObject({ status: "refused", reason: "usage" });
  expect(await ask("subagent_send", { ...first, allow: true })).toMatchObject({ reason: "answer-unfit" });
  expect((await ask("subagent_send", { ...first, text: "the third" })).status).not.toBe("refused");
  const { questions: [door] = [] } = await ask("subagent_wait", { run_id });
  expect(door?.question).toContain("Which door?");
  await ask("subagent_send", { run_id, question_id: door?.question_id, allow: false });
  expect(await ask("subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "found" });
  expect(runner.sessions[0]?.told).toEqual([
    { type: "answer", question: "floor", text: "the third" },
    { type: "answer", question: "door", text: null },
  ]);
});
