/**
 * Odd values in the options of a program, and from its model providers: refused with their name, and no conversation
 * meets them.
 */

import { describe, expect, test } from "vitest";
import { createErrand, type ErrandError, type ErrandOptions, type ModelProvider } from "../../src/index.ts";
import { say } from "../../src/testing/index.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";

async function refusal(options: Partial<ErrandOptions>): Promise<{ code: string; message: string }> {
  try {
    await createErrand({ store: "memory", ...options });
  } catch (error) {
    const { code, message } = error as ErrandError;
    return { code, message };
  }
  return { code: "none", message: "it was opened" };
}

const ODD_NUMBERS: readonly unknown[] = [Number.NaN, 1e19, -1, 0.5, Number.POSITIVE_INFINITY, "5", {}, 5n];

test("limits, caps and slots are whole numbers", async () => {
  for (const odd of ODD_NUMBERS) {
    const limits = { turnSeconds: odd } as never;
    expect(await refusal({ limits })).toMatchObject({
      code: "usage",
      message: expect.stringContaining("limits.turnSeconds"),
    });
    expect(await refusal({ caps: limits })).toMatchObject({
      code: "usage",
      message: expect.stringContaining("caps.turnSeconds"),
    });
    expect(await refusal({ slots: odd as never })).toMatchObject({
      code: "usage",
      message: expect.stringContaining("slots"),
    });
  }
  for (const odd of [Number.NaN, -1, Number.POSITIVE_INFINITY, "5"])
    expect(await refusal({ retentionDays: odd as never })).toMatchObject({
      code: "usage",
      message: expect.stringContaining("retentionDays"),
    });
});

test("numbers of definitions are whole and above 0", async () => {
  for (const odd of [...ODD_NUMBERS, 0])
    for (const name of ["maxIterations", "timeoutSeconds"]) {
      const agents = { worker: { prompt: "You work.", [name]: odd } };
      expect(await refusal({ agents })).toMatchObject({
        code: "definition-invalid",
        message: expect.stringContaining(name),
      });
    }
});

test("a prompt is a text, and a tool that a definition names twice is shown once", async () => {
  for (const prompt of [undefined, 5, {}])
    expect(await refusal({ agents: { worker: { prompt: prompt as never } } })).toMatchObject({
      code: "definition-invalid",
      message: expect.stringContaining("prompt"),
    });
  const { errand, models } = await openTestErrand({ parent: [say("hi")] }, { parent: { tools: ["look", "look"] } });
  await (await errand.openAgent()).postAndAwait("go");
  expect(models.requests[0]?.tools.filter(({ name }) => name === "look")).toHaveLength(1);
});

test("a tool's schema that is no JSON is refused with the name of the tool", async () => {
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  for (const schema of [cycle, { default: 5n }, { default: new Map() }, undefined, "text", null]) {
    const tools = [{ ...lookTool(), schema: schema as never }];
    expect(await refusal({ tools })).toMatchObject({ code: "usage", message: expect.stringContaining('"look"') });
  }
});

describe("a model provider that gives nothing usable", () => {
  const answering = { model: { call: async () => say("hi") as never }, facts: { window: null, price: null } };
  test.each([
    ["undefined", undefined],
    ["null", null],
    ["an empty object", {}],
    ["no reason", { unavailable: undefined }],
    ["a reason that is no text", { unavailable: 5 }],
    ["no model", { model: null, facts: null }],
    ["a model without call", { model: {}, facts: null }],
  ])("%s: it does not have the model, and the next provider is asked", async (_what, found) => {
    const odd = { resolve: () => found } as unknown as ModelProvider;
    expect(await refusal({ models: [odd], model: "own/model" })).toMatchObject({ code: "model-unknown" });
    const good: ModelProvider = { resolve: () => answering };
    const { errand } = await openTestErrand({ parent: [] }, { models: [odd, good] });
    expect(await errand.openAgent()).toBeDefined();
  });
});
