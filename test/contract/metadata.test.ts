import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { DelegationRecord } from "../../src/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
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
  const [run] = await errand.runs();
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
    },
  ]);
  stop();
});

test("F8: a refused delegation emits too, under its call", async () => {
  const { errand } = await openTestErrand(
    { parent: byContext([callTool("subagent", { task: "x" }, "call-7"), say("done")]) },
    { subagentEnabled: false },
  );
  const records: DelegationRecord[] = [];
  errand.onDelegation((record) => records.push(record));
  await (await errand.openAgent()).postAndAwait("go");
  expect(records).toMatchObject([{ correlation_id: "call-7", status: "refused", started_at: null, duration_ms: 0 }]);
});
