/** The host tools: runs, results, failures, arguments, handles, questions. */

import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { HostListOutput, HostProgress, HostRunOutput, HostTools } from "../../src/index.ts";
import { callTool, fail, hang, say, type Script } from "../../src/testing/index.ts";
import { gate, report } from "../support/scripted-replies.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";

const reports =
  (text: string): Script =>
  () =>
    report(text, { final: true });

async function open(child: Script, options: Parameters<typeof openTestErrand>[1] = {}) {
  const { errand } = await openTestErrand({ parent: () => fail(), child }, options);
  const tools = errand.hostTools({ agents: ["worker", "researcher"], background: true });
  return { errand, tools };
}

/** The output of a call about one run. */
async function ask(tools: HostTools, name: string, input: unknown): Promise<HostRunOutput> {
  return (await tools.call(name, input)).output as HostRunOutput;
}

test("only subagent is there by default, and names the agents that are allowed", async () => {
  const { errand } = await open(reports("x"));
  const alone = errand.hostTools({ agents: ["researcher"] });
  expect(alone.tools.map(({ name }) => name)).toEqual(["subagent"]);
  const [tool] = alone.tools;
  expect(tool?.description).toContain("- researcher");
  expect(tool?.description).not.toContain("worker");
  expect(tool?.inputSchema.properties["agent"]).toMatchObject({ enum: ["researcher"] });
  expect(errand.hostTools({ background: true }).tools.map(({ name }) => name)).toEqual([
    "subagent",
    "subagent_start",
    "subagent_wait",
    "subagent_send",
    "subagent_cancel",
    "subagent_list",
  ]);
});

test("an agent that does not exist is refused when the tools are made", async () => {
  const { errand } = await open(reports("x"));
  expect(() => errand.hostTools({ agents: ["nobody"] })).toThrow(/There is no agent definition "nobody"/);
  expect(() => errand.hostTools({ agents: [] })).toThrow(/no agent/);
});

test("subagent waits for the run and gives its result", async () => {
  const { errand, tools } = await open(reports("Three files."));
  const { failed, output, text } = await tools.call("subagent", { task: "Count the files." });
  expect(failed).toBe(false);
  expect(output).toMatchObject({
    status: "completed",
    agent: "worker",
    name: "Count the files.",
    summary: "Three files.",
  });
  expect(JSON.parse(text)).toEqual(output);
  const [run] = await errand.listRuns();
  expect(output).toMatchObject({ run_id: run?.id });
  expect((await errand.replay(run?.tree ?? "")).difference).toBeNull();
});

test("subagent with a schema gives typed data", async () => {
  const { tools } = await open(() =>
    callTool("send_agent_message", { text: "Rome.", data: { city: "Rome" }, final: true }),
  );
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  for (const output_schema of [schema, JSON.stringify(schema)])
    expect((await tools.call("subagent", { task: "Where?", output_schema })).output).toMatchObject({
      status: "completed",
      data: { city: "Rome" },
    });
});

test("a run that fails, runs out of time or reaches a limit is never completed", async () => {
  const failing = await open(() => fail({ message: "no credit" }));
  const { failed, output } = await failing.tools.call("subagent", { task: "x" });
  expect(failed).toBe(true);
  expect(output).toMatchObject({ status: "failed", reason: "provider-error" });
  expect(output.error).toContain("no credit");

  const slow = await open(() => hang());
  expect((await slow.tools.call("subagent", { task: "x", timeout_seconds: 1 })).output).toMatchObject({
    status: "timed_out",
  });

  const endless = await open(() => callTool("look", {}));
  expect((await endless.tools.call("subagent", { task: "x", max_iterations: 2 })).output).toMatchObject({
    status: "failed",
    reason: "iteration-limit",
  });
});

