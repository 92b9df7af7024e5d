/** Aborted calls over each provider's protocol: their usage is booked, as reported or estimated. */

import { describe, expect, test } from "vitest";
import type { Usage } from "../../src/index.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { eventsUntil } from "../support/test-errand.ts";
import { WIRES } from "./wires/index.ts";
import { openWireErrand, parentIs } from "./wires/wire-errand.ts";
import { begin, openWireServer, stream } from "./wires/wire-server.ts";

function total(usage: Usage): number {
  return usage.input + usage.output;
}

describe.each(WIRES)("$title", (wire) => {
  test("a run cancelled during a stream is booked at an estimate, then at the reported usage", async () => {
    const heard = Promise.withResolvers<void>();
    const start = { id: "call_1", name: "start_background_agent", arguments: '{"task":"count the files"}' };
    const server = await openWireServer((exchange) => {
      if (!parentIs(exchange)) return begin(exchange, wire.beginning("Half"));
      return stream(
        exchange,
        wire.frames(exchange.body.includes("call_1") ? { text: "Started." } : { calls: [start] }),
      );
    });
    const errand = await openWireErrand(wire, server);
    const { id } = await errand.openAgent();
    const stopListening = errand.onText(({ text }) => (text.includes("Half") ? heard.resolve() : undefined));
    const agent = await errand.agent(id);
    await agent.postAndAwait("Count them.");
    await heard.promise;
    stopListening();
    const [run] = await errand.listRuns();
    await (await errand.agent(run?.agent ?? "")).cancel();

    const told = (name: string) => (event: { readonly facts: readonly { readonly type: string }[] }) =>
      event.facts.some((fact) => fact.type === name);
    const events = await eventsUntil(errand, id, told(wire.earlyUsage === null ? "run-ended" : "usage-learnt"));
    const [estimate] = acceptedFacts(events, "usage-estimated");
    expect(estimate).toMatchObject({ agent: 1, aborted: true, usage: { estimated: true } });
    expect(total(estimate?.usage ?? { input: 0, output: 0 })).toBeGreaterThan(0);
    expect(acceptedFacts(events, "usage-learnt").map(({ usage }) => usage)).toEqual(
      wire.earlyUsage === null ? [] : [wire.earlyUsage],
    );
    const [ended] = await errand.listRuns();
    expect(ended).toMatchObject({
      status: "cancelled",
      tokens: total(wire.earlyUsage ?? estimate?.usage ?? { input: 0, output: 0 }),
    });
    const exchange = server.exchanges.find((one) => !parentIs(one));
    expect(await exchange?.closed).toBe(false);
    expect((await eventsNow(errand, id)).filter((event) => event.rejected !== null)).toEqual([]);
  });
});
