/** Values that no journal can hold, from models and tools: they cost at most the turn that they came into. */

import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createErrand,
  type Errand,
  type ErrandError,
  type ErrandOptions,
  ModelFailure,
  type ModelProvider,
} from "../../src/index.ts";
import { createModelRegistry } from "../../src/models/registry/model-registry.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { openaiCompatible } from "../models/wires/openai-chat.ts";
import { openWireServer, stream } from "../models/wires/wire-server.ts";
import { createDatabase } from "../support/postgres/databases.ts";
import { temporaryFolder } from "../support/test-errand.ts";
import { ANSWERED, NESTED, POISONED_FAILURES, POISONED_OUTPUTS, POISONED_REPLIES, reply } from "./poison.ts";

const STORES = ["sqlite", "postgres"] as const;

async function storeOf(kind: (typeof STORES)[number]): Promise<string> {
  if (kind === "sqlite") return join(temporaryFolder(), "store.db");
  const database = await createDatabase();
  onTestFinished(database.drop);
  return database.url;
}

/** An agent `bad` whose model answers what it is told to, and an agent `good` that always answers. */
async function open(
  store: string,
  bad: () => unknown,
  options: Partial<ErrandOptions> = {},
): Promise<{ errand: Errand; failures: ErrandError[]; close(): Promise<void> }> {
  const failures: ErrandError[] = [];
  const models: ModelProvider = {
    resolve: (name) => {
      if (name !== "own/bad" && name !== "own/good") return { unavailable: "There is no such model." };
      const call = async (): Promise<never> => (name === "own/bad" ? bad() : reply(ANSWERED)) as never;
      return { model: { call }, facts: { window: null, price: null } };
    },
  };
  const errand = await createErrand({
    store,
    models: [models],
    model: "own/good",
    agents: { bad: { prompt: "You are bad.", model: "own/bad" }, good: { prompt: "You are good.", model: "own/good" } },
    onFailure: (error) => void failures.push(error),
    ...options,
  });
  const close = (): Promise<void> => errand.close({ withinMs: 0 });
  onTestFinished(close);
  return { errand, failures, close };
}

/** The answer of a new agent of this name, or the code of its failure. */
async function answerOf(errand: Errand, agent: string): Promise<{ id: string; said: string }> {
  const opened = await errand.openAgent({ agent });
  const said = await opened.postAndAwait("go", { timeoutMs: 20_000 }).then(
    (answer) => `ok: ${answer.text}`,
    (error: ErrandError) => error.code,
  );
  return { id: opened.id, said };
}

async function expectProven(errand: Errand, trees: readonly string[]): Promise<void> {
  for (const tree of trees) expect((await errand.replay(tree)).difference).toBeNull();
}

