import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { Step } from "./step.ts";
import type { DefinitionFacts } from "./values/definition.ts";
import type { Input } from "./event.ts";
import { asPostId, asStepKey } from "./values/ids.ts";
import type { Json } from "./values/json.ts";
import { settingsOf } from "./values/limits.ts";
import { contextsToText } from "./context/contexts.ts";
import { mapsToText } from "./values/map-json.ts";
import { type Stepped, type Tree, treeFold, treeFromText, treeNew, treeSource, treeStep, treeToText } from "./tree.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");
const definition = (name: string): DefinitionFacts => ({
  name,
  hash: name,
  reporting: "tool",
  model: "scripted/x",
  window: null,
  price: null,
  tools: [{ name: "look", safe: true }],
  iterations: null,
  timeoutSeconds: null,
  typed: false,
  say: false,
});
const source = treeSource(sha256, (hash) => ({
  name: hash,
  description: `the ${hash}`,
  prompt: `You are the ${hash}.`,
  tools: [{ name: "look", description: "Look", schema: {} }],
}));

function stepper(tree: Tree): { step: (input: Input, ...texts: Json[]) => Stepped; rows: Stepped["row"][] } {
  const rows: Stepped["row"][] = [];
  let at = 1_000;
  return {
    rows,
    step(input, ...texts) {
      at += 1_000;
      const step: Step = { at, seed: "0123456789abcdef", slots: 8, input, texts };
      const stepped = treeStep(tree, step, "salt");
      rows.push(stepped.row);
      return stepped;
    },
  };
}

const opened: Input = {
  type: "tree-opened",
  agent: "root-agent",
  kind: "foreground",
  definition: "boss",
  catalog: [definition("boss"), definition("worker")],
  settings: settingsOf(),
};
const replied = (effect: string, calls: number): Input => ({
  type: "model-replied",
  effect: asStepKey(effect),
  attempt: 1,
  usage: { input: 10, output: 5 },
  stop: calls > 0 ? "tools" : "end",
  size: 10,
});
const call = (id: string, name: string, input: Json): Json => ({ type: "tool-call", id, name, input });
const posted: Input = { type: "message-posted", id: asPostId("p1"), to: 0, kind: "user", size: 5 };

function effectsOf(stepped: Stepped): string[] {
  return stepped.decision.effects.map((effect) => (effect.type === "abort" ? "abort" : effect.key));
}

test("an awaited delegation goes from the inbox to the answer in seven steps, and its fold is the live tree", () => {
  const tree = treeNew(source);
  const { step, rows } = stepper(tree);
  step(opened);
  const [root1] = effectsOf(step(posted, "please"));
  const [child1] = effectsOf(step(replied(root1 ?? "", 1), [call("c1", "subagent", { task: "find it" })]));
  const [tool] = effectsOf(step(replied(child1 ?? "", 1), [call("c1", "look", { at: "x" })]));
  const [child2] = effectsOf(
    step({ type: "tool-finished", effect: asStepKey(tool ?? ""), attempt: 1, size: 3 }, "saw"),
  );
  const [child3] = effectsOf(step(replied(child2 ?? "", 1), [call("c2", "send_agent_message", { text: "found" })]));
  const [root2] = effectsOf(step(replied(child3 ?? "", 0), [{ type: "text", text: "done" }]));
  const last = step(replied(root2 ?? "", 0), [{ type: "text", text: "It is found." }]);
  expect(last.outgoing.map((message) => message.text)).toEqual(["It is found."]);
  const messages = tree.contexts.agents.get(0)?.messages ?? [];
  expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "assistant"]);
  const payload: unknown = JSON.parse(messages[2]?.role === "tool" ? (messages[2].results[0]?.text ?? "") : "");
  expect(payload).toMatchObject({ success: true, summary: "found", report: "tool", nudged: false });
  expect(tree.state.runs.size).toBe(0);
  expect(tree.state.agents.size).toBe(1);
  const folded = treeNew(source);
  for (const row of rows) treeFold(folded, row);
  expect(mapsToText(folded.state)).toBe(mapsToText(tree.state));
  expect(contextsToText(folded.contexts)).toBe(contextsToText(tree.contexts));
  expect(folded.hash).toBe(tree.hash);
});

test("two background children are announced once, in spawn order, after the parent's turn", () => {
  const tree = treeNew(source);
  const { step } = stepper(tree);
  step(opened);
  const [root1] = effectsOf(step(posted, "please"));
  const spawned = step(replied(root1 ?? "", 2), [
    call("c1", "start_background_agent", { task: "one" }),
    call("c2", "start_background_agent", { task: "two", label: "second" }),
  ]);
  const keys = effectsOf(spawned);
  expect(keys).toHaveLength(3);
  const models = spawned.decision.effects.filter((effect) => effect.type === "call-model");
  const rootKey = models.find((effect) => effect.agent === 0)?.key ?? "";
  const childKeys = models.filter((effect) => effect.agent !== 0).map((effect) => effect.key);
  step(replied(rootKey, 0), [{ type: "text", text: "Started." }]);
  let announced: Stepped | null = null;
  for (const key of childKeys.toReversed()) {
    const [next] = effectsOf(step(replied(key, 1), [call("c1", "send_agent_message", { text: `result of ${key}` })]));
    announced = step(replied(next ?? "", 0), [{ type: "text", text: "ok" }]);
  }
  expect(announced?.decision.events.map((event) => event.type)).toEqual([
    "turn-ended",
    "run-ended",
    "announcement-queued",
    "turn-started",
    "model-called",
  ]);
  const text = tree.contexts.agents.get(0)?.messages.at(-1);
  expect(text?.role === "user" ? text.text : "").toContain('### Task 2: "second"');
  const [summary] = announced === null ? [] : effectsOf(announced);
  step(replied(summary ?? "", 0), [{ type: "text", text: "Both are done." }]);
  expect(tree.contexts.agents.get(0)?.messages.map((message) => message.role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(tree.state.runs.size).toBe(0);
});

test("a snapshot keeps tool schemas with members that begin with a dollar", () => {
  const schema = { $schema: "x", properties: { a: { $ref: "#/$defs/A" } }, $defs: { A: { type: "string" } } };
  const named = treeSource(sha256, (hash) => ({
    name: hash,
    description: "",
    prompt: "",
    tools: [{ name: "look", description: "Look", schema }],
  }));
  const catalog = [definition("orchestrator")];
  const opened = treeNew(named);
  const at = 1_000;
  const settings = settingsOf();
  const opening = {
    type: "tree-opened",
    agent: "a",
    kind: "foreground",
    definition: "orchestrator",
    catalog,
    settings,
  } as const;
  const posting = { type: "message-posted", id: asPostId("p"), to: 0, kind: "user", size: 2 } as const;
  const step = (tree: Tree, input: Input, ...texts: Json[]) =>
    treeStep(tree, { at, seed: "0123456789abcdef", slots: 8, input, texts }, "salt");
  step(opened, opening);
  const loaded = treeFromText(treeToText(opened), named);
  const [live, again] = [step(opened, posting, "hi"), step(loaded, posting, "hi")];
  expect([...again.requests.values()][0]?.tools[0]?.schema).toEqual(schema);
  expect(again.row).toEqual(live.row);
});
