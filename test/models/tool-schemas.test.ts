/**
 * The tools of every kind of agent, checked against the schemas that each provider accepts. The server of these tests
 * refuses a request with a tool that it cannot read, like the real one.
 */

import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/values/json.ts";
import type { Errand, ErrandOptions, ToolSpec } from "../../src/index.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { workspaceTools } from "../../src/tools/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";
import {
  anthropicRefuses,
  geminiParametersRefuse,
  openaiRefuses,
  refusedTools,
  schemaProblems,
} from "./wires/accepted-schemas.ts";
import { WIRES } from "./wires/index.ts";
import type { Wire, WireReply } from "./wires/wire.ts";
import { openWireErrand, parentIs } from "./wires/wire-errand.ts";
import { openWireServer, refuse, stream, type WireServer } from "./wires/wire-server.ts";

const countSchema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] } as const;

/** A schema as libraries write it: with a reference to itself, a constant, a format, a record and a dialect. */
const foreignSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    kind: { const: "tree" },
    link: { type: "string", format: "uri" },
    sizes: { type: "object", additionalProperties: { type: "integer" } },
    children: { type: "array", items: { $ref: "#" } },
  },
  required: ["children"],
} as const;
const foreignData = { kind: "tree", sizes: { a: 1 }, children: [{ children: [] }] };

interface Kind {
  readonly options?: Parameters<typeof openTestErrand>[1];
  readonly schema?: Json;
}

const kinds: Readonly<Record<string, Kind>> = {
  "a root and a leaf child": {},
  "a middle child": { options: { limits: { maxDepth: 2 } } },
  "a typed child": { schema: countSchema },
  "a child with a foreign schema": { schema: foreignSchema },
  "a tag child": { options: { child: { reporting: "tag" } } },
};

/** The tools of a root and of its child. */
async function shownTo({ options = {}, schema }: Kind): Promise<readonly (readonly ToolSpec[])[]> {
  const asked = { task: "count", ...(schema === undefined ? {} : { output_schema: JSON.stringify(schema) }) };
  const { errand, models } = await openTestErrand(
    { parent: [callTool("subagent", asked), say("done")], child: [say("<response>x</response>"), say("x")] },
    { ...options, tools: workspaceTools({ world: createSystemWorld(), environment: {}, allowShell: true }) },
  );
  await (await errand.openAgent()).postAndAwait("go");
  const [parent] = models.model("scripted/parent").requests;
  const [child] = models.model("scripted/child").requests;
  expect(child?.tools.length).toBeGreaterThan(0);
  return [parent?.tools ?? [], child?.tools ?? []];
}

describe.each(Object.entries(kinds))("F1: the tools of %s", (_, kind) => {
  test.each([
    ["Anthropic", anthropicRefuses],
    ["OpenAI, not strict", openaiRefuses],
    ["Gemini's `parameters`", geminiParametersRefuse],
  ] as const)("are accepted by %s", async (_provider, check) => {
    for (const tools of await shownTo(kind)) expect(schemaProblems(tools, check)).toEqual([]);
  });
});

test("A8: `data` has the schema of the run, or is absent", async () => {
  const dataOf = async (kind: Kind): Promise<unknown> => {
    const [, child = []] = await shownTo(kind);
    const spec = child.find((tool) => tool.name === "send_agent_message");
    const { properties } = (spec?.schema ?? {}) as { readonly properties?: Readonly<Record<string, unknown>> };
    const { data, data_json: text } = properties ?? {};
    return { data, text };
  };
  expect(await dataOf({})).toEqual({ data: undefined, text: undefined });
  expect(await dataOf({ schema: countSchema })).toEqual({ data: countSchema, text: undefined });
  const { type, properties, required } = foreignSchema;
  expect(await dataOf({ schema: foreignSchema })).toEqual({
    data: undefined,
    text: {
      type: "string",
      description: expect.stringContaining(JSON.stringify({ type, properties, required })) as unknown,
    },
  });
});

