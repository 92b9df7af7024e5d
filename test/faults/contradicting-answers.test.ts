/**
 * What a sender was told holds: of different answers to one question the first counts and the others hear
 * `question-closed`; a message that a full inbox refuses is `inbox-full` to its sender. Through real processes, on both
 * stores.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Finished, projectFolder, records, runErrand, SLOW, startErrand } from "../cli/support/errand-process.ts";
import { asPostId, asStepKey, asTreeId } from "../../src/core/values/ids.ts";
import { createErrand, type ErrandOptions } from "../../src/index.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import { callTool, createScriptedModels, hang, say } from "../../src/testing/index.ts";
import { createDatabase } from "../support/postgres/databases.ts";

import { eventsUntil, lookTool, temporaryStore } from "../support/test-errand.ts";

vi.setConfig({ testTimeout: 120_000 });

describe.each(["sqlite", "postgres"] as const)("%s", (kind) => {
  const project = { folder: "", remove: (): void => undefined };
  let env: Readonly<Record<string, string>> = {};
  beforeEach(async () => {
    Object.assign(project, projectFolder());
    onTestFinished(project.remove);
    if (kind === "sqlite") return;
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    env = { ERRAND_DATABASE_URL: database.url };
  });
  const errand = (...args: readonly string[]): Promise<Finished> =>
    runErrand(args, { folder: project.folder, entry: SLOW, env });
  const made = (name: string): boolean => existsSync(join(project.folder, name));

  /** Work that is parked with a question, and no process that runs it. */
  async function parked(): Promise<{ readonly tree: string; readonly question: string }> {
    const { err } = await errand("run", "--model", "writing/20", "write it");
    const [, question = "", tree = ""] = /errand answer (\S+) yes, then: errand resume ([0-9a-f-]+)/.exec(err) ?? [];
    return { tree, question };
  }

  test("a different answer after one that waits in the mail is `question-closed`; the same answer again is fine", async () => {
    const { tree, question } = await parked();
    expect(await errand("answer", question, "no", "not today")).toMatchObject({ code: 0 });
    for (const words of [["yes"], ["no", "never"]]) {
      const other = await errand("answer", question, ...words);
      expect(other.err).toMatch(/^error: Question \S+ is not open any more \(question-closed\)\n {2}It was answered/);
      expect(other.code).toBe(1);
    }
    expect(await errand("answer", question, "no", "not today")).toMatchObject({ code: 0 });
    await errand("resume", tree);
    expect(made("out.txt")).toBe(false);
    expect((await errand("replay", tree)).out).toContain("proven");
  });

  test("of answers that come together the one that was acknowledged counts", async () => {
    const { tree, question } = await parked();
    const words = ["yes", "no", "yes", "no"];
    const answers = await Promise.all(words.map((word) => errand("answer", question, word)));
    const taken = new Set(words.filter((_, index) => answers[index]?.code === 0));
    expect(taken.size).toBe(1);
    for (const { code, err } of answers)
      if (code !== 0) expect([code, err]).toEqual([1, expect.stringContaining("(question-closed)")]);
    await errand("resume", tree);
    expect(made("out.txt")).toBe(taken.has("yes"));
  });

  test("a message that the inbox of a tree at work has no room for is `inbox-full` to its sender", async () => {
    expect((await errand("config", "set", "limits.inboxMessages", "1")).code).toBe(0);
    const owner = startErrand(["run", "--json", "--model", "pausing/1", "where is the store?"], {
      folder: project.folder,
      entry: SLOW,
      env,
    });
    onTestFinished(async () => {
      owner.kill("SIGKILL");
      await owner.finished;
    });
    await owner.seen("turn-started");
    const tree = String(records(`${owner.shown().split("\n")[0]}\n`)[0]?.["tree"]);
    const sent: Finished[] = [];
    for (const text of ["one", "two", "three"]) sent.push(await errand("send", tree, text));
    const refused = sent.filter(({ code }) => code !== 0);
    expect(refused.length).toBeGreaterThan(0);
    for (const { code, err } of refused)
      expect([code, err]).toEqual([1, expect.stringMatching(/\(inbox-full\)\n {2}Wait/)]);
  });
});

/**
 * Answers to one question that stood in the mail together when an owner came: they are taken in the order of their
 * arrival.
 */
test.each(["sqlite", "postgres"])("the first answer in the mail is the one that counts (%s)", async (kind) => {
  const address = kind === "sqlite" ? temporaryStore() : await databaseUrl();
  const pressed: unknown[] = [];
  const options: ErrandOptions = {
    store: address,
    models: [
      createScriptedModels({
        "scripted/parent": (_, { replies }) => [callTool("look", {}), say("done")][replies] ?? hang(),
      }),
    ],
    tools: [
      lookTool(async (input) => {
        pressed.push(input);
        return { text: "pressed", failed: false };
      }, false),
    ],
    permissions: [{ decision: "ask", tool: "look" }],
    agents: { orchestrator: { prompt: "You are the parent.", model: "scripted/parent" } },
  };
  for (const allow of [true, false]) {
    pressed.length = 0;
    const asking = await createErrand(options);
    const agent = await asking.openAgent();
    await agent.post("go");
    await eventsUntil(asking, agent.id, ({ facts }) => facts.some(({ type }) => type === "question-asked"));
    const [{ id } = { id: "" }] = await asking.questions({ tree: agent.id });
    await asking.close({ withinMs: 0 });
    const sender = await openStoreAt(address, "read");
    const tree = asTreeId(agent.id);
    const question = asStepKey(id.slice(tree.length + 1));
    for (let n = 0; n < 6; n += 1) {
      const input = {
        type: "answer-given",
        id: asPostId(`${id}-${n}`),
        question,
        allow: n === 0 ? allow : !allow,
      } as const;
      await sender.putMail(mailOf(tree, input, [""], sha256));
    }
    const owner = await createErrand(options);
    while ((await sender.pendingMail(10)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await owner.close();
    await sender.close();
    expect(pressed).toHaveLength(allow ? 1 : 0);
  }
});

async function databaseUrl(): Promise<string> {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  return database.url;
}
