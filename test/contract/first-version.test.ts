/**
 * The first version of the `subagent` schema had six keys: `success`, `summary`, `artifacts`, `error`, `timed_out`,
 * `duration_ms`. A reader that knows only those must understand every outcome, and find them in that order.
 */

import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { Json } from "../../src/core/values/json.ts";
import {
  byContext,
  callTool,
  callTools,
  fail,
  hang,
  malformedCall,
  say,
  type Script,
  type ScriptedReply,
} from "../../src/testing/index.ts";
import { toolText } from "../support/model-requests.ts";
import { delegationCall, type TestOptions } from "../support/run-delegation.ts";
import { report } from "../support/scripted-replies.ts";
import { eventsUntilFacts } from "../support/tree-facts.ts";
import { lookTool, openTestErrand } from "../support/test-errand.ts";

const KEYS = ["success", "summary", "artifacts", "error", "timed_out", "duration_ms"];

const FIRST_VERSION = {
  type: "object",
  properties: {
    success: { type: "boolean" },
    summary: { type: "string" },
    artifacts: {
      type: "array",
      items: {
        type: "object",
        properties: { kind: { enum: ["note", "path", "diff", "json"] }, value: { type: "string" } },
        required: ["kind", "value"],
        additionalProperties: false,
      },
    },
    error: { type: "string", minLength: 1 },
    timed_out: { type: "boolean" },
    duration_ms: { type: "integer", minimum: 0 },
  },
  required: ["success", "summary", "artifacts", "timed_out", "duration_ms"],
  oneOf: [
    { not: { required: ["error"] }, properties: { success: { const: true }, timed_out: { const: false } } },
    { required: ["error"], properties: { success: { const: false } } },
  ],
};

const fits = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }).compile(FIRST_VERSION);

interface Outcome {
  readonly call?: ScriptedReply;
  readonly child?: Script;
  readonly options?: TestOptions;
  readonly expected: { readonly [key: string]: unknown };
}

const final = (more: { readonly [name: string]: Json } = {}): ScriptedReply =>
  callTool("send_agent_message", { text: "found", final: true, ...more });
const outputSchema = JSON.stringify({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] });
const failed = { success: false, timed_out: false };
const refused = { ...failed, summary: "", duration_ms: 0 };

