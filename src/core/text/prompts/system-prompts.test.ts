import { expect, test } from "vitest";
import { apply } from "../../apply.ts";
import type { DefinitionFacts, DefinitionText } from "../../values/definition.ts";
import type { Json } from "../../values/json.ts";
import { settingsOf } from "../../values/limits.ts";
import { type AgentState, type Run, stateEmpty } from "../../state.ts";
import { promptFill, promptOfChild, promptOfRoot, promptTemplate, taskMessage } from "./system-prompts.ts";

/** What a template's place looks like: a name in braces. */
const UNFILLED = /\{[a-z]+\}/g;

const PARENT_ID = "0198c0de-0000-7000-8000-00000000000a";
const CHILD_ID = "0198c0de-0000-7000-8000-00000000000b";

function textOf(name: string, prompt: string, description = ""): DefinitionText {
  return { name, description, prompt, tools: [] };
}

function factsOf(name: string, reporting: "tool" | "tag"): DefinitionFacts {
  return {
    name,
    hash: name,
    reporting,
    model: "scripted/any",
    window: null,
    price: null,
    tools: [],
    iterations: null,
    timeoutSeconds: null,
    typed: false,
    say: false,
  };
}

/** A child as the kernel makes it, of a root that the kernel made. */
function childOf(reporting: "tool" | "tag"): { readonly child: AgentState; readonly run: Run } {
  const state = stateEmpty();
  const catalog = [factsOf("orchestrator", "tool"), factsOf("worker", reporting)];
  const opened = { kind: "foreground", definition: "orchestrator", catalog, settings: settingsOf() } as const;
  apply(state, { type: "tree-opened", agent: PARENT_ID, ...opened }, { seq: 1, at: 0 });
  const made = { id: "run-1", agent: CHILD_ID, mode: "background", definition: "worker", call: null } as const;
  const limits = { iterations: 7, timeoutMs: 125_000, size: 0 };
  apply(state, { type: "run-created", run: 1, parent: 0, ...made, ...limits }, { seq: 2, at: 0 });
  const child = state.agents.get(1);
  const run = state.runs.get(1);
  if (child === undefined || run === undefined) throw new Error("the kernel made no child");
  return { child, run };
}

function childPrompt(
  reporting: "tool" | "tag",
  label: string | null,
  prompt = "You do one task.",
  schema?: Json,
): string {
  return promptOfChild(textOf("worker", prompt), { ...childOf(reporting), parent: PARENT_ID, label, schema });
}

const rendered = [
  ["the root's", promptOfRoot(textOf("orchestrator", "You help."), [textOf("worker", "…", "Works.")], [])],
  ["the root's, with nobody to delegate to", promptOfRoot(textOf("orchestrator", "You help."), [], [])],
  [
    "the root's, with a skill",
    promptOfRoot(textOf("orchestrator", "You help."), [], [textOf("review", "…", "Reviews.")]),
  ],
  ["the child's that reports by tool", childPrompt("tool", "Count words")],
  ["the child's with a typed result", childPrompt("tool", "Count words", "You count.", { type: "integer" })],
  ["the child's that reports by tag", childPrompt("tag", null)],
] as const;

test.each(rendered)("%s prompt has no place left unfilled", (_, prompt) => {
  expect(prompt.match(UNFILLED)).toBeNull();
  expect(prompt).not.toContain("undefined");
});

test("an unfilled place would be found: filling leaves a name without a value as it is", () => {
  expect(promptFill(promptTemplate("{known} and {forgotten}"), { known: "here" }).match(UNFILLED)).toEqual([
    "{forgotten}",
  ]);
});

test.each(["tool", "tag"] as const)("a child that reports by %s learns who it is and its limits", (kind) => {
  const prompt = childPrompt(kind, "Count words");
  expect(prompt).toContain("You do one task.");
  expect(prompt).toContain('"Count words"');
  expect(prompt).toContain(`id ${CHILD_ID}`);
  expect(prompt).toContain(`parent agent (id ${PARENT_ID})`);
  expect(prompt).toContain("7 iterations");
  expect(prompt).toContain("2m5s");
  expect(prompt).toContain("send_user_message is for what the user should be told before you are done");
});

test("a child learns to report by its own protocol, and only by that", () => {
  const byTool = childPrompt("tool", null);
  const byTag = childPrompt("tag", null);
  expect(byTool).toContain("Deliver your complete result with send_agent_message and final: true, which ends your run");
  expect(byTool).not.toContain("<response>");
  expect(byTag).toContain("<response>...</response>");
  expect(byTag).toContain("send_agent_message is only for ad-hoc messages");
});

test("the prompt of a child without a label names no label", () => {
  expect(childPrompt("tool", null)).not.toContain("labelled");
});

test("a root learns of the frames, of both ways to delegate, and of those it can delegate to", () => {
  const prompt = promptOfRoot(
    textOf("orchestrator", "You help."),
    [textOf("orchestrator", "…", "Itself."), textOf("researcher", "…", "Finds things out."), textOf("quiet", "…")],
    [textOf("review", "…", "Reviews a change.")],
  );
  for (const word of ["<system_message>", "<message_for_user>", "<findings>", "subagent", "start_background_agent"])
    expect(prompt).toContain(word);
  expect(prompt).toContain("- researcher: Finds things out.");
  expect(prompt).not.toContain("Itself.");
  expect(prompt).not.toContain("- quiet");
  expect(prompt).toContain("- review: Reviews a change.");
});

test("F10: only the prompt of a child with a typed result asks for data", () => {
  expect(childPrompt("tool", null, "You count.", { type: "integer" })).toContain("Put the result into `data` too");
  expect(childPrompt("tool", null, "You count.", {})).toContain("Put the result into `data_json` too");
  expect(childPrompt("tool", null)).not.toContain("data");
});

test("braces in a task, a label, a description or a definition's own prompt reach the model as written", () => {
  const braces = "Rename {id} to {parent}, keep {prompt} and ${label}";
  expect(taskMessage(braces, braces, [braces])).toBe(
    `${braces}\n\nContext:\n${braces}\n\nFiles worth reading:\n- ${braces}`,
  );
  expect(childPrompt("tool", braces, braces)).toContain(`, labelled "${braces}"`);
  expect(childPrompt("tool", null, braces).startsWith(`${braces}\n`)).toBe(true);
  const root = promptOfRoot(textOf("orchestrator", braces), [textOf("worker", "…", braces)], []);
  expect(root.startsWith(`${braces}\n`)).toBe(true);
  expect(root).toContain(`- worker: ${braces}`);
});

test("F4: the task comes first, then the context, then the file hints; what is not given leaves no trace", () => {
  expect(taskMessage("the task", "a fact", ["a.ts", "b.ts"])).toBe(
    "the task\n\nContext:\na fact\n\nFiles worth reading:\n- a.ts\n- b.ts",
  );
  expect(taskMessage("the task", null, [])).toBe("the task");
  expect(taskMessage("the task", "", [])).toBe("the task");
});
