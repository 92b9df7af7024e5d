/**
 * Errand's output only shows text in a terminal, whether it comes from the model, a tool, a provider's error, a file, its
 * name, a foreign store or the command line: with the real command, in a pseudo-terminal and in a pipe (rule E4).
 */

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type Finished,
  type HowToRun,
  projectFolder,
  records,
  runErrand,
  startErrand,
  terminalAvailable,
} from "../cli/support/errand-process.ts";
import { openaiChat } from "../models/wires/openai-chat.ts";
import { openWireServer, refuse, stream, type WireServer } from "../models/wires/wire-server.ts";
import { HOSTILE_FILE_NAME, HOSTILE_SEQUENCES, HOSTILE_TEXT, HOSTILE_WORD, unsafeIn } from "./hostile-text.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const terminal = { columns: 100, rows: 40 };
const places = terminalAvailable ? ([undefined, terminal] as const) : ([undefined] as const);

/** Runs it in a pipe and in a terminal, and checks what it printed. */
async function harmless(args: readonly string[], how: HowToRun): Promise<Finished[]> {
  const ended: Finished[] = [];
  for (const place of places) {
    const running = startErrand(args, { ...how, ...(place === undefined ? {} : { terminal: place }) });
    const finished = await running.finished;
    expect(unsafeIn(finished.out, place !== undefined), `${args.join(" ")}: standard output`).toEqual([]);
    expect(unsafeIn(finished.err, place !== undefined), `${args.join(" ")}: standard error`).toEqual([]);
    ended.push(finished);
  }
  return ended;
}

describe("arguments of the command line", () => {
  const project = { folder: "", remove: (): void => undefined };
  beforeAll(() => void Object.assign(project, projectFolder()));
  afterAll(() => project.remove());

  test.each([
    ["a command", [HOSTILE_WORD]],
    ["an option", ["run", `--${HOSTILE_WORD}`]],
    ["an id", ["show", HOSTILE_WORD]],
    ["a file", ["replay", HOSTILE_WORD]],
    ["a store", ["ps", "--store", HOSTILE_WORD]],
    ["a model", ["run", "--store", "memory", "--model", HOSTILE_WORD, "hello"]],
    ["an agent", ["run", "--store", "memory", "--agent", HOSTILE_WORD, "hello"]],
    ["a rule", ["run", "--store", "memory", "--allow", HOSTILE_WORD, "hello"]],
    ["a setting", ["config", "set", "model", HOSTILE_WORD]],
    ["a shell", ["completion", HOSTILE_WORD]],
    ["a task", ["run", "--store", "memory", "--model", "offline/rehearsal", HOSTILE_WORD]],
    ["with --debug", ["show", "--debug", HOSTILE_WORD]],
  ])("%s", async (_what, args) => {
    await harmless(args, project);
  });
});

describe("a folder", () => {
  const project = { folder: "", remove: (): void => undefined };
  beforeAll(() => {
    Object.assign(project, projectFolder());
    writeFileSync(join(project.folder, HOSTILE_FILE_NAME), HOSTILE_TEXT);
    writeFileSync(join(project.folder, "AGENTS.md"), HOSTILE_TEXT);
    for (const folder of [".errand", ".errand/agents", ".claude", ".claude/agents"])
      mkdirSync(join(project.folder, folder), { recursive: true });
    const quoted = JSON.stringify(HOSTILE_TEXT);
    const agent = `---\nname: ${quoted}\ndescription: ${quoted}\nmodel: ${quoted}\ntools: ${quoted}\nhooks: ${quoted}\n---\n${HOSTILE_TEXT}\n`;
    writeFileSync(join(project.folder, ".errand/agents", `${HOSTILE_FILE_NAME}.md`), agent);
    writeFileSync(join(project.folder, ".errand/agents", "plain.md"), agent.replace(/name: .*/, "name: plain"));
    writeFileSync(join(project.folder, ".claude/agents", `${HOSTILE_FILE_NAME}.md`), agent);
    const settings = { model: HOSTILE_TEXT, baseUrl: HOSTILE_TEXT, [HOSTILE_TEXT]: HOSTILE_TEXT };
    writeFileSync(join(project.folder, ".errand", "config.json"), JSON.stringify(settings));
  });
  afterAll(() => project.remove());

  test.each([
    ["agents", ["agents"]],
    ["one agent", ["agents", "plain"]],
    ["config", ["config"]],
    ["trust", ["trust", "--yes"]],
    ["trusted", ["trust", "--list"]],
    ["doctor", ["doctor"]],
    ["run", ["run", "--store", "memory", "--model", "offline/rehearsal", "what is in this folder?"]],
    ["run in lines of JSON", ["run", "--json", "--store", "memory", "--model", "offline/rehearsal", "list the files"]],
  ])("%s", async (_what, args) => {
    await harmless(args, project);
  });
});

