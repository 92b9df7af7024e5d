/** A context that is too long, over each provider's protocol: it is shortened, and the call is repeated. */

import { describe, expect, test } from "vitest";
import { replayVerdict } from "../../src/index.ts";
import { acceptedFacts, eventsNow } from "../support/tree-facts.ts";
import { lookTool } from "../support/test-errand.ts";
import { WIRES } from "./wires/index.ts";
import type { Wire, WireReply } from "./wires/wire.ts";
import { openWireErrand } from "./wires/wire-errand.ts";
import { type Behaviour, openWireServer, refuse, stream } from "./wires/wire-server.ts";

const ASKED = "Summarise the conversation so far";
const CUT = "The rest of this result was left out";
/** Characters of a request that the servers accept: more than prompts and tools, less than the tests add. */
const WINDOW = 40_000;
const LONG = "many words ".repeat(4_000);

/** Refuses requests longer than its window like the provider, except those for a summary. */
function narrow(wire: Wire, reply: (body: string) => WireReply): Behaviour {
  return (exchange) => {
    const { body } = exchange;
    if (!body.includes(ASKED) && body.length > WINDOW)
      return refuse(exchange, wire.overflow.status, wire.overflow.body);
    return stream(exchange, wire.frames(body.includes(ASKED) ? { text: "THE SUMMARY" } : reply(body)));
  };
}

describe.each(WIRES)("$title", (wire) => {
  test("in a later turn the model summarises the earlier ones, and the answer comes", async () => {
    const server = await openWireServer(
      narrow(wire, (body) => ({ text: body.includes("Now be short.") ? "Yes." : LONG })),
    );
    const errand = await openWireErrand(wire, server);
    const agent = await errand.openAgent();
    await agent.postAndAwait("Say a lot.");
    expect((await agent.postAndAwait("Now be short.")).text).toBe("Yes.");
    const [, refused, summary, last] = server.exchanges.map(({ body }) => body);
    expect(server.exchanges).toHaveLength(4);
    expect(refused).toContain("many words");
    expect(summary).toContain(ASKED);
    expect(summary).not.toContain("Now be short.");
    expect(last).toContain("THE SUMMARY");
    expect(last).toContain("Now be short.");
    expect(last).not.toContain("many words");
    const events = await eventsNow(errand, agent.id);
    expect(acceptedFacts(events, "model-failed")).toMatchObject([{ code: "context-overflow", retryable: false }]);
    expect(acceptedFacts(events, "context-compacted")).toHaveLength(1);
    expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
  });

  test("in the first turn long tool results are cut with a note, and the answer comes", async () => {
    const call = { id: "call_1", name: "look", arguments: "{}" };
    const server = await openWireServer(
      narrow(wire, (body) => (body.includes("many words") ? { text: "I saw words." } : { calls: [call] })),
    );
    const errand = await openWireErrand(wire, server, {
      tools: [lookTool(async () => ({ text: LONG, failed: false }))],
    });
    const agent = await errand.openAgent();
    expect((await agent.postAndAwait("What is there?")).text).toBe("I saw words.");
    const [, refused, last] = server.exchanges.map(({ body }) => body);
    expect(server.exchanges).toHaveLength(3);
    expect(refused).not.toContain(CUT);
    expect(last).toContain(CUT);
    expect(wire.read(last ?? "").results[0]).toContain("many words many words");
    expect(acceptedFacts(await eventsNow(errand, agent.id), "results-shortened")).toHaveLength(1);
    expect(replayVerdict(await errand.replay(agent.id))).toBe("proven");
  });

  test("a request that cannot be shortened fails, and is not repeated", async () => {
    const server = await openWireServer(narrow(wire, () => ({ text: "never" })));
    const errand = await openWireErrand(wire, server);
    const agent = await errand.openAgent();
    await expect(agent.postAndAwait(LONG)).rejects.toMatchObject({
      code: "turn-failed",
      details: { reason: "context-overflow" },
    });
    expect(server.exchanges).toHaveLength(1);
  });
});
