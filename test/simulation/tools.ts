/**
 * The tools of a simulation: `look` may be repeated, `strike` may not; both may be slow, fail, or outlive their abort.
 */

import { jsonObjectIs } from "../../src/core/values/json.ts";
import type { Tool, ToolOutput } from "../../src/index.ts";
import { type CallsUnderWay, enterCall, type OnStray, unheard } from "./calls.ts";
import type { Random } from "./random.ts";
import { FAILED_REQUEST } from "./secret.ts";
import type { Life, SimulatedWorld } from "./simulated-world.ts";
import { oddResult, oddThrow } from "./troubles/odd-values.ts";
import type { Troubles } from "./troubles/troubles.ts";

export interface SimulatedTools {
  readonly random: Random;
  readonly world: SimulatedWorld;
  /** Called when a tool starts, with the token of the call. Returns the id of the calling agent. */
  readonly onRun: (name: string, token: string) => string;
  /** Called with the caller's data that a call was given. */
  readonly onData: (tree: string, data: unknown) => void;
  readonly onStray: OnStray;
  readonly count: (what: string) => void;
  readonly troubles: () => Troubles;
  /** Called when a call has returned. */
  readonly onAnswered: (agent: string, life: Life) => void;
}

const LATENCIES = [
  [50, 0],
  [30, 200],
  [15, 2_000],
  [4, 40_000],
] as const;

/** The filling of long results. */
const MORE = " and more";

export function createSimulatedTools(parts: SimulatedTools, under: CallsUnderWay, life: Life): Tool[] {
  return [tool(parts, under, life, "look", true), tool(parts, under, life, "strike", false)];
}

/** An odd end instead of a result, or null. It may change the arguments. */
function oddEnd(
  { troubles, count }: SimulatedTools,
  input: unknown,
): { readonly throws: boolean; readonly value: unknown } | null {
  const { random } = troubles();
  if (troubles().strikes("changed-arguments", 50) && typeof input === "object" && input !== null) {
    count("trouble changed-arguments");
    // A frozen copy refuses the change, which protects the record as well as a separate copy.
    Reflect.set(input, "token", "changed");
    Reflect.set(input, "added", { by: "the tool" });
  }
  if (troubles().strikes("odd-result", 30)) {
    count("trouble odd-result");
    return { throws: false, value: oddResult(random) };
  }
  if (!troubles().strikes("odd-throw", 30)) return null;
  count("trouble odd-throw");
  return { throws: true, value: oddThrow(random) };
}

function tool(parts: SimulatedTools, under: CallsUnderWay, life: Life, name: string, safe: boolean): Tool {
  const { random, world, onRun, onStray } = parts;
  return {
    name,
    description: `Does ${name}.`,
    schema: { type: "object", properties: { token: { type: "string" } } },
    safe,
    run(input, { signal, tree, data }) {
      const { promise, resolve, reject } = Promise.withResolvers<{ text: string; failed: boolean }>();
      if (unheard(life, `runs the tool ${name}`, onStray)) return promise;
      parts.onData(tree, data);
      const given = jsonObjectIs(input) ? input["token"] : undefined;
      const token = typeof given === "string" ? given : "";
      const agent = onRun(name, token);
      const settle = enterCall(under, { what: name, agent });
      signal.addEventListener("abort", settle);
      const failed = random.percent(10);
      const throws = random.percent(5);
      const much = random.percent(15) ? 200 * random.below(20) : 0;
      world.at(
        world.now + random.weighted(LATENCIES),
        () => {
          if (settle()) parts.onAnswered(agent, life);
          const odd = oddEnd(parts, input);
          if (odd?.throws === true) reject(odd.value);
          else if (odd !== null) resolve(odd.value as ToolOutput);
          else if (throws) reject(new Error("it broke", FAILED_REQUEST));
          else resolve({ text: random.percent(10) ? "" : `saw ${token}${MORE.repeat(much)}`, failed });
        },
        life,
      );
      if (random.percent(80)) signal.addEventListener("abort", () => reject(new Error("aborted")));
      return promise;
    },
  };
}
