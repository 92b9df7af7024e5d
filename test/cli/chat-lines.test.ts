/** `errand chat` without a terminal: a line is a message. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Finished,
  projectFolder,
  records,
  runErrand,
  SLOW,
  startErrand,
  storeOf,
} from "./support/errand-process.ts";
import { saidOf } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => project.remove());

const errand = (...args: string[]): Promise<Finished> => runErrand(args, { ...project, entry: SLOW });
const chat = (input: string, ...args: string[]): Promise<Finished> =>
  runErrand(["chat", ...args], { ...project, entry: SLOW, input });

async function onlyTree(): Promise<string> {
  const trees = records((await errand("ps", "--all", "--json")).out);
  expect(trees).toHaveLength(1);
  return String(trees[0]?.["id"]);
}

describe("lines", () => {
  test("each line is a message of one conversation, and is answered before the next line is read", async () => {
    const { code, out, err } = await chat("what opens the store?\n\n  and the tests?  \n");
    expect(out).toMatch(
      /^I asked 2 helpers.+\n\nYou asked: what opens the store\?\n[\s\S]+store\.ts[\s\S]+\nI asked .+\n\nYou asked: and the tests\?\n/,
    );
    expect(err).toMatch(/^worker ".+" ended: ok/m);
    expect(err).not.toContain("I asked 2 helpers");
    expect(code).toBe(0);
    const tree = await onlyTree();
    expect(err).toContain(`tree ${tree} in ${storeOf(project.folder)}`);
    expect((await errand("logs", tree)).out.match(/message-posted/g)).toHaveLength(2);
  });

  test("a program can wait for an answer before it writes the next line", async () => {
    const running = startErrand(["chat"], { ...project, entry: SLOW, open: true });
    running.type("what opens the store?\n");
    await running.seen("(offline rehearsal:");
    expect(running.shown()).toContain("store.ts");
    running.type("and the tests?\n");
    await running.seen("You asked: and the tests?");
    running.kill("SIGTERM");
    expect((await running.finished).code).toBe(143);
  });

  test("--json prints an answer for each message, and the end", async () => {
    const { code, out, err } = await chat("what opens the store?\nand the tests?", "--json");
    const lines = records(out);
    expect(err).toBe("");
    expect(
      lines.filter((line) => line["type"] === "answer").map((line) => String(line["text"]).split("\n")[2]),
    ).toEqual(["You asked: what opens the store?", "You asked: and the tests?"]);
    expect(lines.at(-1)).toMatchObject({ type: "done", outcome: "done", exit: 0, runs: { open: 0 } });
    expect(code).toBe(0);
  });

  test("no tree is created without a line", async () => {
    expect(await chat("\n \n")).toMatchObject({ code: 0, out: "" });
    expect(records((await errand("ps", "--all", "--json")).out)).toEqual([]);
  });

  test("a message that another process sends meanwhile is answered too", async () => {
    const running = startErrand(["chat", "--json"], { ...project, entry: SLOW, open: true });
    running.type("what opens the store?\n");
    await running.seen('"answer"');
    const tree = String(records(running.shown())[0]?.["tree"]);
    await errand("send", tree, "and the tests?");
    await running.seen("You asked: and the tests?");
    running.kill("SIGINT");
    const { code, out } = await running.finished;
    expect(records(out).filter((line) => line["type"] === "answer")).toHaveLength(2);
    expect(code).toBe(130);
  });
});

describe("a conversation that exists", () => {
  test("continues with its recorded model and does not print its past again", async () => {
    await chat("what opens the store?\n", "--model", "slow/1");
    const tree = await onlyTree();
    const { code, out, err } = await chat("and the tests?\n", tree.slice(0, 13));
    expect(err).toMatch(/^model slow\/1 \(because the tree was recorded with it\), store/);
    expect(out).toMatch(/^I asked .+\n\nYou asked: and the tests\?/);
    expect(out).not.toContain("what opens");
    expect(code).toBe(0);
    expect(await onlyTree()).toBe(tree);
    const other = await chat("thanks\n", tree, "--model", "offline/rehearsal");
    expect(other.err).toMatch(/^model offline\/rehearsal \(because --model names it\), store/);
    expect((await errand("logs", tree)).out).toContain("catalog-changed");
    expect(await errand("replay", tree)).toMatchObject({ code: 0, out: expect.stringMatching(/\nproven\n$/) });
  });

  test("keeps the agent that it began with", async () => {
    await chat("what opens the store?\n", "--agent", "researcher");
    const [tree] = records((await errand("ps", "--all", "--json")).out);
    expect(tree).toMatchObject({ agent: "researcher", kind: "foreground" });
    const unknown = await chat("hello\n", "--agent", "nobody");
    expect(saidOf(unknown.err)).toMatchObject({ code: "definition-unknown", lines: 2 });
    const other = await chat("hello\n", String(tree?.["id"]), "--agent", "worker");
    expect(saidOf(other.err)).toMatchObject({ code: "usage", lines: 2 });
    expect(other.code).toBe(2);
  });

  test("first answers the messages that a dead process left", async () => {
    const dead = startErrand(["chat", "--json", "--model", "held/1"], { ...project, entry: SLOW, open: true });
    dead.type("what opens the store?\n");
    await dead.seen('"draining"');
    dead.kill("SIGKILL");
    const tree = String(records((await dead.finished).out)[0]?.["tree"]);
    writeFileSync(join(project.folder, "go"), "");
    const { code, out } = await chat("", tree);
    expect(out).toMatch(/^(I asked .+\n\n)?You asked: what opens the store\?\n[\s\S]+store\.ts/);
    expect(code).toBe(0);
    expect(await chat("", tree)).toMatchObject({ code: 0, out: "" });
  });

  test("the id of a run, or of an unknown tree, is refused in two lines", async () => {
    const created = records((await errand("run", "--json", "the store")).out).find(
      (line) => line["type"] === "run-created",
    );
    for (const [id, code, exit] of [
      [String(created?.["run"]), "usage", 2],
      ["000000", "tree-unknown", 1],
    ] as const) {
      const refused = await chat("hello\n", id);
      expect(saidOf(refused.err)).toMatchObject({ code, lines: 2 });
      expect({ code: refused.code, out: refused.out }).toEqual({ code: exit, out: "" });
    }
  });
});

describe("failures", () => {
  test("a failed turn is exit 1, a turn that reaches a limit is exit 3, and the next line is still sent", async () => {
    const broken = await chat("one\ntwo\n", "--model", "broken/1");
    expect(broken.err.match(/^error: .+the provider said no \(turn-failed\)$/gm)).toHaveLength(2);
    expect(broken.err).not.toContain("\u001b");
    expect({ code: broken.code, out: broken.out }).toEqual({ code: 1, out: "" });
    const json = await chat("one\n", "--model", "looping/0", "--json");
    expect(records(json.out).slice(-2)).toMatchObject([
      { type: "error", code: "turn-failed" },
      { type: "done", outcome: "failed", exit: 3 },
    ]);
    expect(json.code).toBe(3);
  });

  test("a question that no user can answer ends the chat with a hint how to continue", async () => {
    const { code, out, err } = await chat("write it\nand more\n", "--model", "writing/1");
    const tree = await onlyTree();
    expect(err).toMatch(
      new RegExp(`error: The work waits for an answer: .+ \\(needs-input\\)\\n {2}errand answer ${tree}/`),
    );
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect((await errand("logs", tree)).out.match(/message-posted/g)).toHaveLength(1);
  });

  test("Ctrl-C cancels the current work and is exit 130", async () => {
    const running = startErrand(["chat", "--json", "--model", "held/1"], { ...project, entry: SLOW, open: true });
    running.type("the store\n");
    await running.seen('"draining"');
    running.kill("SIGINT");
    const { code, out } = await running.finished;
    expect(records(out).at(-1)).toMatchObject({ type: "done", outcome: "interrupted", exit: 130, runs: { open: 0 } });
    expect(code).toBe(130);
  });

  test("an unavailable model and a store with another owner are refused", async () => {
    const unknown = await chat("hello\n", "--model", "nothing/here");
    expect(saidOf(unknown.err)).toMatchObject({ code: "model-unknown", lines: 2 });
    const owner = startErrand(["chat", "--store", "own.db", "--model", "slow/60000"], {
      ...project,
      entry: SLOW,
      open: true,
    });
    owner.type("the store\n");
    await owner.seen("opened");
    const refused = await chat("hello\n", "--store", "own.db");
    expect(saidOf(refused.err)).toMatchObject({ code: "store-owned", lines: 2 });
    expect(refused.code).toBe(1);
    owner.kill("SIGINT");
    await owner.finished;
  });
});
