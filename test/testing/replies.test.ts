import { expect, onTestFinished, test } from "vitest";
import { tool } from "../../src/index.ts";
import {
  attempts,
  createScriptedModel,
  createTestErrand,
  delayed,
  delegate,
  fail,
  misbehaving,
  report,
  requestText,
  say,
  type Script,
  streamed,
} from "../../src/testing/index.ts";

const look = tool({ name: "look", description: "Looks.", safe: true, run: () => "nothing" });

/** A parent that gives one task to a child, which follows the script. */
async function delegating(worker: Script) {
  const opened = await createTestErrand({
    tools: [look],
    replies: { orchestrator: [delegate("the task"), say("the child came back")], worker },
  });
  onTestFinished(() => opened.close());
  const result = await opened.world.until(opened.errand.run("Delegate."));
  const [run] = result.runs;
  return { ...opened, result, run, told: requestText(opened.requests("orchestrator")[1]) };
}

test("another reply for each attempt of a call", async () => {
  const { run, requests } = await delegating([
    attempts(fail({ retryable: true }), fail({ retryable: true }), report("ok")),
  ]);
  expect(run?.status).toBe("ok");
  expect(requests("worker")).toHaveLength(3);
});

test("a reply that arrives in pieces, with pauses", async () => {
  const opened = await createTestErrand({
    replies: { orchestrator: [streamed(["Once", " upon", " a time"], { everyMs: 1_000 })] },
  });
  onTestFinished(() => opened.close());
  const began = opened.world.wall();
  const pieces: (readonly [string, number])[] = [];
  opened.errand.onText(({ text }) => pieces.push([text, opened.world.wall() - began]));
  expect((await opened.world.until(opened.errand.run("Tell."))).text).toBe("Once upon a time");
  expect(pieces).toEqual([
    ["Once", 1_000],
    [" upon", 2_000],
    [" a time", 3_000],
  ]);
});

test("without a world, a reply that takes time fails with the reason", async () => {
  const model = createScriptedModel([delayed(10, "late")]);
  const call = model.call(
    { model: "m", system: "", tools: [], messages: [{ role: "user", text: "Hi" }] },
    { signal: new AbortController().signal },
  );
  await expect(call).rejects.toThrow("needs a world");
});

const CHILDREN: readonly (readonly [string, Script, { readonly status: string; readonly report: string }, RegExp])[] = [
  ["never reports", misbehaving.neverReports("Busy."), { status: "ok", report: "salvaged" }, /Busy\./],
  ["hangs", misbehaving.hangs(), { status: "timeout", report: "missing" }, /timed? ?out|timeout/i],
  ["loops", misbehaving.loops("look"), { status: "error", report: "missing" }, /iteration/i],
  ["crashes", misbehaving.crashes("No power."), { status: "error", report: "missing" }, /No power\./],
  ["sends odd values", misbehaving.oddValues(), { status: "ok", report: "tool" }, /gpj|npp|exe/],
  ["is endless", misbehaving.endless(), { status: "error", report: "missing" }, /reply-limit|too long|longer|tokens/i],
];

test.each(CHILDREN)("a child that %s comes back to its parent", async (_name, script, expected, words) => {
  const { result, run, told } = await delegating(script);
  expect(result.text).toBe("the child came back");
  expect(run).toMatchObject({ ...expected, delivery: "placed" });
  expect(told).toMatch(words);
});
