/** Children whose turns are executed outside, in trees that are driven at random. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { limits, numbers } from "../random-bounds.test-support.ts";
import { drive, factsOf } from "../random-tree.test-support.ts";

const OUTSIDE = new Set(["outer", "mute"]);

test("an outside child has one session and no model call, and nothing of it counts after its end", () => {
  let sessions = 0;
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { rows } = drive(list, bounds);
      const outside = new Set<number>();
      const started = new Map<string, number>();
      const over = new Set<number>();
      for (const [row, fact] of rows.flatMap((one) => factsOf([one]).map((fact) => [one.seq, fact] as const))) {
        if (fact.type === "run-created" && OUTSIDE.has(fact.definition)) outside.add(fact.run);
        if (fact.type === "model-called" || fact.type === "tool-called" || fact.type === "nudge-given")
          expect(outside.has(fact.agent)).toBe(false);
        if (fact.type === "runner-started") {
          expect(outside.has(fact.agent) && !over.has(fact.agent)).toBe(true);
          expect([...started.values()]).not.toContain(fact.agent);
          started.set(`${row}.${fact.n}`, fact.agent);
          sessions += 1;
        }
        if (fact.type === "runner-message-sent") expect(over.has(fact.agent)).toBe(false);
        if ("effect" in fact && "attempt" in fact) expect(over.has(started.get(fact.effect) ?? -1)).toBe(false);
        if (fact.type === "run-ended") over.add(fact.run);
      }
    }),
    { numRuns: 300 },
  );
  expect(sessions).toBeGreaterThan(0);
});

test("a message for an outside child, or a question of it, is open only while its session is", () => {
  fc.assert(
    fc.property(numbers, limits, (list, bounds) => {
      const { state, contexts } = drive(list, bounds).tree;
      const session = (agent: number): boolean => {
        const key = state.agents.get(agent)?.turn?.model ?? null;
        return key !== null && state.effects.get(key)?.kind === "runner";
      };
      for (const { kind, agent } of state.effects.values()) if (kind === "tell") expect(session(agent)).toBe(true);
      for (const { ask, agent } of state.questions.values()) if (ask !== null) expect(session(agent)).toBe(true);
      for (const [key, { agent }] of contexts.told)
        expect([session(agent), state.effects.get(key)?.kind]).toEqual([true, "tell"]);
      for (const run of state.runs.values()) {
        const asks = [...state.questions.values()].some(({ agent, ask }) => ask !== null && agent === run.number);
        if (session(run.number)) expect(run.state).toBe(asks ? "needs_input" : "running");
      }
    }),
    { numRuns: 300 },
  );
});
