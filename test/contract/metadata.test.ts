import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { DelegationRecord } from "../../src/index.ts";
import { byContext, callTool, fail, say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";

const task = `  Look here,\r\nand there. ${"x".repeat(100)}`;

test("F8: every delegation emits its correlation id, task hash and preview, start, duration and status", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([callTool("subagent", { task }), say("done")]),
    child: byContext([callTool("send_agent_message", { text: "found" }), say("end")]),
  });
  const records: DelegationRecord[] = [];
  const stop = errand.onDelegation((record) => records.push(record));
  await (await errand.openAgent()).postAndAwait("go");
  const [run] = await errand.listRuns();
  const hash = createHash("sha256").update(task.replaceAll("\r\n", "\n").trim()).digest("base64url");
  expect(records).toEqual([
    {
      tree: run?.tree,
      correlation_id: run?.id,
      task_hash: hash,
      task_preview: task.slice(0, 80),
      started_at: run?.startedAt,
      duration_ms: (run?.endedAt ?? 0) - (run?.startedAt ?? 0),
      status: "ok",
      reason: null,
      error: null,
      closed: null,
    },
  ]);
  stop();
});

test("F8: a refused delegation emits too, under its call, with reason and error", async () => {
  const { errand } = await openTestErrand(
    {
      parent: byContext([
        callTool("subagent", { task: "x" }, "call-7"),
        callTool("start_background_agent", { task: "y" }, "call-8"),
        callTool("subagent", { colour: "red" }, "call-9"),
        say("done"),
      ]),
    },
    { subagentEnabled: false },
  );
  const records: DelegationRecord[] = [];
  errand.onDelegation((record) => records.push(record));
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await expect(agent.spawn({ id: "spawn-1", task: "z" })).rejects.toMatchObject({ code: "usage" });
  const disabled = { reason: "not-enabled", error: "subagent is not enabled in this phase" };
  expect(records).toMatchObject([
    { correlation_id: "call-7", task_preview: "x", ...disabled },
    { correlation_id: "call-8", task_preview: "y", ...disabled },
    { correlation_id: "call-9", task_preview: "", reason: "invalid-arguments" },
    { correlation_id: "spawn-1", task_preview: "z", ...disabled },
  ]);
  expect(records[2]?.error).toContain("`task` is missing");
  for (const record of records)
    expect(record).toMatchObject({ status: "refused", started_at: null, duration_ms: 0, closed: null });
});

test("F8: a run that failed emits its reason and its provider's words", async () => {
  const { errand } = await openTestErrand({
    parent: byContext([callTool("subagent", { task: "x" }), say("done")]),
    child: () => fail({ message: "no credit" }),
  });
  const records: DelegationRecord[] = [];
  errand.onDelegation((record) => records.push(record));
  await (await errand.openAgent()).postAndAwait("go");
  expect(records).toMatchObject([{ status: "error", reason: "provider-error", error: "no credit" }]);
});