test.each<readonly [string, unknown, string]>([
  ["subagent", {}, "`task` is missing"],
  ["subagent", "not JSON", "not valid JSON"],
  ["subagent", null, "must be a JSON object"],
  ["subagent", { task: "x", agent: "orchestrator" }, "`agent` must be one of worker, researcher"],
  ["subagent", { task: "x", extra: 1 }, "`extra` is not known here"],
  ["subagent", { task: " " }, "the task is empty"],
  ["subagent", { task: "x", output_schema: "nonsense" }, "JSON text of an object"],
  ["subagent", { task: "x", output_schema: '{"pattern":"a"}' }, "pattern"],
  ["subagent", { task: () => "x" }, "`task` is missing"],
  ["subagent_wait", { run_id: "../.." }, "There is no run"],
  ["subagent_wait", { run_id: "x", timeout_seconds: -1 }, "at least 0"],
  ["subagent_cancel", { run_id: "00000000-0000-7000-8000-000000000000" }, "There is no run"],
  ["subagent_send", { run_id: "x" }, "There is no run"],
  ["subagent_list", { state: "lost" }, "must be one of"],
  ["subagent_fly", {}, 'There is no tool "subagent_fly"'],
])("%s with the arguments %j is refused in words", async (name, input, words) => {
  const { errand, tools } = await open(reports("x"));
  const { failed, output } = await tools.call(name, input);
  expect(failed).toBe(true);
  expect(output.status).toBe("refused");
  expect(output.error).toContain(words);
  expect(await errand.listRuns()).toEqual([]);
});

test("runs that no host started, and runs of other agents, cannot be named or listed", async () => {
  const { errand, tools } = await open(reports("x"));
  const agent = await errand.openAgent();
  const spawned = await agent.spawn({ task: "of a conversation", announce: "none" });
  const own = await ask(tools, "subagent_start", { task: "mine", agent: "researcher" });
  const others = errand.hostTools({ agents: ["worker"], background: true });
  for (const [from, run_id] of [
    [tools, spawned.id],
    [others, own.run_id],
  ] as const) {
    for (const name of ["subagent_wait", "subagent_cancel", "subagent_send"])
      expect(
        (await from.call(name, { run_id, ...(name === "subagent_send" ? { text: "x" } : {}) })).output,
      ).toMatchObject({
        status: "refused",
        reason: "run-unknown",
      });
    await expect(from.look(run_id ?? "")).rejects.toMatchObject({ code: "run-unknown" });
    await expect(from.result(run_id ?? "")).rejects.toMatchObject({ code: "run-unknown" });
    await expect(from.transcript(run_id ?? "")).rejects.toMatchObject({ code: "run-unknown" });
  }
  expect((await others.list()).runs).toEqual([]);
  expect((await tools.list()).runs).toMatchObject([{ run_id: own.run_id }]);
});

test("progress is told line by line, and a listener that throws breaks nothing", async () => {
  const told: string[] = [];
  const child: Script = (_request, { replies }) =>
    replies === 0 ? callTool("look", { path: "a\nb" }) : report("done", { final: true });
  const { tools } = await open(child, { onFailure: ({ code }) => told.push(code) });
  const lines: HostProgress[] = [];
  const { output } = await tools.call(
    "subagent",
    { task: "Look around." },
    {
      onProgress(progress) {
        lines.push(progress);
        throw new Error("listener");
      },
    },
  );
  expect(output).toMatchObject({ status: "completed" });
  expect(lines.map(({ text }) => text)).toEqual([
    "Look around.: given to worker",
    "Look around.: started",
    "Look around.: look a b",
    "Look around.: reported",
    "Look around.: completed successfully",
  ]);
  expect(lines.map(({ count }) => count)).toEqual([1, 2, 3, 4, 5]);
  expect(new Set(lines.map(({ run_id }) => run_id))).toEqual(new Set([(output as HostRunOutput).run_id]));
  expect(told).toEqual(["listener-failed"]);
});

