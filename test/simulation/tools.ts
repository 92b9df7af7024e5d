/** The tools of a simulation: `look` may be repeated, `strike` may not; both may be slow, fail, or outlive their abort. */

import { jsonObjectIs } from "../../src/core/json.ts";
import type { Tool } from "../../src/index.ts";
import type { Random } from "./random.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";

export interface SimulatedTools {
  readonly random: Random;
  readonly world: SimulatedWorld;
  /** Told when a tool begins, with the token of the call. */
  readonly onRun: (name: string, token: string) => void;
}

const LATENCIES = [
  [50, 0],
  [30, 200],
  [15, 2_000],
  [4, 40_000],
] as const;

/** What long results are filled with. */
const MORE = " and more";

export function createSimulatedTools(parts: SimulatedTools, life: Life): Tool[] {
  return [tool(parts, life, "look", true), tool(parts, life, "strike", false)];
}

function tool({ random, world, onRun }: SimulatedTools, life: Life, name: string, safe: boolean): Tool {
  return {
    name,
    description: `Does ${name}.`,
    schema: { type: "object", properties: { token: { type: "string" } } },
    safe,
    run(input, { signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<{ text: string; failed: boolean }>();
      if (life.ended) return promise;
      const given = jsonObjectIs(input) ? input["token"] : undefined;
      const token = typeof given === "string" ? given : "";
      onRun(name, token);
      const failed = random.percent(10);
      const throws = random.percent(5);
      const much = random.percent(15) ? 200 * random.below(20) : 0;
      world.at(
        world.now + random.weighted(LATENCIES),
        () =>
          throws
            ? reject(new Error("it broke"))
            : resolve({ text: random.percent(10) ? "" : `saw ${token}${MORE.repeat(much)}`, failed }),
        life,
      );
      if (random.percent(80)) signal.addEventListener("abort", () => reject(new Error("aborted")));
      return promise;
    },
  };
}
