/** A handle belongs to the folder: it outlives its client, its server, and works in other servers. */

import { expect, it } from "vitest";
import { reporting, slowly, wordOf } from "./children.ts";
import { call, connect, openProject } from "./mcp-errand.ts";

it("goes on with the runs of a killed server, and gives each result once", async () => {
  const { script, asked, letGo } = slowly();
  const project = await openProject(script);
  const first = await connect(project);
  const handles: string[] = [];
  for (const word of ["one", "two", "three"]) {
    const { output } = await call(first, "subagent_start", { task: `Count: ${word}`, key: word });
    handles.push(output.run_id);
  }
  await asked(3);
  process.kill(first.pid, "SIGKILL");
  letGo();

  const second = await connect(project);
  const listed = (await call(second, "subagent_list", {})).output["runs"] as { readonly run_id: string }[];
  expect(listed.map(({ run_id }) => run_id).toSorted()).toEqual(handles.toSorted());
  const again = await call(second, "subagent_start", { task: "Count: one", key: "one" });
  expect(again.output.run_id).toBe(handles[0]);
  const results = await Promise.all(handles.map((run_id) => call(second, "subagent_wait", { run_id })));
  expect(results.map(({ output }) => output.summary)).toEqual(["result of one", "result of two", "result of three"]);
});

it("finishes its runs when the client goes away, and then ends", async () => {
  const { script, asked, letGo } = slowly();
  const project = await openProject(script);
  const first = await connect(project);
  const { output } = await call(first, "subagent_start", { task: "Count: one" });
  await asked(1);
  // As a client that dies: its end of the pipes is closed, and the server gets no signal.
  const gone = first.hangUp();
  letGo();
  await gone;
  const second = await connect(project);
  expect(await call(second, "subagent_wait", { run_id: output.run_id, timeout_seconds: 0 })).toMatchObject({
    output: { status: "completed", summary: "result of one" },
  });
  expect(project.models.calls.length).toBe(1);
});

it("knows the runs of another server of the folder: looks, waits, sends, cancels, same key", async () => {
  const { script, asked, letGo } = slowly();
  const project = await openProject(script);
  const first = await connect(project);
  const second = await connect(project);
  const one = await call(first, "subagent_start", { task: "Count: one", key: "one" });
  const two = await call(first, "subagent_start", { task: "Count: two" });
  await asked(2);
  const look = await call(second, "subagent_wait", { run_id: one.output.run_id, timeout_seconds: 0 });
  expect(look.output).toMatchObject({ status: "working", run_id: one.output.run_id });
  const same = await call(second, "subagent_start", { task: "Count: one", key: "one" });
  expect(same.output.run_id).toBe(one.output.run_id);
  const other = await call(second, "subagent_start", { task: "Count: other", key: "one" });
  expect(other).toMatchObject({ failed: true, output: { reason: "id-reused" } });
  const sent = await call(second, "subagent_send", { run_id: one.output.run_id, text: "Hurry." });
  expect(sent.failed).toBe(false);
  await call(second, "subagent_cancel", { run_id: two.output.run_id });
  await expect
    .poll(async () => (await call(first, "subagent_wait", { run_id: two.output.run_id, timeout_seconds: 0 })).output)
    .toMatchObject({ status: "cancelled" });
  const waiting = call(second, "subagent_wait", { run_id: one.output.run_id });
  letGo();
  expect((await waiting).output).toMatchObject({ status: "completed", summary: "result of one" });
  expect(project.models.calls.filter(({ body }) => wordOf(body) === "two")).toHaveLength(1);
});

it("takes over the open runs of a server that was killed beside it", async () => {
  const { script, asked, letGo } = slowly();
  const project = await openProject(script);
  const first = await connect(project);
  const second = await connect(project);
  const { output } = await call(second, "subagent_start", { task: "Count: one" });
  await asked(1);
  process.kill(second.pid, "SIGKILL");
  letGo();
  const result = await call(first, "subagent_wait", { run_id: output.run_id });
  expect(result.output).toMatchObject({ status: "completed", summary: "result of one" });
});

it("works beside an errand of the same folder that has another store file", async () => {
  const project = await openProject(reporting);
  const servers = [await connect(project), await connect(project), await connect(project)];
  const outputs = await Promise.all(
    servers.map((server, number) => call(server, "subagent", { task: `Count: n${number}` })),
  );
  expect(outputs.map(({ output }) => output.summary)).toEqual(["result of n0", "result of n1", "result of n2"]);
});
