/** The extension `io.modelcontextprotocol/tasks`: a `subagent` call gives a task, whose id is that of its run. */

import { expect, it } from "vitest";
import { slowly, writing, wordOf } from "./children.ts";
import { openProject } from "./mcp-errand.ts";
import { connectRaw, type RawClient } from "./raw-client.ts";

const DECLARED = { "io.modelcontextprotocol/tasks": {} };
type Task = { readonly taskId: string; readonly status: string; readonly [field: string]: unknown };

async function create(client: RawClient, task: string): Promise<Task> {
  const params = { name: "subagent", arguments: { task } };
  const { result } = await client.request("tools/call", params, DECLARED);
  expect(result).toMatchObject({ resultType: "task", ttlMs: null, pollIntervalMs: expect.any(Number) as number });
  return result as Task;
}

async function get(client: RawClient, taskId: string): Promise<Task> {
  return (await client.request("tasks/get", { taskId }, DECLARED)).result as Task;
}

it("gives tasks to a client that declares them: create, get, answer, cancel, refuse", async () => {
  const slow = slowly();
  const project = await openProject((call) => (wordOf(call.body) === "slow" ? slow.script(call) : writing(call)));
  const client = connectRaw(project);

  const { taskId } = await create(client, "Count: one");
  await expect.poll(() => get(client, taskId), { timeout: 20_000 }).toMatchObject({ status: "input_required" });
  const { inputRequests } = (await get(client, taskId)) as unknown as { readonly inputRequests: object };
  const [question = "", asked] = Object.entries(inputRequests)[0] ?? [];
  expect(asked).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
  expect(JSON.stringify(asked)).toContain("note.txt");
  const wrong = await client.request("tasks/update", { taskId, inputResponses: { [question]: "yes" } }, DECLARED);
  expect(wrong.error).toMatchObject({ code: -32_602 });
  const long = { [question]: { action: "accept", content: { allow: true, note: "x".repeat(300_000) } } };
  const tooLong = await client.request("tasks/update", { taskId, inputResponses: long }, DECLARED);
  expect(tooLong.error).toMatchObject({ code: -32_602, message: expect.stringContaining("text") as string });
  expect(await get(client, taskId)).toMatchObject({ status: "input_required" });
  const inputResponses = { [question]: { action: "accept", content: { allow: true } } };
  expect((await client.request("tasks/update", { taskId, inputResponses }, DECLARED)).error).toBeUndefined();
  await expect
    .poll(() => get(client, taskId), { timeout: 20_000 })
    .toMatchObject({
      status: "completed",
      result: { structuredContent: { status: "completed", run_id: taskId } },
    });

  const refused = await create(client, "Count: two");
  await expect.poll(() => get(client, refused.taskId), { timeout: 20_000 }).toMatchObject({ status: "input_required" });
  const open = (await get(client, refused.taskId)) as unknown as { readonly inputRequests: object };
  const decline = Object.fromEntries(Object.keys(open.inputRequests).map((id) => [id, { action: "decline" }]));
  await client.request("tasks/update", { taskId: refused.taskId, inputResponses: decline }, DECLARED);
  await expect.poll(() => get(client, refused.taskId), { timeout: 20_000 }).toMatchObject({ status: "completed" });
  expect(JSON.stringify(await get(client, refused.taskId))).not.toContain("bytes");

  const slowTask = await create(client, "Count: slow");
  await slow.asked(1);
  expect(await get(client, slowTask.taskId)).toMatchObject({ status: "working" });
  expect((await client.request("tasks/cancel", { taskId: slowTask.taskId }, DECLARED)).error).toBeUndefined();
  await expect.poll(() => get(client, slowTask.taskId)).toMatchObject({ status: "cancelled" });

  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const params = { inputResponses: {} };
    const unknown = await client.request(method, { ...params, taskId: "none" }, DECLARED);
    expect(unknown.error, method).toMatchObject({ code: -32_602 });
    const undeclared = await client.request(method, { ...params, taskId }, {});
    expect(undeclared.error, method).toMatchObject({ code: -32_021 });
  }
  const plain = await client.request("tools/call", { name: "subagent_list", arguments: {} }, {});
  expect(plain.result).toMatchObject({ structuredContent: { runs: [{}, {}, {}] } });
});