describe("a foreign store", () => {
  let project: ReturnType<typeof projectFolder>;
  let hostile = "";
  let hostileIds = "";
  let tree = "";
  beforeAll(async () => {
    project = projectFolder();
    hostile = join(project.folder, "hostile.db");
    const { out } = await runErrand(["run", "--json", "--store", hostile, "what opens the store?"], project);
    tree = String(records(out).at(-1)?.["tree"]);
    const database = new DatabaseSync(hostile);
    database.prepare("update trees set agent = ?").run(HOSTILE_WORD);
    for (const column of ["name", "definition", "reason"]) {
      database.prepare(`update runs set ${column} = ?`).run(HOSTILE_WORD);
    }
    database.prepare("update blobs set text = ?").run(HOSTILE_WORD);
    database.close();
    hostileIds = join(project.folder, "hostile-ids.db");
    cpSync(hostile, hostileIds);
    const worse = new DatabaseSync(hostileIds);
    worse.prepare("update trees set id = ?").run(HOSTILE_WORD);
    worse.close();
  });
  afterAll(() => project.remove());

  test.each([
    ["ps", "--all"],
    ["show"],
    ["logs"],
    ["result"],
    ["replay"],
    ["export"],
    ["completion", "ids"],
    ["resume"],
    ["answer"],
  ])("errand %s", async (command, ...rest) => {
    const named = ["show", "logs", "result", "replay", "export"].includes(command) ? [tree] : rest;
    for (const json of [[], ["--json"]]) {
      await harmless([command, ...named, ...json, "--store", hostile], { folder: project.folder });
    }
    for (const store of [hostile, hostileIds]) {
      await harmless([command, ...(named.length === 0 ? [] : [HOSTILE_WORD]), "--store", store], {
        folder: project.folder,
      });
    }
  });
});

test("output of a package, a warning and an uncaught exception are filtered too", async () => {
  const host = new URL("../../src/cli/process-host.ts", import.meta.url).href;
  const code = `
    const { createProcessHost } = await import(${JSON.stringify(host)});
    createProcessHost();
    const text = ${JSON.stringify(HOSTILE_TEXT)};
    console.log("console.log", text);
    console.error("console.error", text);
    process.stdout.write(Buffer.from("stdout " + text));
    process.stderr.write("stderr " + text, "utf8", () => undefined);
    process.emitWarning("warning " + text);
    setTimeout(() => { throw new Error("thrown " + text); }, 50);`;
  for (const debug of [[], ["--debug"]]) {
    const args = ["--input-type=module", "-e", code, "--", ...debug];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([unsafeIn(stdout), unsafeIn(stderr)]).toEqual([[], []]);
    for (const word of ["console.log", "stdout begin"]) expect(stdout).toContain(word);
    for (const word of ["console.error", "stderr begin", "warning begin", "error: thrown begin", "(internal)"])
      expect(stderr).toContain(word);
    expect(status).toBe(1);
  }
});

/** A model that delegates with a hostile label, writes hostile text, and reads a hostile file. */
async function hostileModel(): Promise<WireServer> {
  return openWireServer((exchange) => {
    const { results, calls } = openaiChat.read(exchange.body);
    const child = !exchange.body.includes("start_background_agent");
    const text = HOSTILE_TEXT;
    const call = (name: string, input: object) => ({
      id: `call-${exchange.number}`,
      name,
      arguments: JSON.stringify(input),
    });
    if (results.length > 0 || calls.length > 1) return stream(exchange, openaiChat.frames({ text }));
    const made = child
      ? [call("read_file", { path: HOSTILE_FILE_NAME })]
      : [call("subagent", { task: HOSTILE_TEXT, context: HOSTILE_TEXT })];
    return stream(exchange, openaiChat.frames({ text, calls: made }));
  });
}

