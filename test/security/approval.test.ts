/**
 * A user's answer allows exactly what was asked: the file content that was seen and the call that was shown, with valid
 * arguments.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Errand, ErrandOptions } from "../../src/index.ts";
import { workspaceTools } from "../../src/index.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { byContext, callTool, say } from "../../src/testing/index.ts";
import { previewChange } from "../../src/tools/preview-change.ts";
import { eventsUntil, openTestErrand, temporaryFolder, turnsEnded } from "../support/test-errand.ts";

const tools = workspaceTools({ world: createSystemWorld(), environment: { PATH: process.env["PATH"] } });

interface Called {
  readonly name: string;
  readonly input: { readonly [name: string]: string | readonly string[] };
}

interface Asked {
  readonly errand: Errand;
  readonly tree: string;
  readonly workspace: string;
}

/** An agent that makes these calls one after the other, in a folder of its own. */
async function calling(calls: readonly Called[], options: Partial<ErrandOptions> = {}): Promise<Asked> {
  const workspace = options.workspace ?? temporaryFolder();
  const parent = byContext([...calls.map(({ name, input }) => callTool(name, input)), say("Done.")]);
  const { errand } = await openTestErrand({ parent }, { tools, permissions: [], workspace, ...options });
  const agent = await errand.openAgent();
  await agent.post("go");
  return { errand, tree: agent.id, workspace };
}

async function question({ errand, tree }: Asked, count = 1): Promise<string> {
  let seen = 0;
  await eventsUntil(errand, tree, ({ facts }) => {
    seen += facts.filter(({ type }) => type === "question-asked").length;
    return seen >= count;
  });
  return (await errand.questions({ tree })).at(-1)?.id ?? "";
}

async function texts({ errand, tree }: Asked): Promise<readonly unknown[]> {
  return (await eventsUntil(errand, tree, turnsEnded(1))).flatMap((event) => event.texts);
}

async function seenOf({ name, input }: Called, workspace: string): Promise<string> {
  const preview = await previewChange(name, input, workspace);
  if (preview === null || "refused" in preview) throw new Error(`no preview: ${JSON.stringify(preview)}`);
  return preview.seen;
}

const WRITE: Called = { name: "write_file", input: { path: "a.txt", content: "new\n" } };
const EDIT: Called = { name: "edit_file", input: { path: "a.txt", old_text: "old", new_text: "new" } };

test.each([
  ["write_file", WRITE],
  ["edit_file", EDIT],
])("%s: an allowed change is made to the file that was seen", async (_name, call) => {
  const workspace = temporaryFolder();
  writeFileSync(join(workspace, "a.txt"), "old\n");
  const asked = await calling([call], { workspace });
  const id = await question(asked);
  await asked.errand.answer(id, { allow: true, seen: await seenOf(call, workspace) });
  await texts(asked);
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("new\n");
  expect(await asked.errand.replay(asked.tree)).toMatchObject({ difference: null, foreign: [] });
});

test.each([
  ["write_file", WRITE, "old\n"],
  ["write_file of a new file", WRITE, null],
  ["edit_file", EDIT, "old\n"],
])("%s: a file that changed since it was seen is not overwritten", async (_name, call, before) => {
  const workspace = temporaryFolder();
  const file = join(workspace, "a.txt");
  if (before !== null) writeFileSync(file, before);
  const asked = await calling([call], { workspace });
  const id = await question(asked);
  const seen = await seenOf(call, workspace);
  writeFileSync(file, "old, and the user's own work\n");
  await asked.errand.answer(id, { allow: true, seen });
  expect(await texts(asked)).toContainEqual(expect.stringContaining("changed since the change was shown"));
  expect(readFileSync(file, "utf8")).toBe("old, and the user's own work\n");
});

test("the mark of a file with the same content in another folder is not accepted", async () => {
  const [workspace, other] = [temporaryFolder(), temporaryFolder()];
  for (const folder of [workspace, other]) writeFileSync(join(folder, "a.txt"), "old\n");
  const asked = await calling([WRITE], { workspace });
  await asked.errand.answer(await question(asked), { allow: true, seen: await seenOf(WRITE, other) });
  await texts(asked);
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("old\n");
});