describe.each(STORES)("%s", (kind) => {
  test("replies that are no replies end their turn, and other conversations go on, also after a restart", async () => {
    const store = await storeOf(kind);
    let bad: unknown = null;
    const first = await open(store, () => bad);
    const trees: string[] = [];
    const good = await first.errand.openAgent({ agent: "good" });
    for (const [what, value] of POISONED_REPLIES) {
      bad = value;
      const { id, said } = await answerOf(first.errand, "bad");
      expect(said, what).toMatch(/^(ok: |turn-failed$)/);
      trees.push(id);
      expect((await good.postAndAwait("go", { timeoutMs: 20_000 })).text, what).toBe(ANSWERED);
    }
    await expectProven(first.errand, [good.id, ...trees]);
    expect(first.failures).toEqual([]);
    await first.close();

    bad = reply("mended");
    const second = await open(store, () => bad);
    for (const id of trees) {
      const agent = await second.errand.agent(id);
      expect((await agent.postAndAwait("again", { timeoutMs: 20_000 })).text).toBe("mended");
    }
    expect(second.failures).toEqual([]);
  });

  test("failures with odd members are failures like others", async () => {
    let bad: unknown = null;
    const { errand, failures } = await open(await storeOf(kind), () => {
      throw bad;
    });
    for (const [what, value] of POISONED_FAILURES) {
      bad = value;
      expect((await answerOf(errand, "bad")).said, what).toBe("turn-failed");
    }
    expect((await answerOf(errand, "good")).said).toBe(`ok: ${ANSWERED}`);
    expect(failures).toEqual([]);
  });

  test("outputs of tools that are no outputs are told to the model as failed, or as the text they hold", async () => {
    let output: unknown = null;
    let called = false;
    const call = { type: "tool-call", id: "1", name: "odd", input: {} };
    const { errand, failures } = await open(
      await storeOf(kind),
      () => {
        called = !called;
        return called ? { ...reply(""), parts: [call], stop: "tools" } : reply("seen");
      },
      {
        tools: [
          {
            name: "odd",
            description: "Odd.",
            schema: { type: "object" },
            safe: true,
            run: async () => output as never,
          },
        ],
      },
    );
    const trees: string[] = [];
    for (const [what, value] of POISONED_OUTPUTS) {
      output = value;
      const { id, said } = await answerOf(errand, "bad");
      expect(said, what).toBe("ok: seen");
      trees.push(id);
    }
    await expectProven(errand, trees);
    expect(failures).toEqual([]);
  });

  test("a server that counts tokens oddly is booked in whole tokens, and breaks nobody", async () => {
    let usage = { input: 10.3, cached: 0.5, output: 2.7 };
    const server = await openWireServer((exchange) =>
      stream(exchange, openaiCompatible.frames({ text: ANSWERED, usage })),
    );
    const registry = createModelRegistry({ env: openaiCompatible.env(server.url), world: createSystemWorld() });
    const { errand, failures } = await open(await storeOf(kind), () => null, {
      models: [registry],
      model: openaiCompatible.model,
      agents: { wire: { prompt: "You are far away." } },
    });
    for (const count of [10.3, 1e19, -5, 1e308]) {
      usage = { input: count, cached: count, output: count };
      const { id, said } = await answerOf(errand, "wire");
      expect(said, String(count)).toBe(`ok: ${ANSWERED}`);
      await expectProven(errand, [id]);
    }
    expect(failures).toEqual([]);
  });
});

test("arguments nested without end are told to the model as no JSON", async () => {
  const requests: string[] = [];
  const server = await openWireServer(({ body, response, ...rest }) => {
    requests.push(body);
    const calls = [{ id: "c1", name: "list_files", arguments: NESTED }];
    return stream(
      { body, response, ...rest },
      openaiCompatible.frames(requests.length === 1 ? { calls } : { text: ANSWERED }),
    );
  });
  const registry = createModelRegistry({ env: openaiCompatible.env(server.url), world: createSystemWorld() });
  const { errand, failures } = await open("memory", () => null, {
    models: [registry],
    model: openaiCompatible.model,
    agents: { wire: { prompt: "You are far away." } },
  });
  expect((await answerOf(errand, "wire")).said).toBe(`ok: ${ANSWERED}`);
  expect(failures).toEqual([]);
});

test("what a provider says of its models is whole and bounded, or unknown", async () => {
  const facts = { window: Number.NaN, price: { input: 0.25, output: 1e300, cachedInput: -1 } };
  const call = async (): Promise<never> => reply(ANSWERED) as never;
  const { errand } = await open(await storeOf("sqlite"), () => null, {
    models: [{ resolve: () => ({ model: { call }, facts }) }],
  });
  const { id, said } = await answerOf(errand, "good");
  expect(said).toBe(`ok: ${ANSWERED}`);
  await expectProven(errand, [id]);
  for await (const line of errand.export(id)) expect(line).not.toContain("1e+300");
});

test("a failure's wait is whole and bounded", async () => {
  let tries = 0;
  const { errand } = await open("memory", () => {
    tries += 1;
    if (tries > 1) return reply(ANSWERED);
    throw new ModelFailure("provider-error", "Wait.", { retryable: true, retryAfterMs: 0.5 });
  });
  expect((await answerOf(errand, "bad")).said).toBe(`ok: ${ANSWERED}`);
});
