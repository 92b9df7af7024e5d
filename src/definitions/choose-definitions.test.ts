import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectFolder, warningsOf } from "./definition-folder.test-support.ts";
import { readDefinitions } from "./read-definitions.ts";

const plain = (name: string, prompt: string): string => `---\nname: ${name}\ndescription: d\n---\n${prompt}`;
const hooked = (name: string, prompt: string): string =>
  `---\nname: ${name}\ndescription: d\nhooks:\n  Stop: [x]\n---\n${prompt}`;

test("a definition with hooks is not used before it is trusted, and does not block its name", async () => {
  const folder = projectFolder({
    ".errand/agents/fixer.md": hooked("fixer", "errand"),
    ".claude/agents/fixer.md": plain("fixer", "claude"),
    ".claude/skills/tidy/SKILL.md": hooked("tidy", "project"),
  });
  const home = projectFolder({
    ".claude/skills/tidy/SKILL.md": plain("tidy", "home"),
    ".errand/agents/mine.md": hooked("mine", "of the user"),
  });
  const read = await readDefinitions({ folder, home });
  expect(read.definitions.map(({ name, prompt }) => [name, prompt])).toEqual([
    ["fixer", "claude"],
    ["mine", "of the user"],
  ]);
  expect(read.skills.map(({ prompt }) => prompt)).toEqual(["home"]);
  expect(read.sources.map(({ state, found }) => [found?.name, state])).toEqual([
    ["fixer", "untrusted"],
    ["fixer", "used"],
    ["mine", "used"],
    ["tidy", "untrusted"],
    ["tidy", "used"],
  ]);
  expect(warningsOf(read, folder)[0]).toBe(".errand/agents/fixer.md:4 `hooks` is not acted on");
  expect(warningsOf(read, folder)[1]).toBe(
    ".errand/agents/fixer.md:- it was left out: it asks for hooks, and is not trusted",
  );
});

test("trust is checked by path and content, only if it is needed", async () => {
  const folder = projectFolder({
    ".errand/agents/fixer.md": hooked("fixer", "one"),
    ".errand/agents/plain.md": plain("plain", "two"),
  });
  const asked: { path: string; hash: string }[] = [];
  const trusted = (file: { path: string; hash: string }): boolean => asked.push(file) > 0;
  expect((await readDefinitions({ folder, trusted })).definitions).toHaveLength(2);
  expect(asked.map(({ path }) => path)).toEqual([join(folder, ".errand/agents/fixer.md")]);
  writeFileSync(join(folder, ".errand/agents/fixer.md"), hooked("fixer", "changed"));
  await readDefinitions({ folder, trusted });
  expect(asked[1]?.hash).not.toBe(asked[0]?.hash);
});

test("a definition without an available model is left out, and the next of its name is used", async () => {
  const folder = projectFolder({
    ".errand/agents/a.md": "---\nname: twin\ndescription: d\nmodel: far/away\n---\nfar",
    ".claude/agents/a.md": "---\nname: twin\ndescription: d\nmodel: inherit\n---\nnear",
  });
  const modelProblem = ({ model }: { readonly model?: string }): string | null =>
    model === undefined ? null : `The model ${model} needs a key.`;
  const read = await readDefinitions({ folder, modelProblem, trusted: () => true });
  expect(read.definitions.map(({ prompt }) => prompt)).toEqual(["near"]);
  expect(read.sources.map(({ state }) => state)).toEqual(["no-model", "used"]);
  expect(warningsOf(read, folder)).toEqual([".errand/agents/a.md:- it was left out: The model far/away needs a key"]);
});

test("a skill may have the name of an untrusted agent", async () => {
  const folder = projectFolder({
    ".errand/agents/tidy.md": hooked("tidy", "agent"),
    ".errand/skills/tidy/SKILL.md": plain("tidy", "skill"),
  });
  const read = await readDefinitions({ folder });
  expect(read.skills.map(({ prompt }) => prompt)).toEqual(["skill"]);
  const trusting = await readDefinitions({ folder, trusted: () => true });
  expect(trusting.skills).toEqual([]);
  expect(trusting.sources.at(-1)).toMatchObject({
    state: "shadowed",
    shadowedBy: join(folder, ".errand/agents/tidy.md"),
  });
});

