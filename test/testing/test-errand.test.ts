import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { tool } from "../../src/index.ts";
import {
  byTask,
  callTool,
  createTestErrand,
  delayed,
  delegate,
  errandMatchers,
  type ErrandMatchers,
  gate,
  report,
  requestText,
  say,
  startInBackground,
  type TestErrand,
  type TestErrandOptions,
} from "../../src/testing/index.ts";
import { temporaryStore } from "../support/test-errand.ts";

expect.extend(errandMatchers);

declare module "vitest" {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends ErrandMatchers {}
}

async function open(options: TestErrandOptions): Promise<TestErrand> {
  const opened = await createTestErrand(options);
  onTestFinished(() => opened.close());
  return opened;
}

test("agents reply by their names, and what they were asked can be read", async () => {
  const { errand, requests } = await open({
    replies: { orchestrator: [delegate("count the words"), say("812 words")], worker: [report("812")] },
  });
  const { text, runs, tree } = await errand.run("How long is my draft?");
  expect(text).toBe("812 words");
  expect(requestText(requests("worker")[0])).toContain("count the words");
  expect(requestText(requests("orchestrator")[1])).toContain("812");
  await expect(errand).toHaveEndedOnce(runs[0]?.id ?? "");
  await expect(errand).toHaveDelivered(runs[0]?.id ?? "");
  await expect(errand).toReplay(tree);
});

test("each child of an agent begins with the first reply of a list, or has the script of its task", async () => {
  const { errand } = await open({
    replies: {
      orchestrator: [startInBackground(["alpha", "beta"]), say("started"), say("both are done")],
      worker: byTask({ alpha: [say("hm"), report("A")], beta: () => report("B") }),
    },
  });
  const { runs, text } = await errand.run("Do both.");
  expect(text).toContain("both are done");
  const results = await Promise.all(runs.map(({ id }) => errand.result(id)));
  expect(results.join()).toMatch(/A.*B/s);
});

test("an agent never calls another model than its script, whatever the options name", async () => {
  const { errand, requests } = await open({
    agents: { poet: { prompt: "You write.", model: "anthropic/claude-sonnet-5-5" } },
    replies: { poet: [say("A poem.")] },
  });
  expect((await errand.run("Write.", { agent: "poet" })).text).toBe("A poem.");
  expect(requests("poet")).toHaveLength(1);
  await expect(errand.run("Write.")).rejects.toThrow('"orchestrator" has no replies in this test.');
  await expect(createTestErrand({ replies: { nobody: [] } })).rejects.toThrow("no agent has that name");
});

test.each(["memory", "file"] as const)(
  "a crash drops what was not committed, and the task goes on: %s",
  async (kind) => {
    const held = gate();
    let calls = 0;
    const pay = tool({
      name: "pay",
      description: "Pays.",
      run: async () => {
        calls += 1;
        if (calls === 1) await held.passed;
        return "receipt";
      },
      recover: () => ({ happened: false }),
    });
    const path = temporaryStore();
    const opened = await open({
      store: kind === "memory" ? "memory" : path,
      tools: [pay],
      replies: { orchestrator: [delegate("pay"), say("paid")], worker: [callTool("pay", {}), report("done")] },
    });
    const stream = opened.errand.stream("Pay the bill.", { key: "bill" });
    for await (const event of stream) if (event.type === "tool-started" && event.tool === "pay") break;
    const before = opened.errand;
    const after = await opened.crash();
    held.open();
    expect(after).not.toBe(before);
    expect(opened.errand).toBe(after);
    const { text, runs, tree } = await after.run("Pay the bill.", { key: "bill" });
    expect(text).toBe("paid");
    expect(calls).toBe(2);
    expect(runs).toHaveLength(1);
    await expect(after).toHaveEndedOnce(runs[0]?.id ?? "");
    await expect(after).toHaveDelivered(runs[0]?.id ?? "");
    await expect(after).toHaveCalledTool(tree, "pay");
    await expect(after).toReplay(tree);
    expect(existsSync(path)).toBe(kind === "file");
  },
);

test("what was awaited of the dropped runtime never settles", async () => {
  const opened = await open({ replies: { orchestrator: [delayed(1_000, "late")] } });
  let settled = false;
  const settle = (): void => void (settled = true);
  opened.errand.run("Hello").then(settle, settle);
  await opened.world.rest();
  await opened.crash();
  await opened.world.advance(60_000);
  expect(settled).toBe(false);
  const [tree] = await opened.errand.listTrees();
  await (await opened.errand.agent(tree?.id ?? "")).settled();
  expect(opened.requests("orchestrator")).toHaveLength(2);
});

test("the dropped runtime writes nothing more", async () => {
  const held = gate();
  const wait = tool({ name: "wait", description: "Waits.", run: () => held.passed });
  const opened = await open({
    recover: false,
    tools: [wait],
    replies: { orchestrator: [callTool("wait", {}), say("done")] },
  });
  for await (const { type } of opened.errand.stream("Wait.")) if (type === "tool-started") break;
  const before = await opened.errand.listTrees();
  await opened.crash();
  held.open();
  await opened.world.advance(60_000);
  expect(await opened.errand.listTrees()).toEqual(before);
  expect(opened.requests("orchestrator")).toHaveLength(1);
});

test("the clock moves from timer to timer until a promise is settled", async () => {
  const { errand, world } = await open({
    replies: { orchestrator: [delegate("slow"), say("too slow")], worker: [delayed(3_600_000, report("late"))] },
  });
  const began = world.wall();
  const { runs } = await world.until(errand.run("Do it."));
  expect(runs[0]?.status).toBe("timeout");
  expect(world.wall() - began).toBeGreaterThanOrEqual(120_000);
  expect(world.wall() - began).toBeLessThan(3_600_000);
  await expect(world.until(Promise.reject(new Error("no")))).rejects.toThrow("no");
});

test("the matchers say what was found", async () => {
  const { errand } = await open({
    replies: { orchestrator: [delegate("fail"), say("it failed")], worker: () => callTool("no_such_tool", {}) },
  });
  const { runs, tree } = await errand.run("Do it.");
  const run = runs[0]?.id ?? "";
  await expect(expect(errand).toHaveEndedOnce(run)).rejects.toThrow(
    /to have ended once with "ok": it ended once: error/,
  );
  await expect(errand).toHaveEndedOnce(run, "error");
  await expect(expect(errand).toHaveCalledTool(tree, "pay")).rejects.toThrow(
    "pay to have been called once: it was called 0 times",
  );
  await expect(errand).not.toHaveCalledTool(tree, "pay");
  const unread = await (await errand.agent(tree)).spawn({ task: "again", announce: "none" });
  await unread.outcome();
  await expect(expect(errand).toHaveDelivered(unread.id)).rejects.toThrow(
    'it did 0 times, and its delivery is "returned"',
  );
});
