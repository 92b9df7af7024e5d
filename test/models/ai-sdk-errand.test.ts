/** Whole delegations over each provider's protocol, and the bytes that are sent. */

import { describe, expect, test } from "vitest";
import { anthropic } from "./wires/anthropic.ts";
import { WIRES } from "./wires/index.ts";
import { parsed, type Wire, type WireReply } from "./wires/wire.ts";
import { openWireErrand, parentIs } from "./wires/wire-errand.ts";
import { type Behaviour, openWireServer, refuse, stream } from "./wires/wire-server.ts";

const reasoning = { text: "Let me see.", signature: "c2lnbmVk" };

const PARENT: readonly WireReply[] = [
  {
    reasoning,
    text: "I look twice.",
    calls: [
      { id: "call_1", name: "look", arguments: '{"where":"here"}' },
      { id: "call_2", name: "look", arguments: '{"where":"there"}' },
    ],
  },
  { reasoning, calls: [{ id: "call_3", name: "subagent", arguments: '{"task":"count the files"}' }] },
  { text: "There are seven files.", stop: "end" },
];

const CHILD: readonly WireReply[] = [
  { calls: [{ id: "call_9", name: "send_agent_message", arguments: '{"text":"I counted seven."}' }] },
  { text: "Done.", stop: "end" },
];

/** Replies from the scripts of parent and child, by the number of each one's request. */
function delegation(wire: Wire): Behaviour {
  let parent = 0;
  let child = 0;
  return (exchange) => {
    const reply = parentIs(exchange) ? PARENT[parent++] : CHILD[child++];
    return reply === undefined ? refuse(exchange, 400, wire.error("too many")) : stream(exchange, wire.frames(reply));
  };
}

/** The bytes of a request before, in and after its context, which has no closing bracket here. */
function cutAt(
  body: string,
  field: string,
): { readonly before: string; readonly context: string; readonly after: string } {
  const context = JSON.stringify(parsed(body)[field]).slice(0, -1);
  const opening = `"${field}":`;
  const from = body.indexOf(`${opening}${context}`) + opening.length;
  expect(from).toBeGreaterThan(opening.length);
  return { before: body.slice(0, from), context, after: body.slice(from + context.length) };
}

describe.each(WIRES)("$title", (wire) => {
  test("a parent delegates, waits and answers, and each request repeats the bytes of the one before", async () => {
    const server = await openWireServer(delegation(wire));
    const errand = await openWireErrand(wire, server);
    const agent = await errand.openAgent();
    const reply = await agent.postAndAwait("How many files are there?");
    expect(reply.text).toBe("There are seven files.");

    const parent = server.exchanges.filter(parentIs).map(({ body }) => body);
    const child = server.exchanges.filter((exchange) => !parentIs(exchange)).map(({ body }) => body);
    expect([parent.length, child.length]).toEqual([3, 2]);
    expect(child[0]).toContain("count the files");
    const last = wire.read(parent[2] ?? "");
    expect(last.calls.map(({ name }) => name)).toEqual(["look", "look", "subagent"]);
    expect(last.results[0]).toContain("saw it");
    expect(last.results[2]).toContain("I counted seven.");
    if (wire.reasoning) expect(last.signatures).toHaveLength(2);

    for (const bodies of [parent, child]) {
      for (const [index, body] of bodies.slice(1).entries()) {
        const earlier = cutAt(bodies[index] ?? "", wire.growing);
        const later = cutAt(body, wire.growing);
        expect(later.before).toBe(earlier.before);
        expect(later.context.startsWith(`${earlier.context},`)).toBe(true);
        expect(later.after).toBe(earlier.after);
      }
    }

    const [run] = await errand.listRuns();
    expect(run?.status).toBe("ok");
  });
});

test("the runtime repeats a call after a server error", async () => {
  const server = await openWireServer((exchange) =>
    exchange.number === 1
      ? refuse(exchange, 529, anthropic.error("Overloaded"))
      : stream(exchange, anthropic.frames({ text: "Here I am." })),
  );
  const errand = await openWireErrand(anthropic, server);
  const agent = await errand.openAgent();
  expect((await agent.postAndAwait("Anyone?")).text).toBe("Here I am.");
  expect(server.exchanges).toHaveLength(2);
  expect(server.exchanges[1]?.body).toBe(server.exchanges[0]?.body);
});
