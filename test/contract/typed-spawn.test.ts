import { expect, expectTypeOf, test } from "vitest";
import type { StandardSchema } from "../../src/index.ts";
import { byContext, callTool, fail, hang, say } from "../../src/testing/index.ts";
import { openTestErrand } from "../support/test-errand.ts";

interface Size {
  readonly files: number;
}

/** A Standard Schema as libraries give it: it checks, it types, and it tells its JSON Schema. */
const size: StandardSchema<Size> = {
  "~standard": {
    validate(value) {
      const files = typeof value === "object" && value !== null && "files" in value ? value.files : undefined;
      return typeof files === "number"
        ? { value: { files } }
        : { issues: [{ message: "must be a number", path: ["files"] }] };
    },
    jsonSchema: { input: () => ({ type: "object", properties: { files: { type: "number" } }, required: ["files"] }) },
  },
};

test("F10: a run spawned in code with a Standard Schema gives data of its type", async () => {
  const child = byContext([callTool("send_agent_message", { text: "three", data: { files: 3 } }), say("end")]);
  const { errand, models } = await openTestErrand({ parent: () => say("ok"), child });
  const agent = await errand.openAgent({ kind: "background" });
  const run = await agent.spawn({ task: "count", output: size });
  const outcome = await run.outcome();
  expectTypeOf(outcome.data).toEqualTypeOf<Size | undefined>();
  expect(outcome).toEqual({
    status: "ok",
    reason: null,
    error: null,
    summary: "three",
    artifacts: [],
    data: { files: 3 },
  });
  const told = models.model("scripted/child").requests[0]?.tools.find((tool) => tool.name === "send_agent_message");
  expect(JSON.stringify(told?.schema)).toContain('"required":["files"]');
});

test("F10: a mismatch is answered with the field, and the child can correct it", async () => {
  const child = byContext([
    callTool("send_agent_message", { text: "three", data: { files: "3" } }),
    callTool("send_agent_message", { text: "three", data: { files: 3 } }),
    say("end"),
  ]);
  const { errand, models } = await openTestErrand({ parent: () => say("ok"), child });
  const agent = await errand.openAgent({ kind: "background" });
  const outcome = await (await agent.spawn({ task: "count", output: size })).outcome();
  expect(outcome.data).toEqual({ files: 3 });
  expect(JSON.stringify(models.model("scripted/child").requests[1]?.messages.at(-1))).toContain("data.files");
});

test("the outcome of a run that failed says so, and has no data", async () => {
  const { errand } = await openTestErrand({ parent: () => say("ok"), child: [hang()] });
  const agent = await errand.openAgent({ kind: "background" });
  const run = await agent.spawn({ task: "count", output: size });
  await errand.cancel(run.id);
  expect(await run.outcome()).toMatchObject({ status: "cancelled", data: undefined });
  expect(run.error).toBeNull();
  expect((await errand.getRun(run.id)).error).toBe("was cancelled");
  expect((await errand.listRuns()).map(({ error }) => error)).toEqual(["was cancelled"]);
});

test("a spawn asked for again under its id gives the same run", async () => {
  const { errand } = await openTestErrand({ parent: () => say("ok"), child: [hang()] });
  const agent = await errand.openAgent();
  const first = await agent.spawn({ id: "s-1", task: "x" });
  expect((await agent.spawn({ id: "s-1", task: "x" })).id).toBe(first.id);
  await expect(agent.spawn({ id: "s-1", task: "y" })).rejects.toMatchObject({ code: "id-reused" });
  expect(await errand.listRuns()).toHaveLength(1);
});

test("a run that ended badly says what its model's provider said, and one that ended well has no error", async () => {
  const { errand } = await openTestErrand({
    parent: () => say("ok"),
    child: (_request, { task }) =>
      task === "good"
        ? callTool("send_agent_message", { text: "three", final: true })
        : fail({ message: "the disk is on fire" }),
  });
  const agent = await errand.openAgent({ kind: "background" });
  for (const task of ["good", "bad"]) await (await agent.spawn({ task })).outcome();
  const errors = (await errand.listRuns()).map(({ name, error }) => [name, error]);
  expect(errors).toEqual([
    ["good", null],
    ["bad", expect.stringContaining("the disk is on fire")],
  ]);
});

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

test("F10: the call's schema counts in place of the definition's, also if that is a Standard Schema", async () => {
  const child = byContext([
    callTool("send_agent_message", { text: "three", data: { files: 3 } }),
    callTool("send_agent_message", { text: "Rome", data: { city: "Rome" } }),
    say("end"),
  ]);
  const { errand, models } = await openTestErrand({ parent: () => say("ok"), child }, { child: { output: size } });
  const agent = await errand.openAgent({ kind: "background" });
  const outcome = await (await agent.spawn({ task: "where", output: city })).outcome();
  expect(outcome).toMatchObject({ status: "ok", data: { city: "Rome" } });
  expect(JSON.stringify(models.model("scripted/child").requests[1]?.messages.at(-1))).toContain("city");
});

test("F10: without a schema in the call the definition's counts, with all that its library checks", async () => {
  const child = byContext([
    callTool("send_agent_message", { text: "three", data: { files: "3" } }),
    callTool("send_agent_message", { text: "three", data: { files: 3 } }),
    say("end"),
  ]);
  const { errand, models } = await openTestErrand({ parent: () => say("ok"), child }, { child: { output: size } });
  const agent = await errand.openAgent({ kind: "background" });
  const run = await agent.spawn({ task: "count" });
  expect((await run.outcome()).status).toBe("ok");
  expect(JSON.stringify(models.model("scripted/child").requests[1]?.messages.at(-1))).toContain("must be a number");
  expect(await errand.result(run.id)).toContain('{"files":3}');
});
