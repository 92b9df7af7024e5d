import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { projectFolder, warningsOf } from "./definition-folder.test-support.ts";
import { readDefinitions } from "./read-definitions.ts";

const GOOD = "---\nname: good\ndescription: d\n---\nGood.";

/** The warning about the file. A good file beside it must always be used. */
async function warningFor(content: string | Uint8Array): Promise<string> {
  const folder = projectFolder({ ".claude/agents/bad.md": content, ".claude/agents/good.md": GOOD });
  const read = await readDefinitions({ folder });
  expect(read.definitions.map(({ name }) => name)).toEqual(["good"]);
  return warningsOf(read, folder).join("\n");
}

test("broken frontmatter is a warning with its line", async () => {
  expect(await warningFor("---\nname: bad\ndescription: d\n")).toBe(
    ".claude/agents/bad.md:1 it was left out: its frontmatter is not closed by a line of ---",
  );
  expect(await warningFor("---\nname: bad\ntools: [Read\n---\nx")).toMatch(
    /^\.claude\/agents\/bad\.md:[34] .* no YAML/,
  );
  expect(await warningFor("---\nname: bad\nname: twice\n---\nx")).toMatch(
    /bad\.md:3 .*no YAML \(Map keys must be unique/,
  );
  expect(await warningFor("---\n- a\n---\nx")).toContain(
    "bad.md:2 it was left out: its frontmatter is not a list of keys",
  );
  expect(await warningFor("---\nname: '!!!'\n---\nx")).toContain("bad.md:2 it was left out: its name has no letter");
  expect(await warningFor("---\nname: bad\n---\n\n")).toContain("no text that could be its prompt");
  expect(await warningFor("# Just a text\n---\nname: bad\n---\n")).toContain("it has no frontmatter");
  expect(await warningFor("")).toContain("it has no frontmatter");
});

test("a bomb of aliases, brackets or dashes gives a warning quickly", async () => {
  const started = process.cpuUsage();
  const levels = Array.from({ length: 30 }, (_, level) => `a${level + 1}: &a${level + 1} [${`*a${level},`.repeat(9)}]`);
  expect(await warningFor(`---\nname: bad\na0: &a0 lol\n${levels.join("\n")}\n---\nx`)).toContain("left out");
  expect(await warningFor(`---\nname: bad\nx: ${"[".repeat(20_000)}\n---\nx`)).toContain(
    "bad.md:3 it was left out: its frontmatter is nested",
  );
  expect(await warningFor(`---\nname: bad\nx: ${"{a: ".repeat(10_000)}\n---\nx`)).toContain("nested deeper");
  expect(await warningFor(`---\nname: bad\nx:\n ${"- ".repeat(20_000)}\n---\nx`)).toContain("nested deeper");
  expect(await warningFor(`---\nname: bad\nx: "${"y".repeat(70_000)}"\n---\nx`)).toContain("longer than 65536 bytes");
  const steps = Array.from({ length: 340 }, (_, level) => `${" ".repeat(level)}k:`).join("\n");
  await readDefinitions({ folder: projectFolder({ ".claude/agents/steps.md": `---\n${steps} 1\n---\nx` }) });
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(3_000);
}, 30_000);

test("CRLF, a byte order mark and the case of keys make no difference", async () => {
  const folder = projectFolder({
    ".claude/agents/crlf.md":
      "\uFEFF---\r\nNAME: crlf\r\nDescription: d\r\nMax-Turns: 4\r\nmax_turns: 9\r\n---\r\nOne.\r\nTwo.\r\n",
  });
  const read = await readDefinitions({ folder });
  expect(read.definitions).toMatchObject([{ name: "crlf", prompt: "One.\nTwo.", maxIterations: 4 }]);
  expect(warningsOf(read, folder)).toEqual([
    ".claude/agents/crlf.md:5 `max_turns` says the same as an earlier key, and was left out",
  ]);
});

test("NUL bytes, another encoding and a file of ten gigabytes are warnings", async () => {
  expect(await warningFor("---\nname: bad\0\n---\nx")).toContain("bad.md:2 it was left out: it holds a NUL byte");
  expect(await warningFor(new Uint8Array([0x2d, 0xff, 0xfe]))).toContain("it is not UTF-8");
  const folder = projectFolder({ ".claude/agents/big.md": `---\nname: big\n---\n${"x".repeat(1_000)}` });
  writeFileSync(join(folder, ".claude/agents/long.md"), `---\nname: long\n---\n${"x".repeat(300_000)}`);
  truncateSync(join(folder, ".claude/agents/big.md"), 10 * 1024 ** 3);
  const before = process.memoryUsage().rss;
  const read = await readDefinitions({ folder });
  expect(read.definitions).toEqual([]);
  expect(warningsOf(read, folder).join("\n")).toMatch(
    /big\.md:\d it was left out: it holds a NUL[^]*long\.md:- .*longer than 65536 bytes/,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
});

test("symlinks that lead out, pipes and folders are not read; a symlink that stays inside needs trust", async () => {
  const folder = projectFolder({ ".claude/agents/good.md": GOOD, "shared/one.md": GOOD.replace("good", "one") });
  const outside = join(dirname(folder), "outside");
  mkdirSync(join(outside, "skills/leak"), { recursive: true });
  writeFileSync(join(outside, "secret.md"), GOOD.replace("good", "secret"));
  writeFileSync(join(outside, "skills/leak/SKILL.md"), "---\ndescription: d\n---\nx");
  symlinkSync(join(outside, "secret.md"), join(folder, ".claude/agents/link.md"));
  symlinkSync("../../shared/one.md", join(folder, ".claude/agents/one.md"));
  mkdirSync(join(folder, ".claude/agents/folder.md"));
  execFileSync("mkfifo", [join(folder, ".claude/agents/pipe.md")]);
  symlinkSync(join(outside, "skills"), join(folder, ".claude/skills"));
  symlinkSync(outside, join(folder, ".gemini"));
  symlinkSync(join(outside, "secret.md"), join(folder, "AGENTS.md"));
  const read = await readDefinitions({ folder });
  expect(read.definitions.map(({ name }) => name)).toEqual(["good"]);
  const trusting = await readDefinitions({ folder, trusted: ({ path }) => path.endsWith("/one.md") });
  expect(trusting.definitions.map(({ name }) => name)).toEqual(["good", "one"]);
  expect([read.skills, read.context]).toEqual([[], null]);
  expect(warningsOf(read, folder)).toEqual([
    ".claude/agents/folder.md:- it was left out: it is not a regular file",
    ".claude/agents/link.md:- it was left out: it is a symlink that leads out of its folder",
    ".claude/agents/one.md:- it was left out: it asks for a symlink, and is not trusted",
    ".claude/agents/pipe.md:- it was left out: it is not a regular file",
    ".claude/skills:- it was left out: it is a symlink that leads out of its folder",
    "AGENTS.md:- it was left out: it is a symlink that leads out of its folder",
  ]);
});

test("odd keys and values do no harm", async () => {
  const folder = projectFolder({
    ".claude/agents/odd.md": `---
name: odd
description: d
__proto__: { polluted: true }
constructor: x
tools: 7
maxTurns: -3
timeout_mins: .inf
model: [1]
? [complex, key]
: value
---
Odd.`,
    ".claude/agents/hidden.md":
      "---\nname: hidden\ndescription: d\nmetadata:\n  deep:\n    - { deeper: { base-URL: 'http://evil.example' } }\n---\nx",
  });
  const read = await readDefinitions({ folder, trusted: () => true });
  expect(read.definitions).toEqual([
    { name: "hidden", description: "d", prompt: "x", needsTrust: true, trustFor: ["base URLs"] },
    { name: "odd", description: "d", prompt: "Odd.", tools: [], needsTrust: false, trustFor: [] },
  ]);
  expect({}).not.toHaveProperty("polluted");
  expect(warningsOf(read, folder).join("\n")).toContain("`maxTurns` must be a number above 0");
});

test("only some of many files in a folder are read, with a warning", async () => {
  const files = Object.fromEntries(Array.from({ length: 510 }, (_, index) => [`.claude/agents/n${index}.md`, GOOD]));
  const folder = projectFolder(files);
  const read = await readDefinitions({ folder });
  expect(read.definitions).toHaveLength(1);
  expect(warningsOf(read, folder)[0]).toBe(".claude/agents:- only the first 200 of its files were looked at");
});

test("a description is one line of limited length", async () => {
  const long = `Uses\n  \u{1f600}${"x".repeat(2_000)}`;
  const head = `---\ndescription: ${JSON.stringify(long)}\n---\nText.`;
  const folder = projectFolder({ ".claude/agents/long.md": head, ".claude/skills/wide/SKILL.md": head });
  const read = await readDefinitions({ folder });
  for (const { description } of [...read.definitions, ...read.skills]) {
    expect(description).toMatch(/^Uses \u{1f600}x+$/u);
    expect(description).toHaveLength(1_024);
  }
  expect(warningsOf(read, folder)).toEqual([
    ".claude/agents/long.md:2 only the first 1024 characters of `description` are used",
    ".claude/skills/wide/SKILL.md:2 only the first 1024 characters of `description` are used",
  ]);
});

test("at most 200 agents and skills of a folder are read, besides all of the user's own", async () => {
  const file = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nx`;
  const agents = Array.from({ length: 150 }, (_, at) => [`.claude/agents/a${at}.md`, file(`a${at}`)]);
  const skills = Array.from({ length: 150 }, (_, at) => [`.claude/skills/s${at}/SKILL.md`, file(`s${at}`)]);
  const folder = projectFolder(Object.fromEntries([...agents, ...skills]) as Record<string, string>);
  const home = projectFolder({ ".errand/agents/mine.md": file("mine") });
  const read = await readDefinitions({ folder, home });
  expect(read.definitions).toHaveLength(151);
  expect(read.definitions.at(-1)?.name).toBe("mine");
  expect(read.skills).toHaveLength(50);
  expect(warningsOf(read, folder)).toEqual([".claude/skills:- of its files 100 were left out: 200 are read in all"]);
});
