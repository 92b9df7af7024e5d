import { expect, test } from "vitest";
import type { Decided, Input } from "../event.ts";
import { type AgentNumber, asPostId, asStepKey, type RunNumber } from "../values/ids.ts";
import type { OpenEffect } from "../state.ts";
import { fsyncDeferrable } from "./deferred-fsync.ts";

const agent = 1 as AgentNumber;
const run = 1 as RunNumber;
const key = asStepKey("2.1");
const replied: Input = { type: "model-replied", effect: key, attempt: 1, usage: null, stop: "tools", size: 1 };
const finished: Input = { type: "tool-finished", effect: key, attempt: 1, size: 1 };
const post = asPostId("a post");
const ended = { type: "run-ended", run, status: "ok", report: "tool" } as const;
const called: Decided = { type: "model-called", agent, n: 1 };

function effectOf(kind: OpenEffect["kind"], safe: boolean): OpenEffect {
  const nothing = {
    call: null,
    name: null,
    granted: false,
    seen: null,
    compaction: false,
    reserved: null,
    used: { tokens: 0, cost: 0 },
    retryAt: null,
  };
  return { kind, agent, attempt: 1, underWay: true, failures: 0, safe, ...nothing };
}
const model = effectOf("model", false);

function trails(
  input: Input,
  effect: OpenEffect | undefined,
  events: readonly Decided[],
  rejected: string | null = null,
) {
  return fsyncDeferrable(input, effect, {
    rejected,
    events,
    effects: [],
    texts: [],
    seedUsed: false,
    slotsUsed: false,
    slotsLacked: false,
    refused: [],
  });
}

function created(mode: "awaited" | "background"): Decided {
  const what = { id: "r", agent: "a", definition: "worker", call: "c", iterations: 8, timeoutMs: 1, size: 1 };
  return { type: "run-created", run, parent: 0, mode, ...what };
}
const tool = (more: object): Decided => ({ type: "tool-called", agent, n: 1, call: "c", name: "look", ...more });

test.each([
  ["a reply that leads to a model call", replied, model, [called], true],
  ["a result of a tool that is safe to repeat", finished, effectOf("tool", true), [called], true],
  ["a reply that calls such a tool", replied, model, [tool({ safe: true })], true],
  ["a reply that reads the store", replied, model, [tool({ read: true })], true],
  ["an awaited child", replied, model, [created("awaited"), { type: "run-started", run }, called], true],
  ["a report", replied, model, [{ type: "run-reported", run, call: "c" }, called], true],
  ["a call of a tool that is not safe to repeat", replied, model, [tool({ safe: true }), tool({})], false],
  ["the result of such a tool", finished, effectOf("tool", false), [called], false],
  ["a background child, whose parent is told that it was accepted", replied, model, [created("background")], false],
  ["the end of a run", replied, model, [ended, called], true],
  ["the end of a run that somebody waits for", replied, model, [{ ...ended, posts: [post] }, called], false],
  ["the end of a turn", replied, model, [{ type: "turn-ended", agent, outcome: "done" }], true],
  ["an answer", replied, model, [{ type: "turn-ended", agent, outcome: "done", posts: [post] }], false],
  ["a message for the user", replied, model, [{ type: "channel-sent", agent, n: 1 }, called], false],
  ["what has come from outside", { type: "timers-due" }, undefined, [called], false],
] as const)("%s: %#", (_, input, effect, events, expected) => {
  expect(trails(input, effect, events)).toBe(expected);
});

test("a rejected result waits for fsync, because its sender gets the reason", () => {
  expect(trails(replied, model, [], "rejected")).toBe(false);
});
