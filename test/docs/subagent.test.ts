import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { type AgentOptions, ENVELOPE_BYTES, ENVELOPE_PROBLEMS, SUBAGENT_SCHEMAS } from "../../src/index.ts";
import { byContext, callTool, fail, hang, say, type Script, type ScriptedReply } from "../../src/testing/index.ts";
import type { ArgumentSchema } from "../../src/core/delegation/arguments.ts";
import type { Json } from "../../src/core/values/json.ts";
import { ENVELOPE_SCHEMAS } from "../../src/runners/envelope-schemas.ts";
import { openTestErrand } from "../support/test-errand.ts";
import { createTestWorld } from "../support/test-world.ts";

const page = readFileSync("docs/reference/subagent.md", "utf8");
const envelopePage = readFileSync("docs/reference/envelope.md", "utf8");
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });

/** The text of the fenced block under a heading. */
function blockUnder(heading: string): string {
  return `${page}\n${envelopePage}`.split(`### ${heading}\n\n\`\`\`json\n`)[1]?.split("\n```")[0] ?? "";
}

/** What a schema has against a value, or null. */
function misfit(name: keyof typeof SUBAGENT_SCHEMAS, value: unknown): string | null {
  const validate = ajv.compile(structuredClone(SUBAGENT_SCHEMAS[name]));
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

const schemaNames = ["input", "output", "envelope"] as const;

test("there is a schema for each of input, output and envelope, and nothing else", () => {
  expect(Object.keys(SUBAGENT_SCHEMAS)).toEqual(schemaNames);
});

test.each(schemaNames)("the page shows the schema of the %s as the code exports it, byte for byte", (name) => {
  expect(blockUnder(`Schema of the ${name}`)).toBe(JSON.stringify(SUBAGENT_SCHEMAS[name], null, 2));
});

test.each([
  ["input", "Example of the input"],
  ["output", "Example of the output"],
  ["envelope", "Example of the envelope: a request"],
  ["envelope", "Example of the envelope: a result"],
] as const)("the page's example fits the schema of the %s: %s", (name, heading) => {
  expect(misfit(name, JSON.parse(blockUnder(heading)))).toBeNull();
});

test("the page explains every field of the input and of the output", () => {
  const explained = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, field]) => field);
  for (const name of ["input", "output"] as const)
    expect(explained).toEqual(expect.arrayContaining(Object.keys(SUBAGENT_SCHEMAS[name].properties)));
});

test("the page of the envelope names every type with its size and fields, and every problem with its meaning", () => {
  for (const [type, bytes] of Object.entries(ENVELOPE_BYTES))
    expect(envelopePage).toMatch(
      new RegExp(`^\\| \`${type}\` \\|[^|]*\\| ${bytes.toLocaleString("en")} bytes \\|`, "m"),
    );
  for (const [type, { properties, required }] of Object.entries<ArgumentSchema>(ENVELOPE_SCHEMAS)) {
    const row = new RegExp(`^\\| \`${type}\` \\|.*$`, "m").exec(envelopePage)?.[0];
    for (const field of Object.keys(properties).filter((name) => !["v", "type", "correlation_id"].includes(name)))
      expect(row).toContain(`\`${field}${required.includes(field) ? "" : "?"}\``);
  }
  for (const [code, meaning] of Object.entries(ENVELOPE_PROBLEMS))
    expect(envelopePage).toContain(`| \`${code}\` | ${meaning} |\n`);
});

interface Situation {
  readonly child: Script;
  readonly args?: { readonly [name: string]: Json };
  readonly definition?: Partial<AgentOptions>;
  readonly options?: Parameters<typeof openTestErrand>[1];
  /** What the payload must say of it. */
  readonly payload: { readonly [key: string]: unknown };
}

const report = (more: { readonly [name: string]: Json } = {}): ScriptedReply =>
  callTool("send_agent_message", { text: "found it", ...more });
const schema = { type: "object", properties: { words: { type: "integer" } }, required: ["words"] };

