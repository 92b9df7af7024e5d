/** The rehearsal as a child, with canned tool answers: when it reports, and how. */

import { expect, test } from "vitest";

import type { ModelReply, ModelRequest } from "../../contracts/model.ts";
import { NUDGE_TAG, NUDGE_TOOL } from "../../core/text/prompts/nudges.ts";
import { jsonObjectIs } from "../../core/values/json.ts";
import { type ContextMessage, replyText, type ToolCallPart, type ToolSpec } from "../../core/values/message.ts";
import { frameBuild } from "../../core/text/index.ts";
import { createRehearsalModel } from "./rehearsal.ts";

const spec = (name: string): ToolSpec => ({ name, description: name, schema: {} });
const FILE_TOOLS = ["list_files", "search_text", "read_file"].map(spec);
const CHILD_TOOLS = [...FILE_TOOLS, spec("send_agent_message"), spec("send_user_message")];
const TASK: ContextMessage = { role: "user", text: "Where is the server?" };

function ask(
  tools: readonly ToolSpec[],
  messages: readonly ContextMessage[],
  system = "You help.",
): Promise<ModelReply> {
  const request: ModelRequest = { model: "offline/rehearsal", system, tools, messages };
  return createRehearsalModel().call(request, { signal: new AbortController().signal });
}

function callsOf(reply: ModelReply): readonly ToolCallPart[] {
  return reply.parts.filter((part) => part.type === "tool-call");
}

function inputText(call: ToolCallPart, field: string): string {
  const value = jsonObjectIs(call.input) ? call.input[field] : undefined;
  return typeof value === "string" ? value : "";
}

/** The answers for a folder with one file that has every word. */
function canned(call: ToolCallPart): string {
  const word = inputText(call, "query");
  if (call.name === "list_files") return `1 file in the workspace (1 folder opened).\nsrc/a.ts`;
  if (call.name === "search_text") return `1 matching lines in 1 of 1 searched files.\nsrc/a.ts:7: the ${word} is here`;
  return call.name === "read_file" ? "7\tthe line itself" : '{"status":"sent"}';
}

interface Ended {
  readonly messages: readonly ContextMessage[];
  readonly called: readonly string[];
  readonly reports: readonly string[];
  readonly text: string;
}

async function run(start: readonly ContextMessage[], tools = CHILD_TOOLS, system?: string): Promise<Ended> {
  const messages = [...start];
  const calls: ToolCallPart[] = [];
  for (let iteration = 1; iteration <= 6; iteration++) {
    const reply = await ask(tools, messages, system);
    messages.push({ role: "assistant", parts: reply.parts });
    const made = callsOf(reply);
    calls.push(...made);
    const reports = calls.filter((call) => call.name === "send_agent_message").map((call) => inputText(call, "text"));
    if (made.length === 0)
      return { messages, called: calls.map((call) => call.name), reports, text: replyText(reply.parts) };
    messages.push({
      role: "tool",
      results: made.map((call) => ({ id: call.id, name: call.name, text: canned(call), failed: false })),
    });
  }
  throw new Error("more than six iterations");
}

test("a child lists, searches, reads, reports once and ends", async () => {
  const { called, reports, text } = await run([TASK]);
  expect(called).toEqual(["list_files", "search_text", "read_file", "send_agent_message"]);
  expect(reports).toEqual(["- server 1 line in 1 file\n- src/a.ts\n    7 | the line itself"]);
  expect(text).toBe("My findings are sent.");
});

test("a report is final if the tool allows it", async () => {
  const schema = { type: "object", properties: { text: { type: "string" }, final: { type: "boolean" } } };
  const tools = [...FILE_TOOLS, { ...spec("send_agent_message"), schema }];
  const looked = (await run([TASK])).messages.slice(0, 7);
  const [report] = callsOf(await ask(tools, looked));
  expect(report?.input).toEqual({ text: expect.stringContaining("src/a.ts"), final: true });
  const [plain] = callsOf(await ask(CHILD_TOOLS, looked));
  expect(plain?.input).toEqual({ text: expect.stringContaining("src/a.ts") });
});

test("a child that is nudged sends its findings without looking again", async () => {
  const looked = (await run([TASK])).messages.slice(0, 7);
  const silent: ContextMessage = { role: "assistant", parts: [{ type: "text", text: "I am done." }] };
  const nudged = await run([...looked, silent, { role: "user", text: NUDGE_TOOL }]);
  expect(nudged.called).toEqual(["send_agent_message"]);
  expect(nudged.reports[0]).toContain("src/a.ts");
});

test("a child reports by tag if its prompt or a nudge says so", async () => {
  const ended = await run([TASK], CHILD_TOOLS, "Wrap your final result in <response>...</response>.");
  expect(ended.text).toMatch(/^<response>\n[^]*src\/a\.ts[^]*\n<\/response>$/);
  expect(ended.reports).toEqual([]);
  const plain = await run([TASK]);
  const nudged = await run([...plain.messages.slice(0, -3), { role: "user", text: NUDGE_TAG }]);
  expect(nudged.text).toMatch(/^<response>\n[^]*src\/a\.ts/);
});

test("a steered child also looks for the new words, and reports again", async () => {
  const first = await run([TASK]);
  const steer = frameBuild("system_message", "0198-parent", "Look for the lexer as well.");
  const second = await run([...first.messages, { role: "user", text: steer }]);
  expect(second.called).toEqual(["search_text", "send_agent_message"]);
  expect(second.reports[0]).toContain("lexer 1 line in 1 file");
});

test("a child without file tools says so, and one whose report is refused answers in text", async () => {
  const blind = await run([TASK], [spec("send_agent_message")]);
  expect(blind.reports).toEqual(["- there is no tool here to look into files with"]);
  const refused: ContextMessage[] = [
    TASK,
    {
      role: "assistant",
      parts: [{ type: "tool-call", id: "call_1", name: "send_agent_message", input: { text: "x" } }],
    },
    { role: "tool", results: [{ id: "call_1", name: "send_agent_message", text: "no parent", failed: true }] },
  ];
  expect((await ask([spec("send_agent_message")], refused)).stop).toBe("end");
});