test("a run is started, looked at, waited for, and read again", async () => {
  const door = gate();
  const { tools } = await open(async () => {
    await door.passed;
    return report("late news", { final: true });
  });
  const started = await ask(tools, "subagent_start", { task: "Slow work.", label: "Slow" });
  expect(started).toMatchObject({ status: "working", agent: "worker", name: "Slow" });
  const { run_id } = started;
  expect(await ask(tools, "subagent_wait", { run_id, timeout_seconds: 0 })).toMatchObject({
    status: "working",
    activity: "Slow: thinking",
  });
  expect(await ask(tools, "subagent_wait", { run_id, timeout_seconds: 1 })).toMatchObject({ status: "working" });
  const lines: string[] = [];
  const waiting = tools.call("subagent_wait", { run_id }, { onProgress: ({ text }) => lines.push(text) });
  door.open();
  const ended = (await waiting).output as HostRunOutput;
  expect(lines).toEqual(["Slow: reported", "Slow: completed successfully"]);
  expect(ended).toMatchObject({ status: "completed", summary: "late news" });
  expect(await ask(tools, "subagent_wait", { run_id, timeout_seconds: 0 })).toEqual(ended);
  expect((await tools.look(run_id ?? "")).output).toEqual(ended);
});

test("the signal ends a wait and cancels nothing", async () => {
  const { tools } = await open(() => hang());
  const { run_id } = await ask(tools, "subagent_start", { task: "x" });
  const stop = new AbortController();
  const waiting = tools.call("subagent_wait", { run_id }, { signal: stop.signal });
  stop.abort();
  expect((await waiting).output).toMatchObject({ status: "working" });
  expect((await tools.look(run_id ?? "")).output).toMatchObject({ status: "working" });
});

test("the signal cancels the run of a subagent call", async () => {
  const { errand, tools } = await open(() => hang());
  const stop = new AbortController();
  const calling = tools.call("subagent", { task: "x" }, { signal: stop.signal, onProgress: () => stop.abort() });
  expect(await calling).toMatchObject({ failed: true, output: { status: "cancelled" } });
  expect(await errand.listRuns()).toMatchObject([{ state: "ended", status: "cancelled" }]);
  expect((await tools.call("subagent", { task: "x" }, { signal: stop.signal })).output).toMatchObject({
    status: "refused",
  });
  expect(await errand.listRuns()).toHaveLength(1);
});

