import { expect, test } from "vitest";
import { byContext, createMemoryChannel, say } from "../../src/testing/index.ts";
import { childRequests, newestUserText, parentRequests } from "../support/model-requests.ts";
import { report, startCall, startRuns } from "../support/scripted-replies.ts";
import { openTestErrand } from "../support/test-errand.ts";

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TOKENS_OF_AN_ID = 24;

/**
 * Counted high: 24 tokens for an id, and for the rest one for every 4 characters or 1.3 for every word, whichever is
 * more.
 */
function tokens(text: string): number {
  const ids = text.match(UUID)?.length ?? 0;
  const rest = text.replaceAll(UUID, "");
  const words = rest.split(/\s+/).filter((word) => word !== "").length;
  return Math.ceil(Math.max(rest.length / 4, words * 1.3)) + ids * TOKENS_OF_AN_ID;
}

async function told(more = {}, child = {}) {
  const channel = createMemoryChannel();
  const findings = "These are the findings of the child.";
  const { errand, models } = await openTestErrand(
    {
      parent: [
        startRuns(startCall("Find out where the deadline is kept, and why.", more)),
        say("started"),
        say("told"),
      ],
      child: byContext([report(findings), say(`<response>${findings}</response>`)]),
    },
    { child, limits: { maxDepth: 5 } },
  );
  await (await errand.openAgent({ channel })).post("go");
  await channel.received(2);
  return { system: childRequests(models)[0]?.system ?? "", text: newestUserText(parentRequests(models)[2]), findings };
}

test.each(["tool", "tag"] as const)(
  "the standing words of a child that reports by %s cost less than 450 tokens beyond its definition",
  async (reporting) => {
    const prompt = "You are a child.";
    const { system } = await told({ label: "a label of a usual length" }, { reporting, prompt });
    expect(system.startsWith(prompt)).toBe(true);
    const overhead = tokens(system.slice(prompt.length));
    process.stdout.write(`standing overhead of a child's system prompt (${reporting}): ${overhead} tokens\n`);
    expect(overhead).toBeGreaterThan(20);
    expect(overhead).toBeLessThan(450);
  },
);

test("the words of an announcement of one run cost less than 180 tokens, ids included, findings aside", async () => {
  const { text, findings } = await told({ label: "a label of a usual length" });
  expect(text).toContain(findings);
  const own = tokens(text.replace(findings, ""));
  process.stdout.write(`an announcement's own words, for one run: ${own} tokens\n`);
  expect(own).toBeGreaterThan(20);
  expect(own).toBeLessThan(180);
});