describe("a model server", () => {
  const project = { folder: "", remove: (): void => undefined };
  beforeAll(() => {
    Object.assign(project, projectFolder());
    writeFileSync(join(project.folder, HOSTILE_FILE_NAME), HOSTILE_TEXT);
  });
  afterAll(() => project.remove());
  const asked = (server: WireServer): string[] => ["--model", "openai-compatible/m", "--base-url", `${server.url}/v1`];

  test("its text, its labels and the files that it reads", async () => {
    const server = await hostileModel();
    for (const json of [[], ["--json"]]) {
      const args = ["run", ...json, ...asked(server), "--store", "said.db", HOSTILE_WORD];
      for (const { out } of await harmless(args, project)) expect(out).toContain("hidden");
    }
    await harmless(["completion", "ids", "--store", "said.db"], project);
    for (const command of ["ps", "show", "logs", "result", "export"]) {
      const [listed] = records((await runErrand(["ps", "--all", "--json", "--store", "said.db"], project)).out);
      const named = command === "ps" ? ["--all"] : [String(listed?.["id"])];
      await harmless([command, ...named, "--store", "said.db"], project);
    }
  });

  test.each([
    ["an error in JSON", { error: { message: HOSTILE_TEXT, type: HOSTILE_TEXT, code: HOSTILE_TEXT } }],
    ["an error that is text", HOSTILE_TEXT],
  ])("%s", async (_what, body) => {
    const server = await openWireServer((exchange) => refuse(exchange, 400, body));
    await harmless(["run", ...asked(server), "--store", "memory", "hello"], project);
    await harmless(["run", "--json", "--debug", ...asked(server), "--store", "memory", "hello"], project);
  });

  test("Markdown around it, as it is written and at the end", async () => {
    const cell = HOSTILE_TEXT.replaceAll("|", "");
    const parts = [
      `# ${HOSTILE_TEXT}\n\n- **${HOSTILE_TEXT}** \`${HOSTILE_TEXT}\`\n> ${HOSTILE_TEXT}`,
      `[${HOSTILE_TEXT}](http://owned.example/${HOSTILE_WORD.replaceAll(/\s/g, "")}) <http://${HOSTILE_TEXT}>`,
      `| ${cell} | b |\n|---|---|\n| \`${cell}\` | ${cell} |\n`,
      `\`\`\`${HOSTILE_TEXT}\n${HOSTILE_TEXT}\n`,
    ];
    const text = parts.join("\n\n");
    const server = await openWireServer((exchange) => stream(exchange, openaiChat.frames({ text })));
    const [piped, shown] = await harmless(["run", ...asked(server), "--store", "marked.db", "hello"], project);
    expect(piped?.out).toContain("# begin ");
    if (shown !== undefined) expect(shown.out).toMatch(/│ .{0,5}begin .*hidden/);
    await harmless(["result", "last", "--store", "marked.db"], project);
  });

  test("--json keeps every character, escaped", async () => {
    const server = await openWireServer((exchange) => stream(exchange, openaiChat.frames({ text: HOSTILE_TEXT })));
    const { out } = await runErrand(["run", "--json", ...asked(server), "--store", "memory", "hello"], project);
    expect(unsafeIn(out)).toEqual([]);
    expect(records(out).find(({ type }) => type === "answer")?.["text"]).toBe(HOSTILE_TEXT);
  });

  test("export keeps every character, escaped, and is proven", async () => {
    const server = await openWireServer((exchange) => stream(exchange, openaiChat.frames({ text: HOSTILE_TEXT })));
    const store = join(project.folder, "exported.db");
    const { out } = await runErrand(["run", "--json", ...asked(server), "--store", store, "hello"], project);
    const tree = String(records(out).at(-1)?.["tree"]);
    const printed = await runErrand(["export", tree, "--store", store], project);
    expect(unsafeIn(printed.out)).toEqual([]);
    expect(printed.out).toContain(String.raw`\u202e`);
    expect((await runErrand(["export", tree, "--store", store, "--out", "tree.jsonl"], project)).code).toBe(0);
    expect(await runErrand(["replay", "tree.jsonl"], project)).toMatchObject({
      code: 0,
      out: expect.stringContaining("proven"),
    });
    expect(await runErrand(["replay", "-"], { ...project, input: printed.out })).toMatchObject({ code: 0 });
  });

  test.runIf(terminalAvailable)("in a chat", async () => {
    const server = await hostileModel();
    const args = ["chat", ...asked(server), "--store", "memory"];
    const running = startErrand(args, { ...project, terminal });
    await running.seen("Enter sends");
    running.type("hello\r");
    await running.seen("gnp.exe");
    running.type("\u0004");
    const { out } = await running.finished;
    expect(unsafeIn(out, true)).toEqual([]);
  });

  test.runIf(terminalAvailable)("text that contains one of Errand's own colours is not coloured", async () => {
    const server = await openWireServer((exchange) =>
      refuse(exchange, 400, { error: { message: `\u001b[36mCYAN\u001b[39m ${HOSTILE_SEQUENCES[8]}` } }),
    );
    const { out } = await startErrand(["run", ...asked(server), "--store", "memory", "hello"], { ...project, terminal })
      .finished;
    expect(out).toContain("CYAN");
    expect(out).not.toContain("\u001b[36mCYAN");
  });
});
