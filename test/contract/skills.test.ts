import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSkill } from "../../src/index.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { openTestErrand, temporaryFolder } from "../support/test-errand.ts";

function skillFile(text: string): string {
  const folder = join(temporaryFolder(), "tidy-up");
  mkdirSync(folder);
  const path = join(folder, "SKILL.md");
  writeFileSync(path, text);
  return path;
}

const ISOLATED =
  "---\nname: tidy\ndescription: Tidies up.\nallowed-tools: look, Bash\ncontext: fork\n---\n\nTidy everything.\n";
const tidy = { name: "tidy", description: "Tidies up.", prompt: "First the attic.", isolated: false };

test("an isolated SKILL.md runs as an awaited child, and its result is the tool's result, once", async () => {
  const skill = readSkill(skillFile(ISOLATED));
  expect(skill).toEqual({
    name: "tidy",
    description: "Tidies up.",
    prompt: "Tidy everything.",
    isolated: true,
    tools: ["look", "Bash"],
  });
  const inSkill = byContext([callTool("send_agent_message", { text: "all is tidy" }), say("done")]);
  const outside = byContext([callTool("use_skill", { name: "tidy", task: "the attic" }), say("The attic is tidy.")]);
  const { errand, models } = await openTestErrand(
    {
      parent: (request, situation) => {
        const script = request.system.startsWith("Tidy everything.") ? inSkill : outside;
        return typeof script === "function" ? script(request, situation) : say("");
      },
    },
    { skills: [skill], model: "scripted/parent" },
  );
  const agent = await errand.openAgent();
  expect((await agent.postAndAwait("tidy the attic")).text).toBe("The attic is tidy.");
  const results = models.requests.at(-1)?.messages.findLast((message) => message.role === "tool");
  const payload: unknown = JSON.parse(results?.role === "tool" ? (results.results[0]?.text ?? "") : "");
  expect(payload).toMatchObject({ success: true, summary: "all is tidy", report: "tool" });
  expect(JSON.stringify(models.requests.at(-1)?.messages).match(/all is tidy/g)).toHaveLength(1);
  const child = models.requests.find((request) => request.system.startsWith("Tidy everything."));
  expect(child?.messages[0]).toEqual({ role: "user", text: "the attic" });
  expect(child?.tools.map((tool) => tool.name)).toContain("look");
  expect((await errand.listRuns())[0]).toMatchObject({ definition: "tidy", mode: "awaited", status: "ok" });
});

test("a skill without isolation is read into the context of the agent that uses it", async () => {
  const parent = byContext([callTool("use_skill", { name: "tidy" }), say("ok")]);
  const { errand, models } = await openTestErrand({ parent }, { skills: [tidy], model: "scripted/parent" });
  await (await errand.openAgent()).postAndAwait("go");
  const results = models.requests.at(-1)?.messages.at(-1);
  expect(results?.role === "tool" ? results.results[0]?.text : "").toBe("First the attic.");
  expect(await errand.listRuns()).toEqual([]);
  expect(models.requests[0]?.system).toContain("- tidy: Tidies up.");
});

test("an unknown skill is a tool error that names the known ones; without skills there is no such tool", async () => {
  const parent = byContext([callTool("use_skill", { name: "wash" }), say("ok")]);
  const withSkill = await openTestErrand({ parent }, { skills: [tidy], model: "scripted/parent" });
  await (await withSkill.errand.openAgent()).postAndAwait("go");
  expect(JSON.stringify(withSkill.models.requests.at(-1)?.messages)).toContain("known: tidy");
  const without = await openTestErrand({ parent });
  await (await without.errand.openAgent()).postAndAwait("go");
  expect(JSON.stringify(without.models.requests.at(-1)?.messages)).toContain("there is no tool");
  expect(without.models.requests[0]?.tools.map((tool) => tool.name)).not.toContain("use_skill");
});

test("a skill is not a definition that can be sent on errands", async () => {
  const parent = byContext([callTool("subagent", { task: "x", agent: "tidy" }), say("ok")]);
  const { errand, models } = await openTestErrand({ parent }, { skills: [tidy], model: "scripted/parent" });
  await (await errand.openAgent()).postAndAwait("go");
  expect(JSON.stringify(models.requests.at(-1)?.messages)).toContain("unknown-agent");
});

test.each([
  ["---\nname: a b\ndescription: x\n---\n", "`name`"],
  ["---\nname: ok\n---\n", "`description` is missing"],
  ["---\nname: ok\n", "not closed"],
  ["---\nname: [\n---\n", "no YAML"],
  ["---\n- a\n- b\n---\n", "not a list of keys"],
])("a skill file that cannot be used says why: %j", (text, why) => {
  expect(() => readSkill(skillFile(text))).toThrow(why);
});
