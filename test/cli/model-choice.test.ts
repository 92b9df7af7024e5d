/** Which of several possible models a command uses, and that it always prints which one and why. */

import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openaiChat } from "../models/wires/openai-chat.ts";
import { openWireServer, refuse, stream, type WireServer } from "../models/wires/wire-server.ts";
import { agentFile, definedProject } from "./support/defined-project.ts";
import { projectFolder, runErrand } from "./support/errand-process.ts";

vi.setConfig({ testTimeout: 60_000 });

let project: ReturnType<typeof projectFolder>;
beforeEach(() => {
  project = projectFolder();
});
afterEach(() => project.remove());

/** A server that answers every chat with these words, and that lists models as Ollama does. */
function answering(words: string, models: readonly string[] = []): Promise<WireServer> {
  return openWireServer((exchange) => {
    if (exchange.path === "/api/tags")
      return void exchange.response.end(JSON.stringify({ models: models.map((name) => ({ name })) }));
    return stream(exchange, openaiChat.frames({ text: words }));
  });
}

function modelOf({ body }: { readonly body: string }): unknown {
  return (JSON.parse(body) as { readonly model?: unknown }).model;
}

async function firstLine(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const { err } = await runErrand(["run", "--store", "memory", ...args, "go"], { ...project, env });
  return err.split("\n")[0] ?? "";
}

test("--model wins over the environment, and the environment over keys", async () => {
  const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", ERRAND_MODEL: "offline/rehearsal" };
  expect(await firstLine(["--model", "offline/rehearsal"], { ...keys, ERRAND_MODEL: "openai/x" })).toBe(
    "model offline/rehearsal (because --model names it), store memory",
  );
  expect(await firstLine([], keys)).toBe("model offline/rehearsal (because ERRAND_MODEL names it), store memory");
});

test("without a name the provider with a key is used, which is printed before the first call", async () => {
  const server = await openWireServer((exchange) => refuse(exchange, 401, openaiChat.error("Who are you?")));
  const env = { OPENAI_API_KEY: "wrong", OPENAI_BASE_URL: `${server.url}/v1` };
  const { code, out, err } = await runErrand(["run", "--store", "memory", "go"], { ...project, env });
  expect(err.split("\n")[0]).toMatch(/^model openai\/\S+ \(because OPENAI_API_KEY is set\), store memory$/);
  expect(err).toMatch(/^error: .+ answered with status 401: Who are you\? \(turn-failed\)\n {2}\S.+\n$/m);
  expect(err).not.toContain("wrong");
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(server.exchanges).toHaveLength(1);
});

test("without a key the newest chat model of a running Ollama is used", async () => {
  const ollama = await answering("Hello from here.", ["nomic-embed-text:latest", "qwen3:8b", "llama4"]);
  const env = { OLLAMA_HOST: ollama.url };
  const { code, out, err } = await runErrand(["run", "--store", "memory", "go"], { ...project, env });
  expect(err.split("\n")[0]).toBe("model ollama/qwen3:8b (because Ollama runs here), store memory");
  expect({ code, out }).toEqual({ code: 0, out: "Hello from here.\n" });
  expect(ollama.exchanges.slice(1).map(modelOf)).toEqual(["qwen3:8b"]);
});

test("a silent Ollama is not waited for, and without Ollama the offline model is used", async () => {
  const silent = await openWireServer(() => undefined);
  const offline = "model offline/rehearsal (because there is no key and no running Ollama), store memory";
  expect(await firstLine([], { OLLAMA_HOST: silent.url })).toBe(offline);
  expect(await firstLine([], {})).toBe(offline);
});

test("a definition's own model wins over the setting, and --model over both", async () => {
  const { folder, home } = definedProject({
    ".errand/agents/own.md": agentFile("own", "You.", "model: openai-compatible/own\n"),
  });
  const server = await answering("I am it.");
  const env = { OPENAI_COMPATIBLE_BASE_URL: `${server.url}/v1`, ERRAND_MODEL: "offline/rehearsal" };
  const run = ["run", "--store", "memory", "--agent", "own"];
  await runErrand(["trust"], { folder, home });
  const own = await runErrand([...run, "go"], { folder, home, env });
  expect(own.err).toContain("model openai-compatible/own (because the definition of own names it), store memory");
  expect(own.out).toBe("I am it.\n");
  const given = await runErrand([...run, "--model", "openai-compatible/given", "go"], { folder, home, env });
  expect(given.err).toContain("model openai-compatible/given (because --model names it), store memory");
  expect(server.exchanges.map(modelOf)).toEqual(["own", "given"]);
});

