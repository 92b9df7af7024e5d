/** `errand doctor` on real stores, disks, services and terminals, healthy and broken. */

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type Finished,
  type HowToRun,
  projectFolder,
  records,
  runErrand,
  SLOW,
  startErrand,
  storeOf,
  terminalAvailable,
} from "./support/errand-process.ts";

vi.setConfig({ testTimeout: 60_000 });

const project = { folder: "", remove: (): void => undefined };
const servers: Server[] = [];
beforeEach(() => Object.assign(project, projectFolder()));
afterEach(() => {
  project.remove();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Removes the keys of the developer's environment; a test sets its own. */
const NO_KEYS = Object.fromEntries(
  ["ANTHROPIC", "OPENAI", "GOOGLE_GENERATIVE_AI", "GEMINI", "GOOGLE", "OPENAI_COMPATIBLE", "OLLAMA"]
    .flatMap((name) => [`${name}_API_KEY`, `${name}_BASE_URL`])
    .map((name) => [name, ""]),
);
/** A port that nothing listens on, so that a real Ollama of the machine is not asked. */
const NO_OLLAMA = { OLLAMA_HOST: "127.0.0.1:9" };

function doctor(args: readonly string[], env: HowToRun["env"] = {}): Promise<Finished> {
  return runErrand(["doctor", ...args], { ...project, env: { ...NO_KEYS, ...NO_OLLAMA, ...env } });
}

interface Check {
  readonly level: unknown;
  readonly text: string;
  readonly remedy: unknown;
}

/** The checks by their names; of several with one name, the first. */
async function checks(args: readonly string[] = [], env: HowToRun["env"] = {}): Promise<Map<string, Check>> {
  const { out, code, err } = await doctor(["--json", ...args], env);
  expect(err).toBe("");
  const lines = records(out);
  const found = lines.filter((line) => line["type"] === "check");
  const counts = Object.fromEntries(
    ["ok", "warning", "broken"].map((level) => [level, found.filter((line) => line["level"] === level).length]),
  );
  expect(lines.at(-1)).toEqual({ type: "doctor", ...counts });
  expect(code).toBe(counts["broken"] === 0 ? 0 : 1);
  for (const { level, remedy } of found) expect(level === "ok").toBe(remedy === null);
  return new Map(
    found.toReversed().map(({ name, level, text, remedy }) => [String(name), { level, text: String(text), remedy }]),
  );
}

async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("reports each healthy check in a line, is exit 0, and leaves nothing behind", async () => {
  const before = readdirSync(project.folder);
  const { code, out, err } = await doctor([]);
  expect(out).toMatch(/^ok +Node\.js +\d+\.\d+/m);
  expect(out).toMatch(/^ok +SQLite +3\.\d+\.\d+ \(3\.51\.3/m);
  expect(out).toMatch(/^ok +disk +1 MiB written and synced in \d+ ms/m);
  expect(out).toMatch(/^ok +store +there is none for this folder yet; the first errand run makes it in \//m);
  expect(out).toMatch(/^ok +anthropic +not set up \(no key: ANTHROPIC_API_KEY\)$/m);
  expect(out).toMatch(/^warning +models +only offline\/rehearsal.+\n {28}Set the key/m);
  expect(out).toMatch(/^ok +terminal +plain lines/m);
  expect(err).toBe("nothing is broken; 2 warnings\n");
  expect(code).toBe(0);
  expect(readdirSync(project.folder)).toEqual(before);
});

describe("the store", () => {
  test("unfinished work of a dead process, its living owner, and a quarantined tree are reported", async () => {
    const running = startErrand(["run", "--json", "--model", "slow/60000", "x"], { ...project, entry: SLOW });
    await running.seen('"turn-started"');
    const alive = await checks();
    expect(alive.get("owner")).toMatchObject({ level: "ok", text: expect.stringContaining(`pid ${running.pid} on`) });
    expect(alive.get("work")).toMatchObject({ level: "ok", text: "1 tree under way" });
    running.kill("SIGKILL");
    await running.finished;
    const dead = await checks();
    expect(dead.get("store")?.text).toMatch(/\/store-1\.db, schema \d+, 1 tree, 1 open$/);
    expect(dead.get("owner")?.text).toBe("no process owns the store now");
    expect(dead.get("work")).toMatchObject({ level: "warning", remedy: expect.stringContaining("errand resume") });
    const db = new DatabaseSync(storeOf(project.folder));
    db.exec("update trees set status = 2, failures = 3, format = 99");
    db.close();
    const quarantined = await checks();
    expect(quarantined.get("work")).toMatchObject({ level: "ok", text: "nothing waits" });
    expect(quarantined.get("quarantine")).toMatchObject({
      level: "warning",
      remedy: expect.stringMatching(/errand resume [0-9a-f-]{36}$/),
    });
    expect(quarantined.get("format")).toMatchObject({ level: "warning", remedy: "Update Errand." });
  });

  test("a file that is no store, and stores of a newer or an older version, are broken", async () => {
    expect((await checks(["--store", "README.md"])).get("store")).toMatchObject({ level: "broken" });
    await runErrand(["run", "the store"], project);
    const version = (number: number): void => {
      const db = new DatabaseSync(storeOf(project.folder));
      db.exec(`pragma user_version = ${number}`);
      db.close();
    };
    version(1);
    expect((await checks()).get("store")).toMatchObject({
      level: "broken",
      text: expect.stringContaining("version 1,"),
    });
    version(9_999);
    const { level, text } = (await checks()).get("store") ?? {};
    expect({ level, text }).toEqual({ level: "broken", text: expect.stringContaining("9999") });
  });

  test("a place that cannot be written is broken", async () => {
    const { level, text } = (await checks(["--store", "/proc/errand/errand.db"])).get("disk") ?? {};
    expect({ level, text }).toEqual({ level: "broken", text: expect.stringContaining("/proc") });
  });
});

describe("models", () => {
  const KEY = "sk-this-is-secret";

  test("a key is mentioned and never printed, and its service is probed without it", async () => {
    const asked: (string | undefined)[] = [];
    const host = await listening((request, response) => {
      asked.push(request.url, request.headers.authorization, String(request.headers["x-api-key"] ?? ""));
      response.writeHead(401).end();
    });
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: `http://${host}` };
    const found = await checks([], env);
    expect(found.get("anthropic")).toMatchObject({
      level: "ok",
      text: expect.stringMatching(/^key in ANTHROPIC_API_KEY/),
    });
    expect(found.get("network")).toMatchObject({
      level: "ok",
      text: expect.stringMatching(`^anthropic: http://${host}/v1 answers \\(HTTP 401\\)`),
    });
    expect(found.has("models")).toBe(false);
    expect(asked).toEqual(["/v1", undefined, ""]);
    const { out, err } = await doctor([], env);
    expect(out + err).not.toContain(KEY);
  });

  test("a service that refuses or never answers, and an invalid URL, are broken", async () => {
    const gone = await listening(() => undefined);
    servers.pop()?.close();
    const silent = await listening(() => undefined);
    for (const [url, why] of [
      [`http://${gone}/v1`, "ECONNREFUSED"],
      [`http://${silent}/v1`, "no answer within 5 s"],
      ["api.example.com", "is no URL"],
      ["http://me:sesame@127.0.0.1:9/v1", "holds a name or a password"],
    ] as const) {
      const network = (await checks(["--base-url", url])).get("network");
      expect(network).toMatchObject({ level: "broken", text: expect.stringContaining(why) });
      expect(JSON.stringify(network)).not.toContain("sesame");
    }
  });

  test("a proxy that Node.js ignores is the first suggestion", async () => {
    const args = ["--base-url", "http://errand.invalid/v1"];
    const found = await checks(args, { HTTPS_PROXY: "http://127.0.0.1:9" });
    expect(found.get("network")?.remedy).toBe(
      "HTTPS_PROXY is set, and Node.js uses it only with NODE_USE_ENV_PROXY=1.",
    );
  });

  test("Ollama: running with models, running without models, named but not running", async () => {
    const tags = (models: readonly object[]): RequestListener => {
      return (request, response) =>
        response.writeHead(request.url === "/api/tags" ? 200 : 404).end(JSON.stringify({ models }));
    };
    const full = await checks([], { OLLAMA_HOST: await listening(tags([{ name: "qwen3" }])) });
    expect(full.get("ollama")).toMatchObject({ level: "ok", text: "runs, with 1 model" });
    expect(full.has("models")).toBe(false);
    const empty = await checks([], { OLLAMA_HOST: await listening(tags([])) });
    expect(empty.get("ollama")).toMatchObject({ level: "warning", remedy: expect.stringContaining("ollama pull") });
    expect((await checks()).get("ollama")).toMatchObject({ level: "warning", text: "does not run at 127.0.0.1:9" });
  });
});

describe.runIf(terminalAvailable)("in a terminal", () => {
  const env = { ...NO_KEYS, ...NO_OLLAMA, LC_ALL: "" };
  const shown = async (columns: number, given: HowToRun["env"]): Promise<string> => {
    const terminal = { columns, rows: 24 };
    return (await startErrand(["doctor"], { ...project, env: { ...env, ...given }, terminal }).finished).out;
  };

  test("it reports what the terminal can show, without columns if it is narrow", async () => {
    expect(await shown(90, { LANG: "C.UTF-8" })).toContain("90 columns, 24 rows, colours, live tree");
    const narrow = await shown(40, { LANG: "C.UTF-8", NO_COLOR: "1" });
    expect(narrow).toContain("ok terminal: 40 columns, 24 rows, no colours, live tree");
    expect(await shown(30, { LANG: "C.UTF-8", NO_COLOR: "1" })).toContain("warning terminal: 30 columns");
  });

  test("a locale that cannot show the tree is a warning", async () => {
    const out = await shown(90, { LANG: "C", LC_CTYPE: "", NO_COLOR: "1" });
    expect(out).toMatch(/^warning +terminal +.+, but LANG is C\r?\n +Use a UTF-8 locale/m);
  });
});