test("the first of two definitions of one name is used, and the other names it", async () => {
  const agent = (text: string): string => `---\nname: twin\ndescription: d\n---\n${text}`;
  const folder = projectFolder({
    ".claude/agents/twin.md": agent("claude"),
    ".errand/agents/twin.md": agent("errand"),
    ".codex/agents/other.toml": 'name = "twin"\ndescription = "d"\ndeveloper_instructions = "codex"',
  });
  const home = projectFolder({
    ".errand/agents/twin.md": agent("home"),
    ".claude/agents/mine.md": agent("x").replace("twin", "mine"),
  });
  const read = await readDefinitions({ folder, home, trusted: () => true });
  expect(read.definitions.map(({ name, prompt }) => [name, prompt])).toEqual([
    ["twin", "errand"],
    ["mine", "x"],
  ]);
  const winner = join(folder, ".errand/agents/twin.md");
  const losers = read.sources.filter(({ warnings }) => warnings.length > 0);
  expect(losers.map(({ program, place, state, shadowedBy }) => [program, place, state, shadowedBy])).toEqual([
    ["claude", "project", "shadowed", winner],
    ["codex", "project", "shadowed", winner],
    ["errand", "home", "shadowed", winner],
  ]);
  for (const { warnings } of losers) {
    expect(warnings).toEqual([{ text: `it was left out: "twin" is already given by ${winner}`, line: null }]);
  }
});

test("a folder's definition replaces a built-in one or the user's own only if it is trusted", async () => {
  const agent = (name: string, text: string): string => `---\nname: ${name}\ndescription: d\n---\n${text}`;
  const folder = projectFolder({
    ".claude/agents/worker.md": agent("worker", "hostile"),
    ".claude/agents/mine.md": agent("mine", "hostile"),
    ".claude/agents/fresh.md": agent("fresh", "harmless"),
  });
  const home = projectFolder({ ".errand/agents/mine.md": agent("mine", "my own") });
  const prompts = async (trusted: boolean): Promise<readonly (readonly [string, string])[]> =>
    (await readDefinitions({ folder, home, trusted: () => trusted })).definitions.map((one) => [one.name, one.prompt]);
  expect(await prompts(false)).toEqual([
    ["fresh", "harmless"],
    ["mine", "my own"],
  ]);
  expect(await prompts(true)).toEqual([
    ["fresh", "harmless"],
    ["mine", "hostile"],
    ["worker", "hostile"],
  ]);
  const { sources } = await readDefinitions({ folder, home });
  expect(sources.map(({ found, state }) => [state, found?.trustFor])).toEqual([
    ["used", []],
    ["untrusted", ['the place of your own "mine"']],
    ["untrusted", ['the place of the built-in "worker"']],
    ["used", []],
  ]);
});

test("an untrusted definition is used with the default model, a trusted one with its own", async () => {
  const file = "---\nname: own\ndescription: d\nmodel: dear/model\n---\nx";
  const folder = projectFolder({ ".errand/agents/own.md": file });
  const untrusted = await readDefinitions({ folder, modelProblem: ({ model }) => (model === undefined ? null : "no") });
  expect(untrusted.definitions).toMatchObject([{ name: "own", trustFor: ["a model"] }]);
  expect(untrusted.definitions[0]).not.toHaveProperty("model");
  expect(warningsOf(untrusted, folder)).toEqual([
    '.errand/agents/own.md:- its model "dear/model" is not used before you trust this folder',
  ]);
  const trusted = await readDefinitions({ folder, trusted: () => true });
  expect(trusted.definitions).toMatchObject([{ name: "own", model: "dear/model" }]);
  const ownHome = await readDefinitions({ folder: projectFolder(), home: folder });
  expect(ownHome.definitions).toMatchObject([{ name: "own", model: "dear/model" }]);
});