test.each<Called>([
  { name: "write_file", input: { path: "a.txt" } },
  { name: "write_file", input: { path: "a.txt", content: "x", mode: "777" } },
  { name: "edit_file", input: { path: "a.txt", old_text: "", new_text: "x" } },
  { name: "run_command", input: { argv: [] } },
  { name: "run_command", input: { argv: ["ls"], shell: "yes" } },
  { name: "read_file", input: { path: "" } },
  { name: "list_files", input: { depth: "all" } },
  { name: "search_text", input: { query: "a\nb" } },
])("arguments that cannot be used are answered and not asked about: $name $input", async (call) => {
  const asked = await calling([call], { permissions: [{ decision: "ask", tool: "*" }] });
  const events = await eventsUntil(asked.errand, asked.tree, turnsEnded(1));
  expect(events.flatMap(({ facts }) => facts).filter(({ type }) => type === "question-asked")).toEqual([]);
  expect(events.flatMap((event) => event.texts)).toContainEqual(expect.stringMatching(/^Error: .*`\w+`/));
  expect(await asked.errand.replay(asked.tree)).toMatchObject({ difference: null, foreign: [] });
});

test("a denied call stays denied with any arguments", async () => {
  const asked = await calling([{ name: "write_file", input: {} }], {
    permissions: [{ decision: "deny", tool: "write_file" }],
  });
  expect(await texts(asked)).toContainEqual(expect.stringContaining("not permitted here"));
});

test("an answer for the whole conversation applies to the same path only", async () => {
  const other: Called = { name: "write_file", input: { path: "b.txt", content: "b\n" } };
  const again: Called = { name: "write_file", input: { path: "a.txt", content: "again\n" } };
  const asked = await calling([WRITE, again, other]);
  await asked.errand.answer(await question(asked), { allow: true, always: true });
  const id = await question(asked, 2);
  expect(readFileSync(join(asked.workspace, "a.txt"), "utf8")).toBe("again\n");
  expect((await asked.errand.questions())[0]).toMatchObject({ id, input: { path: "b.txt" } });
  await asked.errand.answer(id, { allow: false });
  await texts(asked);
  expect(await asked.errand.replay(asked.tree)).toMatchObject({ difference: null, foreign: [] });
});

test("a grant satisfies `ask`, and never overrides a `deny` of the executing process", async () => {
  const store = join(temporaryFolder(), "errand.db");
  const workspace = temporaryFolder();
  const parent = byContext([
    callTool("write_file", WRITE.input),
    say("1"),
    callTool("write_file", WRITE.input),
    say("2"),
  ]);
  const first = (await openTestErrand({ parent }, { tools, permissions: [], workspace, store })).errand;
  const agent = await first.openAgent();
  await agent.post("go");
  await first.answer(await question({ errand: first, tree: agent.id, workspace }), { allow: true, always: true });
  await eventsUntil(first, agent.id, turnsEnded(1));
  await first.close();
  writeFileSync(join(workspace, "a.txt"), "mine\n");
  const permissions = [{ decision: "deny", tool: "write_file" }] as const;
  const second = (await openTestErrand({ parent }, { tools, permissions, workspace, store, renewDefinitions: false }))
    .errand;
  await (await second.agent(agent.id)).postAndAwait("again");
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("mine\n");
});

test("an answer cannot add a rule", async () => {
  const asked = await calling([WRITE, { name: "write_file", input: { path: "b.txt", content: "b" } }]);
  const wide = { allow: true, always: true, grant: { decision: "allow", tool: "*" } } as const;
  await asked.errand.answer(await question(asked), wide);
  await question(asked, 2);
  const facts = (
    await eventsUntil(asked.errand, asked.tree, ({ facts: [input] }) => input?.type === "answer-given")
  ).at(-1)?.facts;
  expect(facts?.[0]).toMatchObject({ grant: { decision: "allow", tool: "write_file", path: "./a.txt" } });
});
