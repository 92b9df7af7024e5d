/** Many conversations that are ready at once: how long the event loop is held up, and how long all of it takes. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { createErrand, type ErrandOptions, type Model, type ModelReply } from "../../src/index.ts";

const usage = { input: 10, output: 5 };
const LATENCY_MS = 20;

function answered(reply: ModelReply): Promise<ModelReply> {
  return new Promise((resolve) => setTimeout(() => resolve(reply), LATENCY_MS));
}

function modelOf(children: number): Model {
  return {
    call({ messages, system }) {
      const last = messages.at(-1);
      if (system.includes("You delegate.") && last?.role === "user") {
        const parts = Array.from({ length: children }, (_, index) => ({
          type: "tool-call" as const,
          id: `c${index}`,
          name: "subagent",
          input: { task: `look at ${index}` },
        }));
        return answered({ parts, usage, stop: "tools" });
      }
      if (system.includes("You delegate."))
        return answered({ parts: [{ type: "text", text: "done" }], usage, stop: "end" });
      const report = {
        type: "tool-call" as const,
        id: "r",
        name: "send_agent_message",
        input: { text: "x", final: true },
      };
      return answered({ parts: [report], usage, stop: "tools" });
    },
  };
}

export interface Held {
  /** Delay of the event loop, in milliseconds. */
  readonly p99: number;
  readonly longest: number;
  readonly seconds: number;
}

export async function holdUp(store: ErrandOptions["store"], conversations: number, children: number): Promise<Held> {
  const model = modelOf(children);
  const errand = await createErrand({
    store,
    model: "x/y",
    models: [{ resolve: () => ({ model, facts: { window: null, price: null } }) }],
    agents: { orchestrator: { prompt: "You delegate.", model: "x/y" }, worker: { prompt: "You work.", model: "x/y" } },
    tools: [],
    slots: conversations * children,
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const began = performance.now();
  delay.enable();
  const started = Array.from({ length: conversations }, async () => (await (await errand.start("go")).reply()).text);
  const answers = new Set(await Promise.all(started));
  delay.disable();
  const seconds = (performance.now() - began) / 1_000;
  await errand.close({ withinMs: 0 });
  if (answers.size !== 1 || !answers.has("done")) throw new Error(`not all were answered: ${[...answers].join(", ")}`);
  return { p99: delay.percentile(99) / 1e6, longest: delay.max / 1e6, seconds };
}