test("npm start stays offline with any keys, unless a model is named", async () => {
  const entry = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url));
  const how = { ...project, entry, env: { ANTHROPIC_API_KEY: "k", ERRAND_MODEL: "openai/x" } };
  const offline = await runErrand(["--store", "memory", "the store"], how);
  expect(offline.err).toContain("model offline/rehearsal (because --model names it), store memory");
  expect(offline.code).toBe(0);
  for (const named of [["--model", "nowhere/x"], ["--model=nowhere/x"], ["-m", "nowhere/x"]]) {
    const { err } = await runErrand(["--store", "memory", ...named, "go"], how);
    expect(err).toContain("nowhere/x");
    expect(err).not.toContain("offline/rehearsal (because");
  }
});

describe("--base-url", () => {
  test("names any server with OpenAI's protocol; its trees are resumed and forked there", async () => {
    const server = await answering("Here.");
    const url = ["--base-url", `${server.url}/v1/`];
    const how = { ...project, env: { OPENAI_COMPATIBLE_API_KEY: "the key" } };
    const model = ["--model", "openai-compatible/some/model"];
    const ran = await runErrand(["run", "--json", ...model, ...url, "go"], how);
    const done = JSON.parse(ran.out.trimEnd().split("\n").at(-1) ?? "{}") as Record<string, string>;
    expect(done).toMatchObject({ model: "openai-compatible/some/model", because: "--model names it" });
    const tree = done["tree"] ?? "";
    const forked = await runErrand(["fork", tree, "--at", "2", ...url], how);
    expect(forked.err).toContain("model openai-compatible/some/model (because the tree was recorded with it)");
    expect({ code: forked.code, out: forked.out }).toEqual({ code: 0, out: "Here.\n" });
    await runErrand(["send", tree, "and now?"], how);
    const lost = await runErrand(["resume"], how);
    expect(lost.err).toMatch(
      /^error: The model openai-compatible\/some\/model needs a base URL: give --base-url, or set \S+ \(model-unknown\)\n {2}\S.+\n$/,
    );
    const resumed = await runErrand(["resume", ...url], how);
    expect({ code: resumed.code, out: resumed.out }).toEqual({ code: 0, out: "Here.\n" });
    expect(server.exchanges.map(({ path }) => path)).toEqual(Array(3).fill("/v1/chat/completions"));
    expect(server.exchanges.map(modelOf)).toEqual(Array(3).fill("some/model"));
    expect(server.exchanges[0]?.headers["authorization"]).toBe("Bearer the key");
  });

  test.each([
    ["no URL", ["--model", "openai-compatible/x", "--base-url", "localhost:1234"], 'not "localhost:1234"'],
    ["a model it is not for", ["--model", "openai/x", "--base-url", "http://127.0.0.1:1"], "the model is openai/x"],
    ["no model", ["--base-url", "http://127.0.0.1:1"], "the model is offline/rehearsal"],
  ])("with %s is wrong use: one sentence and a hint", async (_what, args, sentence) => {
    const { code, out, err } = await runErrand(["run", ...args, "go"], project);
    expect(err).toMatch(/^error: .+ \(usage\)\n {2}\S.+\n$/);
    expect(err).toContain(sentence);
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test("without a listening server is retried, with a notice", async () => {
    const args = ["run", "--store", "memory", "--timeout", "0.5", "--model", "openai-compatible/x"];
    const { err } = await runErrand([...args, "--base-url", "http://127.0.0.1:9", "go"], project);
    expect(err).toMatch(/^orchestrator: the model failed, attempt 2 in 1\.[0-3]s: .+could not be reached/m);
    expect(err).not.toContain("    at ");
  });
});
