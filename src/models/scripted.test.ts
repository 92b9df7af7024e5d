import { expect, test } from "vitest";

import { ModelFailure } from "../contracts/model.ts";
import type { ModelReply, ModelRequest } from "../contracts/model.ts";
import type { ContextMessage } from "../core/values/message.ts";
import { byContext, createScriptedModel, createScriptedModels } from "./scripted.ts";
import { callTool, callTools, fail, hang, malformedCall, say, unknownToolCall } from "./scripted-reply.ts";

function ask(...messages: readonly ContextMessage[]): ModelRequest {
  return {
    model: "scripted/a",
    system: "You are a test.",
    tools: [],
    messages: messages.length > 0 ? messages : [{ role: "user", text: "go" }],
  };
}

function replied(reply: ModelReply): ContextMessage {
  return { role: "assistant", parts: reply.parts };
}

const quiet = { signal: new AbortController().signal };

test("a list gives its replies in order and records every request", async () => {
  const model = createScriptedModel([say("one"), "two"]);
  const first = await model.call(ask(), quiet);
  expect(first).toEqual({ parts: [{ type: "text", text: "one" }], usage: { input: 13, output: 1 }, stop: "end" });
  expect((await model.call(ask(), quiet)).parts).toEqual([{ type: "text", text: "two" }]);
  expect(model.requests).toEqual([ask(), ask()]);
});

test("calls after the end of a list fail with a sentence", async () => {
  const model = createScriptedModel([say("one")]);
  await model.call(ask(), quiet);
  await expect(model.call(ask(), quiet)).rejects.toMatchObject({
    name: "ModelFailure",
    retryable: false,
    message: "The script has 1 reply and was asked for number 2.",
  });
});

test("tool calls get new ids, even if messages were removed from the context", async () => {
  const model = createScriptedModel([
    callTool("a", {}),
    callTools(
      [
        { name: "b", input: {} },
        { name: "c", input: {}, id: "own" },
        { name: "d", input: {} },
      ],
      { text: "both" },
    ),
    callTool("e", {}),
    callTool("f", {}),
  ]);
  const user: ContextMessage = { role: "user", text: "go" };
  const first = await model.call(ask(user), quiet);
  const second = await model.call(ask(user, replied(first)), quiet);
  const third = await model.call(ask(user, replied(second)), quiet);
  const left: ContextMessage = {
    role: "assistant",
    parts: [{ type: "tool-call", id: "call_7", name: "a", input: {} }],
  };
  const fourth = await model.call(ask(user, left), quiet);
  const ids = (reply: ModelReply) => reply.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
  expect([ids(first), ids(second), ids(third), ids(fourth)]).toEqual([
    ["call_1"],
    ["call_2", "own", "call_3"],
    ["call_4"],
    ["call_8"],
  ]);
  expect([first.stop, second.stop]).toEqual(["tools", "tools"]);
  expect(second.parts[0]).toEqual({ type: "text", text: "both" });
});

test("a function gets the request, the call's number and the task, and may be asynchronous", async () => {
  const model = createScriptedModel(
    async (_request, { number, task, newest, replies }) => `${number} ${task} ${newest} ${replies}`,
  );
  const request = ask({ role: "user", text: "task" }, { role: "assistant", parts: [] }, { role: "user", text: "more" });
  expect((await model.call(request, quiet)).parts).toEqual([{ type: "text", text: "1 task more 1" }]);
});

test("a script by context gives a repeated request the same reply", async () => {
  const model = createScriptedModel(byContext(["one", "two"]));
  const later = ask({ role: "user", text: "go" }, { role: "assistant", parts: [] });
  for (const [request, text] of [
    [ask(), "one"],
    [later, "two"],
    [ask(), "one"],
    [later, "two"],
  ] as const) {
    expect((await model.call(request, quiet)).parts).toEqual([{ type: "text", text }]);
  }
});

