import { createErrand, tool } from "errand";
import { callTool, createTestErrand, delegate, report, say } from "errand/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

const search = tool({
  name: "search",
  description: "Searches the archive.",
  input: z.object({ words: z.string(), year: z.number() }),
  safe: true,
  run: ({ words, year }) => [`${words.toUpperCase()}, ${year.toFixed()}`],
});
const agents = {
  planner: { prompt: "You plan, and delegate the looking up.", tools: [], delegates: [search] },
  researcher: { description: "Looks things up.", prompt: "You look things up.", tools: [search] },
};

export async function main() {
  const errand = await createErrand({ store: "errand.db", model: "anthropic/claude-sonnet-5-5", agents });
  const output = z.object({ title: z.string(), year: z.number() });
  const { data } = await errand.run("Find a film about Rome.", { agent: "researcher", output });
  process.stdout.write(`${data.title.toUpperCase()}, ${data.year.toFixed()}\n`);
  for await (const event of errand.stream("What do we know about 1968?", { agent: "planner" })) {
    if (event.type === "text") process.stdout.write(event.text);
    if (event.type === "tool-started") process.stdout.write(`[${event.name}] ${event.about}\n`);
  }
  await errand.close();
}

test("the planner delegates the search", async () => {
  const { errand, close } = await createTestErrand({
    agents,
    replies: {
      planner: [delegate("films of 1968", { agent: "researcher" }), say("Two films.")],
      researcher: [callTool("search", { words: "film", year: 1968 }), report("Two films.")],
    },
  });
  onTestFinished(close);
  const { text, runs } = await errand.run("What do we know about 1968?", { agent: "planner" });
  expect(text).toBe("Two films.");
  expect(runs).toMatchObject([{ definition: "researcher", status: "ok" }]);
});
