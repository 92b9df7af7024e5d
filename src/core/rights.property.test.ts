/** Rights, questions and what stays of closed agents, in trees that are driven at random. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeCall } from "./permissions/process-rights.ts";
import { limits, numbers } from "./random-bounds.test-support.ts";
import { drive, testSource } from "./random-tree.test-support.ts";
import { treeNew, treeStep } from "./tree.ts";

const RUNS = 400;

test("I18: a child has at most its parent's rights, and every started call was allowed or granted under them", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const tree = treeNew(testSource);
      for (const step of drive(list, bounds).steps) {
        const { decision } = treeStep(tree, step, "salt");
        for (const agent of tree.state.agents.values()) {
          const parent = tree.state.agents.get(agent.parent ?? -1);
          const held = parent?.definition.tools.map((tool) => tool.name);
          if (held !== undefined) for (const { name } of agent.definition.tools) expect(held).toContain(name);
        }
        for (const fact of decision.events) {
          if (fact.type !== "tool-called" || fact.read === true) continue;
          const agent = tree.state.agents.get(fact.agent);
          if (agent === undefined) continue;
          const call = { name: fact.name, input: { path: "a" } };
          const judged = judgeCall(tree.state.rights, agent.definition, call, tree.state.grants);
          expect(judged).toBe(fact.granted === true && judged === "ask" ? "ask" : "allow");
        }
      }
    }),
    { numRuns: RUNS },
  );
});

test("no effect, timer or text of a closed agent stays in the state or the contexts", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { state, contexts } = drive(list, bounds).tree;
      for (const effect of state.effects.values())
        expect(effect.kind === "erase" || state.agents.has(effect.agent)).toBe(true);
      for (const name of state.timers.keys()) {
        const [kind, subject = ""] = name.split(":");
        if (kind === "deadline" || kind === "queue") expect(state.runs.get(Number(subject))?.outcome).toBeNull();
        if (kind === "turn") expect(state.agents.get(Number(subject))?.turn?.clock.since).toEqual(expect.any(Number));
        if (kind === "barrier") expect(state.agents.has(Number(subject))).toBe(true);
      }
      expect([...contexts.agents.keys()].toSorted((a, b) => a - b)).toEqual(
        [...state.agents.keys()].toSorted((a, b) => a - b),
      );
      expect([...contexts.runs.keys()].toSorted((a, b) => a - b)).toEqual(
        [...state.runs.keys()].toSorted((a, b) => a - b),
      );
      const waiting = [...state.agents.values()].flatMap((agent) => agent.inbox.map((message) => message.key));
      for (const key of contexts.messages.keys()) expect(waiting).toContain(key);
    }),
    { numRuns: RUNS },
  );
});

test("a question is open while its call waits, and a run needs input while nothing below it can continue", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { state } = drive(list, bounds).tree;
      const waiting = [...state.agents.values()].flatMap(({ turn }) => [...(turn?.calls.values() ?? [])]);
      const asked = waiting.map((call) => call.question).filter((key) => key !== null);
      const { question } = state.requestCalls;
      if (question !== null) expect(state.budgetQueue).toContain(state.questions.get(question)?.agent);
      const own = [...state.questions].flatMap(([key, { ask }]) => (ask === null ? [] : [key]));
      expect([...asked, ...own, ...(question === null ? [] : [question])].toSorted()).toEqual(
        [...state.questions.keys()].toSorted(),
      );
      const asking = new Set(own.map((key) => state.questions.get(key)?.agent));
      const stuck = (number: number): boolean => {
        const agent = state.agents.get(number);
        if (agent === undefined || state.runs.get(number)?.state === "queued") return false;
        if (agent.definition.runner !== undefined) return asking.has(number);
        if (question !== null && state.budgetQueue.includes(number)) return true;
        if (agent.turn === null) return agent.queue.length === 0 && agent.live.size > 0 && [...agent.live].every(stuck);
        const calls = [...agent.turn.calls.values()];
        return (
          calls.length > 0 && calls.every((call) => call.question !== null || (call.run !== null && stuck(call.run)))
        );
      };
      for (const [number, run] of state.runs) {
        if (run.outcome === null) expect([number, run.state === "needs_input"]).toEqual([number, stuck(number)]);
        if (run.state === "needs_input") expect(state.timers.has(`deadline:${number}`)).toBe(false);
      }
    }),
    { numRuns: RUNS },
  );
});
