import { expect, it } from "vitest";
import { reporting, slowly } from "./children.ts";
import { call, connect, openProject } from "./mcp-errand.ts";

const TOOLS = ["subagent", "subagent_start", "subagent_wait", "subagent_send", "subagent_cancel", "subagent_list"];

it("gives a client the tools, progress, and the result of a run", async () => {
  const project = await openProject(reporting);
  const server = await connect(project);
  const { tools } = await server.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  const lines: unknown[] = [];
  const result = await server.client.callTool(
    { name: "subagent", arguments: { task: "Count: one" } },
    { onprogress: (progress) => lines.push(progress) },
  );
  expect(result).toMatchObject({ structuredContent: { status: "completed", summary: "result of one" } });
  expect(result["isError"]).toBeUndefined();
  expect(lines).toContainEqual(expect.objectContaining({ progress: 1 }));
});

it("reads results and transcripts as resources, in parts", async () => {
  const project = await openProject(reporting);
  const server = await connect(project);
  const { output } = await call(server, "subagent", { task: "Count: big" });
  expect(output).toMatchObject({ status: "completed", cut: { next_offset: expect.any(Number) as number } });
  const { resources } = await server.client.listResources();
  const uris = resources.map(({ uri }) => uri);
  expect(uris).toEqual([`errand://runs/${output.run_id}/result`, `errand://runs/${output.run_id}/transcript`]);
  let whole = "";
  for (let uri: string | undefined = uris[0]; uri !== undefined;) {
    const { contents } = await server.client.readResource({ uri });
    const text = (contents[0] as { readonly text: string }).text;
    const [, part = "", next] = /^([^]*?)(?:\n\[cut: \d+ bytes in all; go on with (\S+)\])?$/.exec(text) ?? [];
    whole += part;
    uri = next;
  }
  expect(whole).toContain(`result of big ${"x".repeat(100_000)}`);
  await expect(server.client.readResource({ uri: "errand://runs/none/result" })).rejects.toThrow(
    "There is no resource",
  );
  await expect(server.client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow("There is no resource");
});

it("refuses wrong arguments and unknown tools in words", async () => {
  const project = await openProject(reporting);
  const server = await connect(project);
  const { output, failed } = await call(server, "subagent", { task: "Count: one", agnt: "worker" });
  expect(failed).toBe(true);
  expect(output).toMatchObject({ status: "refused", reason: "invalid-arguments" });
  expect(output["error"]).toContain("agnt");
  await expect(server.client.callTool({ name: "shell", arguments: {} })).rejects.toThrow('There is no tool "shell"');
  expect(await call(server, "subagent_wait", { run_id: "none" })).toMatchObject({
    failed: true,
    output: { status: "refused", reason: "run-unknown" },
  });
});

it("gives a repeated subagent_start with the same key the same run", async () => {
  const project = await openProject(reporting);
  const server = await connect(project);
  const input = { task: "Count: one", key: "count" };
  const both = await Promise.all([call(server, "subagent_start", input), call(server, "subagent_start", input)]);
  const ids = both.map(({ output }) => output.run_id);
  expect(new Set(ids).size).toBe(1);
  const other = await call(server, "subagent_start", { task: "Count: two", key: "count" });
  expect(other).toMatchObject({ failed: true, output: { reason: "id-reused" } });
});

it("cancels the run of a call that the client cancels", async () => {
  const { script, asked } = slowly();
  const project = await openProject(script);
  const server = await connect(project);
  const abort = new AbortController();
  const cancelled = server.client.callTool(
    { name: "subagent", arguments: { task: "Count: one" } },
    { signal: abort.signal },
  );
  const rejected = expect(cancelled).rejects.toThrow();
  await asked(1);
  abort.abort("not wanted any more");
  await rejected;
  await expect
    .poll(async () => (await call(server, "subagent_list", {})).output["runs"])
    .toMatchObject([{ status: "cancelled" }]);
});
