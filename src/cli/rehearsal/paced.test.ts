/** The paced rehearsal: when its replies come, what it forgets, and how it answers. */

import { expect, test } from "vitest";

import type { ModelReply, ModelRequest } from "../../contracts/model.ts";
import { NUDGE_TOOL } from "../../core/text/prompts/nudges.ts";
import { type ContextMessage, replyText } from "../../core/values/message.ts";
import { createRehearsalModel } from "./rehearsal.ts";
import { composeBriefly } from "./answer.ts";
import { createPacing } from "./paced.ts";

const REPORT = { name: "send_agent_message", description: "", schema: { properties: { final: {} } } };
const SOURCE = "Look into the source: its main files, and what they say they do.";
const MAP = "Map the folder: its main folders, and how many files of which kind they hold.";

/** Timers that fire when the test fires them. */
function createTimers() {
  const waiting: { readonly milliseconds: number; fire(): void }[] = [];
  return {
    waiting,
    after(milliseconds: number, fire: () => void) {
      const timer = { milliseconds, fire };
      waiting.push(timer);
      return () => void waiting.splice(waiting.indexOf(timer), 1);
    },
  };
}

function call(messages: readonly ContextMessage[], timers: ReturnType<typeof createTimers>, signal?: AbortSignal) {
  const request: ModelRequest = { model: "offline/paced", system: "", tools: [REPORT], messages };
  const model = createRehearsalModel(createPacing(timers));
  return model.call(request, { signal: signal ?? new AbortController().signal });
}

async function reply(...messages: readonly ContextMessage[]): Promise<ModelReply> {
  const timers = createTimers();
  const called = call(messages, timers);
  timers.waiting[0]?.fire();
  return called;
}

function reported({ parts }: ModelReply): boolean {
  return parts.some((part) => part.type === "tool-call" && part.name === "send_agent_message");
}

test("a reply comes after a pause that follows from the task", async () => {
  const timers = createTimers();
  const replies = [SOURCE, MAP, MAP].map((text) => call([{ role: "user", text }], timers));
  const [source = 0, ...maps] = timers.waiting.map(({ milliseconds }) => milliseconds);
  expect(maps[0]).toBe(maps[1]);
  expect(source).toBeGreaterThan(maps[0] ?? 0);
  for (const timer of timers.waiting) timer.fire();
  await expect(Promise.all(replies)).resolves.toHaveLength(3);
});

test("an aborted call ends at once and leaves no timer", async () => {
  const timers = createTimers();
  const controller = new AbortController();
  const called = call([{ role: "user", text: MAP }], timers, controller.signal);
  controller.abort();
  await expect(called).rejects.toMatchObject({ code: "aborted" });
  expect(timers.waiting).toEqual([]);
});

test("the child that reads the source reports only after a nudge, the others report at once", async () => {
  const task: ContextMessage = { role: "user", text: SOURCE };
  const forgot = await reply(task);
  expect(reported(forgot)).toBe(false);
  expect(replyText(forgot.parts)).not.toBe("");
  const nudged = [task, { role: "assistant", parts: forgot.parts }, { role: "user", text: NUDGE_TOOL }] as const;
  expect(reported(await reply(...nudged))).toBe(true);
  expect(reported(await reply({ role: "user", text: MAP }))).toBe(true);
});

test("the answer is one line for each part, and says what it is", () => {
  const parts = [
    { name: "The folder", findings: "- 7 files in 2 folders\n- src/ 5 files", trouble: null },
    { name: "The tests", findings: "", trouble: "it took too long" },
    { name: "The source", findings: "", trouble: null },
  ];
  const lines = composeBriefly("What is it?", parts).split("\n");
  expect(lines.slice(0, 3)).toEqual([
    "The folder: 7 files in 2 folders",
    "The tests: no answer: it took too long",
    "The source: nothing was found",
  ]);
  expect(lines.slice(3)).toEqual([expect.stringMatching(/^\(offline rehearsal: /)]);
});