test("subagent_cancel ends a run and all below it, and says how an ended run ended", async () => {
  const child: Script = (_request, { task }) => (task === "outer" ? callTool("subagent", { task: "inner" }) : hang());
  const { errand, tools } = await open(child);
  const { run_id } = await ask(tools, "subagent_start", { task: "outer" });
  await expect.poll(async () => (await errand.listRuns()).length).toBe(2);
  expect(await ask(tools, "subagent_cancel", { run_id })).toMatchObject({ status: "cancelled" });
  expect((await errand.listRuns()).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  expect(await ask(tools, "subagent_cancel", { run_id })).toMatchObject({ status: "cancelled" });
});

test("subagent_send reaches the agent in its turn; an ended run takes nothing", async () => {
  const door = gate();
  const child: Script = async (request, { replies }) => {
    if (replies === 0) return callTool("look", {});
    const words = JSON.stringify(request.messages);
    return report(words.includes("Use metres.") ? "In metres." : "In feet.", { final: true });
  };
  const look = lookTool(async () => {
    await door.passed;
    return { text: "saw it", failed: false };
  });
  const { tools } = await open(child, { tools: [look] });
  const { run_id } = await ask(tools, "subagent_start", { task: "Measure." });
  await expect.poll(async () => (await tools.look(run_id ?? "")).output.activity).toBe("Measure.: look");
  expect(await ask(tools, "subagent_send", { run_id, text: "Use metres." })).toMatchObject({ status: "working" });
  door.open();
  expect(await ask(tools, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "In metres." });
  expect(await ask(tools, "subagent_send", { run_id, text: "Thanks." })).toMatchObject({
    status: "refused",
    reason: "agent-unknown",
  });
});

test("a question is told as input_required, waits as long as it must, and is answered by subagent_send", async () => {
  const child: Script = (_request, { replies }) =>
    replies === 0 ? callTool("look", { path: "secret.txt" }) : report("I looked.", { final: true });
  const { tools } = await open(child, { permissions: [] });
  const asked = await ask(tools, "subagent", { task: "Look." });
  const { run_id, questions: [question] = [] } = asked;
  expect(asked).toMatchObject({ status: "input_required", questions: [{ asked_by: "Look.", tool: "look" }] });
  expect(question?.question).toContain("secret.txt");
  const question_id = question?.question_id;
  expect(await ask(tools, "subagent_wait", { run_id })).toMatchObject({ status: "input_required" });
  expect((await tools.list()).runs).toMatchObject([{ run_id, status: "input_required" }]);
  expect(await ask(tools, "subagent_send", { run_id, question_id })).toMatchObject({ status: "refused" });
  expect(await ask(tools, "subagent_send", { run_id, allow: true })).toMatchObject({ status: "refused" });
  const other = await ask(tools, "subagent_start", { task: "Another." });
  expect(await ask(tools, "subagent_send", { run_id: other.run_id, question_id, allow: true })).toMatchObject({
    status: "refused",
    reason: "question-closed",
  });
  expect((await ask(tools, "subagent_send", { run_id, question_id, allow: true })).status).not.toBe("refused");
  expect(await ask(tools, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "I looked." });
  expect(await ask(tools, "subagent_send", { run_id, question_id, allow: true })).toMatchObject({
    status: "refused",
    reason: "question-closed",
  });
});

test("a refusal reaches the agent with its words", async () => {
  const child: Script = (request, { replies }) =>
    replies === 0
      ? callTool("look", {})
      : report(JSON.stringify(request.messages).includes("Not there.") ? "refused" : "allowed", { final: true });
  const { tools } = await open(child, { permissions: [] });
  const { run_id, questions: [question] = [] } = await ask(tools, "subagent", { task: "Look." });
  const { question_id } = question ?? {};
  await ask(tools, "subagent_send", { run_id, question_id, allow: false, text: "Not there." });
  expect(await ask(tools, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "refused" });
});

test("without background, subagent waits through a question that the program answers", async () => {
  const child: Script = (_request, { replies }) =>
    replies === 0 ? callTool("look", {}) : report("I looked.", { final: true });
  const { errand } = await open(child, { permissions: [] });
  const lines: string[] = [];
  const calling = errand
    .hostTools()
    .call("subagent", { task: "Look." }, { onProgress: ({ text }) => lines.push(text) });
  await expect.poll(async () => (await errand.questions()).length).toBe(1);
  const [question] = await errand.questions();
  await errand.answer(question?.id ?? "", { allow: true });
  expect((await calling).output).toMatchObject({ status: "completed", summary: "I looked." });
  expect(lines).toContain("Look.: asks whether it may use look");
});

test("a run is complete only when its whole tree is at rest", async () => {
  const door = gate();
  const child: Script = async (_request, { task, replies }) => {
    if (task === "inner") {
      await door.passed;
      return report("inner news", { final: true });
    }
    if (replies === 0) return callTool("start_background_agent", { task: "inner" });
    return replies === 1 ? say("I wait.") : report("all news", { final: true });
  };
  const { errand, tools } = await open(child);
  const { run_id } = await ask(tools, "subagent_start", { task: "outer" });
  expect(await ask(tools, "subagent_wait", { run_id, timeout_seconds: 1 })).toMatchObject({ status: "working" });
  door.open();
  expect(await ask(tools, "subagent_wait", { run_id })).toMatchObject({ status: "completed", summary: "all news" });
  expect((await errand.listRuns()).map(({ state }) => state)).toEqual(["ended", "ended"]);
});

test("a result over the limit is cut, and the rest is read with the handle", async () => {
  const long = Array.from({ length: 500 }, (_, index) => `Zeile ${index}: größer`).join("\n");
  const { errand } = await open(reports(long));
  const tools = errand.hostTools({ agents: ["worker"], background: true, resultBytes: 1_000 });
  const first = await ask(tools, "subagent", { task: "x" });
  expect(first).toMatchObject({ status: "completed", cut: { bytes: Buffer.byteLength(long) } });
  let whole = first.summary ?? "";
  let { cut } = first;
  for (; cut?.next_offset !== undefined;) {
    const part = await ask(tools, "subagent_wait", { run_id: first.run_id, offset: cut.next_offset });
    expect(Buffer.byteLength(part.summary ?? "")).toBeLessThanOrEqual(1_000);
    whole += part.summary ?? "";
    cut = part.cut;
  }
  expect(whole).toBe(long);
  expect(await tools.result(first.run_id ?? "", Buffer.byteLength(long) + 5)).toMatchObject({ text: "", next: null });
  expect(() => errand.hostTools({ resultBytes: 10 })).toThrow(/resultBytes/);
});

test("data stay whole beside a cut result, or are left out", async () => {
  const data = { city: "Rome" };
  const { errand } = await open(() => callTool("send_agent_message", { text: "x".repeat(2_000), data, final: true }));
  const tools = errand.hostTools({ background: true, resultBytes: 500 });
  const output = await ask(tools, "subagent", { task: "x", output_schema: { type: "object" } });
  expect(output).toMatchObject({ status: "completed", data });
  expect(output.cut?.next_offset).toBe(500 - JSON.stringify(data).length);
  const large = { text: "y".repeat(400) };
  const more = await open(() => callTool("send_agent_message", { text: "x", data: large, final: true }));
  const cut = await ask(more.errand.hostTools({ resultBytes: 400 }), "subagent", {
    task: "x",
    output_schema: { type: "object" },
  });
  expect(cut.data).toBeUndefined();
  expect(cut.cut?.next_offset).toBe(400);
});

test("the transcript of a run is read by its handle", async () => {
  const { tools } = await open(reports("Three files."));
  const { run_id } = await ask(tools, "subagent", { task: "Count the files." });
  const { text, next } = await tools.transcript(run_id ?? "");
  expect(text).toContain("Count the files.");
  expect(text).toContain("Three files.");
  expect(next).toBeNull();
});

test("the list has the newest run first, open or ended, and outputs fit their schemas", async () => {
  const { tools } = await open((_request, { task }) => (task === "slow" ? hang() : report("x", { final: true })));
  const one = await ask(tools, "subagent", { task: "quick" });
  const two = await ask(tools, "subagent_start", { task: "slow" });
  const listed = async (state?: string) =>
    ((await tools.call("subagent_list", state === undefined ? {} : { state })).output as HostListOutput).runs?.map(
      ({ run_id, status }) => [run_id, status],
    );
  expect(await listed()).toEqual([
    [two.run_id, "working"],
    [one.run_id, "completed"],
  ]);
  expect(await listed("open")).toEqual([[two.run_id, "working"]]);
  expect(await listed("ended")).toEqual([[one.run_id, "completed"]]);
});

test("every output fits the schema that its tool promises", async () => {
  const child: Script = (_request, { replies }) =>
    replies === 0 ? callTool("look", {}) : report("x", { final: true, artifacts: [{ kind: "note", value: "n" }] });
  const { tools } = await open(child, { permissions: [] });
  const ajv = new Ajv2020();
  const fits = async (name: string, input: unknown): Promise<HostRunOutput> => {
    const { output } = await tools.call(name, input);
    const validate = ajv.compile(tools.tools.find((tool) => tool.name === name)?.outputSchema ?? false);
    expect(validate(output), JSON.stringify([output, validate.errors])).toBe(true);
    return output as HostRunOutput;
  };
  const { run_id, questions: [question] = [] } = await fits("subagent", { task: "x" });
  await fits("subagent_list", {});
  await fits("subagent_send", { run_id, question_id: question?.question_id, allow: true });
  await fits("subagent_wait", { run_id });
  await fits("subagent_wait", { run_id, offset: 0 });
  await fits("subagent_cancel", { run_id });
  await fits("subagent_start", { task: "y" });
  for (const { name } of tools.tools) await fits(name, { nonsense: 1 });
});

test("the caller's data reach the tools of a run", async () => {
  const seen: unknown[] = [];
  const look = lookTool(async (_input, { data }) => {
    seen.push(data);
    return { text: "saw it", failed: false };
  });
  const child: Script = (_request, { replies }) =>
    replies === 0 ? callTool("look", {}) : report("x", { final: true });
  const { errand } = await open(child, { tools: [look] });
  await errand.hostTools({ data: { user: 7 } }).call("subagent", { task: "x" });
  expect(seen).toEqual([{ user: 7 }]);
});