const situations: { readonly [name: string]: Situation } = {
  "a report": {
    child: byContext([report(), say("done")]),
    payload: { success: true, summary: "found it", report: "tool", nudged: false },
  },
  "a report with artifacts and typed data": {
    child: byContext([
      report({ artifacts: [{ kind: "json", value: '{"a":[1]}' }], data: { words: 812 } }),
      say("done"),
    ]),
    args: { output_schema: schema },
    payload: { success: true, artifacts: [{ kind: "json", value: '{"a":[1]}' }], data: { words: 812 } },
  },
  "data that do not fit": {
    child: byContext([report({ data: { words: "many" } }), say("done"), say("still done")]),
    args: { output_schema: schema },
    payload: { success: false, reason: "invalid-output" },
  },
  "a report over the output cap": {
    child: byContext([report({ text: "x".repeat(2_000) }), say("done")]),
    options: { limits: { summaryBytes: 1_000 } },
    payload: { success: true, summary: "x".repeat(1_000) },
  },
  "a child that forgets to report": {
    child: byContext([say("here it is"), report(), say("done")]),
    payload: { success: true, report: "tool", nudged: true },
  },
  "a child that never reports": {
    child: byContext([say("here it is"), say("")]),
    payload: { success: true, summary: "here it is", report: "salvaged", nudged: true },
  },
  "a child that never says anything": {
    child: byContext([say(""), say("")]),
    payload: { success: true, summary: "(no output)", report: "missing" },
  },
  "a report by tag": {
    child: byContext([say("<response>found it</response>")]),
    definition: { reporting: "tag" },
    payload: { success: true, summary: "found it", report: "tag" },
  },
  "a tag that never comes": {
    child: byContext([say("here it is"), say("there")]),
    definition: { reporting: "tag" },
    payload: { success: false, reason: "no-report", report: "salvaged" },
  },
  "a provider that fails": {
    child: [fail({ message: "no credit" })],
    payload: { success: false, error: "no credit", reason: "provider-error", timed_out: false },
  },
  "too many iterations": {
    child: () => callTool("look", {}),
    args: { max_iterations: 2 },
    payload: { success: false, reason: "iteration-limit" },
  },
  "a deadline": {
    child: [hang()],
    args: { timeout_seconds: 30 },
    payload: { success: false, timed_out: true, duration_ms: 30_000 },
  },
  "the depth limit": {
    child: [],
    options: { limits: { maxDepth: 0 } },
    payload: { success: false, error: "depth limit reached (max_depth 0)", reason: "depth-limit", run_id: null },
  },
  "an unknown agent": {
    child: [],
    args: { agent: "nobody" },
    payload: { success: false, run_id: null, duration_ms: 0 },
  },
  "a tool that is turned off": {
    child: [],
    options: { subagentEnabled: false },
    payload: {
      success: false,
      error: "subagent is not enabled in this phase",
      reason: "not-enabled",
      timed_out: false,
      duration_ms: 0,
      run_id: null,
    },
  },
};

/** The payload that the parent's model is given. */
async function payloadOf({ child, args, definition, options }: Situation): Promise<Record<string, unknown>> {
  const world = createTestWorld();
  const parent = byContext([callTool("subagent", { task: "find it", ...args }), say("thanks")]);
  const { errand, models } = await openTestErrand(
    { parent, child },
    { ...options, world, ...(definition === undefined ? {} : { child: definition }) },
  );
  const agent = await errand.openAgent();
  const answered = agent.postAndAwait("please");
  await world.advance(60_000);
  await answered;
  const last = models
    .model("scripted/parent")
    .requests.at(-1)
    ?.messages.findLast(({ role }) => role === "tool");
  return JSON.parse(last?.role === "tool" ? (last.results[0]?.text ?? "") : "") as Record<string, unknown>;
}

describe("F2: a payload fits the published schema, and its keys stand in the schema's order:", () => {
  test.each(Object.entries(situations))("%s", async (_, situation) => {
    const payload = await payloadOf(situation);
    expect(misfit("output", payload)).toBeNull();
    expect(payload).toMatchObject(situation.payload);
    const order = Object.keys(SUBAGENT_SCHEMAS.output.properties).filter((key) => key in payload);
    expect(Object.keys(payload)).toEqual(order);
    expect("truncated" in payload).toBe(situation === situations["a report over the output cap"]);
  });
});

test("F2: the schema tells a payload from what is none", async () => {
  const payload = await payloadOf({ child: byContext([report(), say("done")]), payload: {} });
  for (const key of SUBAGENT_SCHEMAS.output.required)
    expect(misfit("output", { ...payload, [key]: undefined })).not.toBeNull();
  for (const wrong of [
    { error: "no" },
    { reason: "no" },
    { success: false },
    { timed_out: true },
    { more: 1 },
    { artifacts: [{ kind: "file", value: 1 }] },
    { duration_ms: -1 },
    { report: "mail" },
    { truncated: {} },
  ])
    expect({ wrong, misfit: misfit("output", { ...payload, ...wrong }) }).not.toEqual({ wrong, misfit: null });
});
