/** Hostile text through every parser of project files: bounded, and with little processor time. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createGlob } from "../../src/core/text/glob.ts";
import { createFileJudge, permissionOf } from "../../src/core/permissions/permissions.ts";
import { readAgent } from "../../src/definitions/agent-file.ts";
import { fieldsOf } from "../../src/definitions/fields.ts";
import { readFrontmatter } from "../../src/definitions/frontmatter.ts";
import { readDefinitions } from "../../src/definitions/read-definitions.ts";
import { parseSkill } from "../../src/definitions/skill.ts";
import { readToml } from "../../src/definitions/toml.ts";
import { createListFilesTool } from "../../src/tools/list-files.ts";
import { createSearchTextTool } from "../../src/tools/search-text.ts";
import { longestHold, processorTime } from "./support/event-loop.ts";
import { hostileFolder } from "./support/hostile-folder.ts";
import { testToolContext } from "../../src/tools/tool-run.test-support.ts";

const LIMIT_MS = 50;
const MEGABYTE = 1_000_000;

const PIECES = [
  ..."{,[]}*?!-:#&|>\"'\\ \n\t/.a~=",
  "- ",
  "? ",
  "a: ",
  "k: 1\n",
  "- b\n",
  "b,",
  "**/",
  "*a",
  "{a,",
  "[!a",
  "'''",
  '"""',
  "---\n",
  "[[a]]\n",
  "\r\n",
  "{a,b}",
  "&a ",
  "*a,",
  "!!x ",
  "\\u",
  "a.",
  "# x\n",
  "...\n",
  "~1",
  "é",
  "😀",
];

/** A repeated piece, alone, after an opening, and before an end that does not match. */
function hostileTexts(size: number): string[] {
  return PIECES.flatMap((piece) => {
    const body = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
    // Flat texts, as if read from files.
    return [body, `a: "${body}`, `a: ${body}x`, `{${body}`].map((text) => Buffer.from(text).toString());
  });
}

test.each<[string, (text: string) => unknown]>([
  ["frontmatter", (text) => readFrontmatter(`---\n${text}\n---\nbody`)],
  ["frontmatter that is not closed", (text) => readFrontmatter(`---\n${text}`)],
  ["a skill", (text) => parseSkill(text, "x")],
  ["TOML", (text) => readToml(text)],
  ["TOML behind a key", (text) => readToml(`a = ${text}`)],
  ["an agent's name", (text) => readAgent({ ...AGENT, fields: fieldsOf([{ key: "name", value: text, line: 1 }]) })],
  ["an agent's tools", (text) => readAgent({ ...AGENT, fields: fieldsOf([{ key: "tools", value: text, line: 1 }]) })],
  ["a pattern", (text) => createGlob(text).matches("a/b/c")],
  ["a path", (text) => createGlob("**/*a*b*{c,d}/**/e").matches(text.slice(0, 4_096))],
  ["a path of a call", (text) => permissionOf([RULES], "read_file", { path: text })],
  ["a command", (text) => permissionOf([RULES], "run_command", { argv: [text, text] })],
])("%s: no megabyte of hostile text takes 50 ms", (_, parse) => {
  parse("warm: up");
  for (const size of [1_000, 16_000, 60_000, MEGABYTE])
    for (const text of hostileTexts(size)) {
      const took = processorTime(() => parse(text));
      if (took >= LIMIT_MS) expect([text.slice(0, 20), size, took]).toEqual([]);
    }
});

const AGENT = { body: "prompt", fileName: "a", toolNames: ["read_file"], editMeansWrite: false };
const RULES = [
  { decision: "deny", tool: "*", path: "**/*a*a*b/**" },
  { decision: "deny", tool: "run_command", command: ["rm", "-rf"] },
] as const;

test("at most 200 definitions are read, and none of them blocks the event loop", async () => {
  const folder = hostileFolder();
  mkdirSync(join(folder, ".claude/agents"), { recursive: true });
  const head = Array.from({ length: 400 }, (_, index) => `k${index}: 1`).join("\n");
  for (let index = 0; index < 250; index++)
    writeFileSync(join(folder, `.claude/agents/a${index}.md`), `---\nname: a${index}\n${head}\n---\nprompt`);
  await readDefinitions({ folder: hostileFolder({ ".claude/agents/a.md": "---\nname: a\n---\nx" }) });
  let count = 0;
  const hold = await longestHold(async () => (count = (await readDefinitions({ folder })).definitions.length));
  expect(count).toBe(200);
  expect(hold).toBeLessThan(100);
});

test("a walk under a hostile .gitignore and a hostile pattern stops within 100 ms of its abort", async () => {
  const folder = hostileFolder({ ".gitignore": `*${"a".repeat(60)}b\n`.repeat(1_000) });
  mkdirSync(join(folder, "many"));
  for (let index = 0; index < 1_000; index++)
    writeFileSync(join(folder, "many", `${"a".repeat(200)}${index}`), "a".repeat(200));
  const judge = createFileJudge([[{ decision: "deny", tool: "*", path: `*${"a".repeat(100)}b` }]], "list_files");
  for (const [tool, input] of [
    [createListFilesTool(), { glob: `*${"a".repeat(500)}b` }],
    [createSearchTextTool(), { query: "(a+)+$b", regex: true }],
    [createSearchTextTool(), { query: "zzz" }],
  ] as const) {
    const controller = new AbortController();
    const started = tool.run(input, {
      ...testToolContext(folder, controller.signal),
      rules: { judge, file: {} },
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort();
    expect(await longestHold(() => started)).toBeLessThan(100);
  }
});
