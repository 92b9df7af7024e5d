/**
 * What Errand adds to every request of a model, and what an announcement takes besides its findings. The aims are in
 * tokens (o200k_base): 800 for a parent, 450 for a child, 90, 180 and 700 for announcements of 1, 2 and 10 runs; `npm
 * run bench -- --cost` counts those. Here bytes stand for them, because the package has no tokenizer. Each limit is its
 * aim times the fewest bytes a token that were measured for that text, over 20 or 40 samples with other ids: 4.1 for a
 * parent, 3.56 for a child, 3.49, 3.13 and 2.56 for announcements. Ids are what has few bytes a token, so a text with
 * another share of them needs another limit.
 */

import { expect, test } from "vitest";
import type { ModelRequest } from "../../src/index.ts";
import { byContext, callTools, say } from "../../src/testing/index.ts";
import { childRequests, newestUserText, parentRequests } from "../support/model-requests.ts";
import { callSubagent, report, startCall } from "../support/scripted-replies.ts";
import { eventsUntil, openTestErrand, turnsEnded } from "../support/test-errand.ts";

const FINDINGS = "value of item 1";

/** The bytes of a request that are neither the user's prompt nor the user's tool. */
function standingBytes(request: ModelRequest | undefined, prompt: string): number {
  const { system = "", tools = [] } = request ?? {};
  const own = tools.filter((tool) => tool.name !== "look");
  expect(system.startsWith(prompt)).toBe(true);
  expect(own.length).toBeGreaterThan(0);
  return Buffer.byteLength(system) - Buffer.byteLength(prompt) + Buffer.byteLength(JSON.stringify(own));
}

test.each(["tool", "tag"] as const)(
  "a parent and its child that reports by %s have a small standing overhead",
  async (reporting) => {
    const reply = reporting === "tool" ? report(FINDINGS, { final: true }) : say(`<response>${FINDINGS}</response>`);
    const { errand, models } = await openTestErrand(
      { parent: [callSubagent("item 1"), say("done")], child: [reply] },
      { child: { reporting } },
    );
    await (await errand.openAgent()).postAndAwait("go");
    expect(standingBytes(parentRequests(models)[0], "You are the parent.")).toBeLessThanOrEqual(3_280);
    expect(standingBytes(childRequests(models)[0], "You are a child.")).toBeLessThanOrEqual(1_600);
    expect([parentRequests(models).length, childRequests(models).length]).toEqual([2, 1]);
  },
);

test.each([
  [1, 314],
  [2, 563],
  [10, 1_792],
])("an announcement of %d runs takes at most %d bytes besides its findings", async (runs, limit) => {
  const tasks = Array.from({ length: runs }, (_, index) => startCall(`item ${index}`));
  const { errand, models } = await openTestErrand({
    parent: byContext([callTools(tasks), say("started"), say("told")]),
    child: () => report(FINDINGS, { final: true }),
  });
  const agent = await errand.openAgent();
  await agent.postAndAwait("go");
  await eventsUntil(errand, agent.id, turnsEnded(2));
  const told = newestUserText(parentRequests(models).at(-1));
  expect(told.split(FINDINGS)).toHaveLength(runs + 1);
  expect(Buffer.byteLength(told) - runs * FINDINGS.length).toBeLessThanOrEqual(limit);
});