const outcomes: { readonly [name: string]: Outcome } = {
  "a final report": { child: [final()], expected: { success: true, summary: "found" } },
  "an ordinary report": { child: byContext([report("found"), say("end")]), expected: { success: true } },
  "a report with artifacts": {
    child: [final({ artifacts: [{ kind: "json", value: "[1]" }] })],
    expected: { success: true, artifacts: [{ kind: "json", value: "[1]" }] },
  },
  "a report with data": {
    call: delegationCall("awaited", { output_schema: outputSchema }),
    child: [final({ data: { n: 3 } })],
    expected: { success: true, summary: "found" },
  },
  "data that nobody asked for": {
    child: [final({ data: { n: 3 } })],
    expected: { success: true, artifacts: [{ kind: "json", value: '{"n":3}' }] },
  },
  "a report over the cap": {
    child: [final({ text: "x".repeat(3_000), artifacts: [{ kind: "note", value: "y".repeat(3_000) }] })],
    options: { limits: { summaryBytes: 1_000 } },
    expected: { success: true },
  },
  "a closing call that failed": {
    child: byContext([report("found"), fail({ message: "no credit" })]),
    expected: { success: true, summary: "found" },
  },
  "a report after a nudge": { child: byContext([say("hm"), final()]), expected: { success: true, summary: "found" } },
  "words instead of a report": {
    child: byContext([say("here"), say("")]),
    expected: { success: true, summary: "here" },
  },
  "only the output of a tool": {
    child: byContext([callTool("look", {}), say(""), say("")]),
    expected: { success: true, summary: "No final answer. Last tool output:\nsaw it" },
  },
  "nothing at all": { child: byContext([say(""), say("")]), expected: { success: true, summary: "(no output)" } },
  "a report by tag": {
    child: [say("<response>found</response>")],
    options: { child: { reporting: "tag" } },
    expected: { success: true, summary: "found" },
  },
  "a tag that never comes": {
    child: byContext([say("a"), say("b")]),
    options: { child: { reporting: "tag" } },
    expected: failed,
  },
  "data that do not fit": {
    call: delegationCall("awaited", { output_schema: outputSchema }),
    child: byContext([final({ data: { n: "x" } }), say("end"), say("end")]),
    expected: failed,
  },
  "an artifact of no kind": {
    child: byContext([final({ artifacts: [{ kind: "file", value: "x" }] }), say("end"), say("end")]),
    expected: failed,
  },
  "a provider that fails": { child: () => fail({ message: "no credit" }), expected: { ...failed, error: "no credit" } },
  "a refusal": { child: () => say("", { stop: "refused" }), expected: failed },
  "a context that is too long": {
    child: () => fail({ code: "context-overflow", message: "too long" }),
    expected: failed,
  },
  "too many iterations": {
    call: delegationCall("awaited", { max_iterations: 2 }),
    child: () => callTool("look", {}),
    expected: failed,
  },
  "a deadline": {
    call: delegationCall("awaited", { timeout_seconds: 1 }),
    child: () => hang(),
    expected: { success: false, timed_out: true },
  },
  "no free slot": {
    call: delegationCall("awaited", { timeout_seconds: 1 }),
    options: { slots: 0 },
    expected: { success: false, timed_out: true, duration_ms: 0 },
  },
  "no depth left": {
    options: { limits: { maxDepth: 0 } },
    expected: { ...refused, error: "depth limit reached (max_depth 0)" },
  },
  "no run left": {
    call: callTools([1, 2].map((n) => ({ name: "subagent", input: { task: `task ${n}` } }))),
    child: () => final(),
    options: { limits: { runsPerTree: 1 } },
    expected: refused,
  },
  "switched off": {
    options: { subagentEnabled: false },
    expected: { ...refused, error: "subagent is not enabled in this phase" },
  },
  "an agent that is not known": { call: delegationCall("awaited", { agent: "nobody" }), expected: refused },
  "no task": { call: callTool("subagent", {}), expected: refused },
  "an empty task": { call: delegationCall("awaited", { task: "" }), expected: refused },
  "an unknown argument": { call: delegationCall("awaited", { colour: "red" }), expected: refused },
  "arguments that are not JSON": { call: malformedCall("subagent"), expected: refused },
  "a schema that is not JSON": { call: delegationCall("awaited", { output_schema: "{" }), expected: refused },
  "a schema that cannot be used": {
    call: delegationCall("awaited", { output_schema: '{"type":"nonsense"}' }),
    expected: refused,
  },
};

/** The payload that the parent's model was shown. */
async function payloadOf({
  call = delegationCall("awaited"),
  child,
  options,
}: Outcome): Promise<Record<string, unknown>> {
  const { errand, models } = await openTestErrand(
    { parent: byContext([call, say("told")]), ...(child === undefined ? {} : { child }) },
    { tools: [lookTool()], ...options },
  );
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  return JSON.parse(toolText(models.model("scripted/parent").requests[1])) as Record<string, unknown>;
}

test.each(Object.entries(outcomes))("F2: %s is read with the first version's schema alone", async (_name, outcome) => {
  const payload = await payloadOf(outcome);
  expect(fits(payload), JSON.stringify(fits.errors)).toBe(true);
  const known = Object.keys(payload).filter((key) => KEYS.includes(key));
  expect(known).toEqual(KEYS.filter((key) => known.includes(key)));
  expect(payload).toMatchObject(outcome.expected);
});

test("F2: a cancelled run is read with the first version's schema alone", async () => {
  const { errand, models } = await openTestErrand({
    parent: byContext([delegationCall("awaited"), say("told")]),
    child: () => hang(),
  });
  const agent = await errand.openAgent();
  const answer = agent.postAndAwait("go");
  await eventsUntilFacts(errand, agent.id, "run-started");
  const [run] = await errand.listRuns();
  await errand.cancel(run?.id ?? "");
  await answer;
  const payload = JSON.parse(toolText(models.model("scripted/parent").requests[1])) as object;
  expect(fits(payload), JSON.stringify(fits.errors)).toBe(true);
  expect(payload).toMatchObject({ success: false, timed_out: false });
});