test("a failure is a ModelFailure with the script's fields", async () => {
  const model = createScriptedModel([
    fail({ code: "context-overflow", retryable: true, retryAfterMs: 5, message: "too long" }),
    fail(),
  ]);
  const failure: unknown = await model.call(ask(), quiet).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ModelFailure);
  expect(failure).toMatchObject({ code: "context-overflow", retryable: true, retryAfterMs: 5, message: "too long" });
  await expect(model.call(ask(), quiet)).rejects.toMatchObject({
    code: "provider-error",
    retryable: false,
    retryAfterMs: undefined,
  });
});

test("a hanging call fails when it is aborted", async () => {
  const controller = new AbortController();
  const heard: string[] = [];
  const call = createScriptedModel([hang("half a ")]).call(ask(), {
    signal: controller.signal,
    onText: (delta) => heard.push(delta),
  });
  const winner = await Promise.race([
    call.catch(() => "ended"),
    new Promise((done) => process.nextTick(done, "still hanging")),
  ]);
  expect(winner).toBe("still hanging");
  controller.abort();
  await expect(call).rejects.toMatchObject({ name: "ModelFailure", code: "aborted" });
  expect(heard.join("")).toBe("half a ");
});

test("an abort ends a call whose script never resolves, and a call that begins aborted", async () => {
  const controller = new AbortController();
  const model = createScriptedModel(() => new Promise(() => undefined));
  const call = model.call(ask(), { signal: controller.signal });
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "aborted" });
  await expect(model.call(ask(), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
  expect(model.requests).toHaveLength(2);
});

test("the arguments of a malformed call are a string, and unknown tools can be called", async () => {
  const model = createScriptedModel([malformedCall("subagent"), unknownToolCall()]);
  expect((await model.call(ask(), quiet)).parts).toEqual([
    { type: "tool-call", id: "call_1", name: "subagent", input: '{"text": "unfinished' },
  ]);
  expect((await model.call(ask(), quiet)).parts[0]).toMatchObject({ name: "no_such_tool" });
});

test("a script sets usage, also null, and the stop reason", async () => {
  const model = createScriptedModel([
    say("a", { usage: { input: 7, output: 1 } }),
    say("b", { usage: null }),
    say("c", { stop: "length" }),
  ]);
  expect((await model.call(ask(), quiet)).usage).toEqual({ input: 7, output: 1 });
  expect((await model.call(ask(), quiet)).usage).toBeNull();
  expect((await model.call(ask(), quiet)).stop).toBe("length");
});

test("the streamed pieces joined are the text", async () => {
  const text = "  two words\n\nand  more \n";
  for (const given of [text, "   ", ""]) {
    const heard: string[] = [];
    await createScriptedModel([say(given)]).call(ask(), { ...quiet, onText: (delta) => heard.push(delta) });
    expect(heard.join("")).toBe(given);
  }
});

test("a provider has a script for each model, only the given facts, and no other models", async () => {
  const provider = createScriptedModels(
    { "scripted/parent": ["parent"], "scripted/child": ["child"] },
    { "scripted/child": { window: 1000 } },
  );
  const parent = provider.resolve("scripted/parent");
  const child = provider.resolve("scripted/child");
  if ("unavailable" in parent || "unavailable" in child) throw new Error("both are scripted");
  expect(parent.facts).toEqual({ window: null, price: null });
  expect(child.facts).toEqual({ window: 1000, price: null });
  await child.model.call({ ...ask(), model: "scripted/child" }, quiet);
  await parent.model.call({ ...ask(), model: "scripted/parent" }, quiet);
  expect(provider.requests.map((request) => request.model)).toEqual(["scripted/child", "scripted/parent"]);
  expect(provider.model("scripted/parent").requests).toHaveLength(1);
  expect(provider.resolve("scripted/other")).toEqual({
    unavailable:
      "There is no script for the model scripted/other; there are scripts for scripted/parent, scripted/child.",
  });
});