interface Asked {
  readonly server: WireServer;
  readonly errand: Errand;
}

/** A parent delegates with this schema, and its child reports these arguments. */
async function overTheWire(
  wire: Wire,
  schema: Json | undefined,
  reported: Json,
  options: Partial<ErrandOptions> = {},
): Promise<Asked> {
  const task = { task: "count", ...(schema === undefined ? {} : { output_schema: JSON.stringify(schema) }) };
  const call = (name: string, args: Json): WireReply => ({
    calls: [{ id: "call_1", name, arguments: JSON.stringify(args) }],
  });
  const parent = [call("subagent", task), { text: "Counted." }];
  const child = [call("send_agent_message", reported)];
  const server = await openWireServer((exchange) => {
    const problems = refusedTools(wire, exchange.body);
    if (problems.length > 0) return refuse(exchange, 400, wire.error(problems.join("; ")));
    const reply = (parentIs(exchange) ? parent : child).shift();
    return reply === undefined ? refuse(exchange, 400, wire.error("too many")) : stream(exchange, wire.frames(reply));
  });
  const errand = await openWireErrand(wire, server, options);
  return { server, errand };
}

async function answered({ errand }: Asked): Promise<void> {
  expect((await (await errand.openAgent()).postAndAwait("How many?")).text).toBe("Counted.");
}

describe.each(WIRES)("$title", (wire) => {
  test("F1: accepts the tools of a root, of a leaf and of a child between", async () => {
    const tools = workspaceTools({ world: createSystemWorld(), environment: {}, allowShell: true });
    for (const maxDepth of [1, 2]) {
      const asked = await overTheWire(wire, undefined, { text: "3", final: true }, { tools, limits: { maxDepth } });
      await answered(asked);
      expect(asked.server.exchanges).toHaveLength(3);
    }
  });

  test("F10: accepts the schema of a typed run, and its data comes back", async () => {
    const asked = await overTheWire(wire, countSchema, { text: "3", final: true, data: { count: 3 } });
    await answered(asked);
    expect(await asked.errand.listRuns()).toMatchObject([{ status: "ok" }]);
    expect(asked.server.exchanges.at(-1)?.body).toContain('\\"data\\":{\\"count\\":3}');
  });

  test("F10: an output schema that the provider cannot read breaks no call, but the data is checked", async () => {
    const data_json = JSON.stringify(foreignData);
    const asked = await overTheWire(wire, foreignSchema, { text: "a tree", final: true, data_json });
    await answered(asked);
    const [run] = await asked.errand.listRuns();
    expect(run?.status).toBe("ok");
    expect(await asked.errand.result(run?.id ?? "")).toContain(`Data: ${data_json}`);
  });

  test("F1: accepts tools without arguments in any notation", async () => {
    const empty = { ...lookTool(), name: "look_again", schema: { type: "object", properties: {}, required: [] } };
    const asked = await overTheWire(wire, undefined, { text: "3", final: true }, { tools: [lookTool(), empty] });
    await answered(asked);
  });
});

test("F10: the child gets an error for data_json that is invalid or does not fit", async () => {
  const report = (data_json: string) => callTool("send_agent_message", { text: "x", data_json });
  const child = byContext([report("{"), report('{"children":1}'), report('{"children":[]}'), say("done")]);
  const asked = { task: "count", output_schema: JSON.stringify(foreignSchema) };
  const { errand, models } = await openTestErrand({ parent: [callTool("subagent", asked), say("done")], child });
  await (await errand.openAgent()).postAndAwait("go");
  const told = models
    .model("scripted/child")
    .requests.slice(1)
    .map((request) => request.messages.at(-1))
    .map((message) => (message?.role === "tool" ? message.results[0]?.text : ""));
  expect(told[0]).toContain("`data_json` must be JSON text");
  expect(told[1]).toContain("`data.children`");
  expect(told[2]).toContain('"status":"sent"');
});
