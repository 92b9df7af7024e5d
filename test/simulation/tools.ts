/** The tools of a simulation: `look` may be repeated, `strike` may not; both may be slow, fail, or outlive their abort. */

import { jsonObjectIs } from "../../src/core/json.ts";
import type { Tool } from "../../src/index.ts";
import { type CallsUnderWay, enterCall, type OnStray, unheard } from "./calls.ts";
import type { Random } from "./random.ts";
import { FAILED_REQUEST } from "./secret.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";

export interface SimulatedTools {
  readonly random: Random;
  readonly world: SimulatedWorld;
  /** Told when a tool begins, with the token of the call. Says which agent called it. */
  readonly onRun: (name: string, token: string) => string;
  readonly onStray: OnStray;
}

const LATENCIES = [
  [50, 0],
  [30, 200],
  [15, 2_000],
  [4, 40_000],
] as const;

/** What long results are filled with. */
const MORE = " and more";

export function createSimulatedTools(parts: SimulatedTools, under: CallsUnderWay, life: Life): Tool[] {
  return [tool(parts, under, life, "look", true), tool(parts, under, life, "strike", false)];
}

function tool(parts: SimulatedTools, under: CallsUnderWay, life: Life, name: string, safe: boolean): Tool {
  const { random, world, onRun, onStray } = parts;
  return {
    name,
    description: `Does ${name}.`,
    schema: { type: "object", properties: { token: { type: "string" } } },
    safe,
    run(input, { signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<{ text: string; failed: boolean }>();
      if (unheard(life, `runs the tool ${name}`, onStray)) return promise;
      const given = jsonObjectIs(input) ? input["token"] : undefined;
      const token = typeof given === "string" ? given : "";
      const settle = enterCall(under, { what: name, agent: onRun(name, token) });
      signal.addEventListener("abort", settle);
      const failed = random.percent(10);
      const throws = random.percent(5);
      const much = random.percent(15) ? 200 * random.below(20) : 0;
      world.at(
        world.now + random.weighted(LATENCIES),
        () => {
          settle();
          if (throws) reject(new Error("it broke", FAILED_REQUEST));
          else resolve({ text: random.percent(10) ? "" : `saw ${token}${MORE.repeat(much)}`, failed });
        },
        life,
      );
      if (random.percent(80)) signal.addEventListener("abort", () => reject(new Error("aborted")));
      return promise;
    },
  };
}
