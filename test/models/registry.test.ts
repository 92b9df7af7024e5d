/** Finding models by name: missing parts, addresses of requests, and prices. */

import { describe, expect, onTestFinished, test } from "vitest";
import { createErrand } from "../../src/index.ts";
import { createAiSdkModels } from "../../src/models/ai-sdk/ai-sdk-models.ts";
import { modelFactsOf } from "../../src/models/prices.ts";
import { ollamaBaseUrl } from "../../src/models/registry/base-url.ts";
import { modelOfKeys, listOllamaModels } from "../../src/models/registry/default-model.ts";
import { createModelRegistry, type ModelRegistryOptions } from "../../src/models/registry/model-registry.ts";
import { createTestWorld } from "../support/test-world.ts";
import { anthropic } from "./wires/anthropic.ts";
import { ask, unaborted, WIRES } from "./wires/index.ts";
import { openaiCompatible } from "./wires/openai-chat.ts";
import { openWireServer, stream } from "./wires/wire-server.ts";

function registry(options: Partial<ModelRegistryOptions> = {}) {
  return createModelRegistry({ env: {}, world: createTestWorld(), ...options });
}

function missing(name: string, options: Partial<ModelRegistryOptions> = {}): string | null {
  const found = registry(options).resolve(name);
  return "unavailable" in found ? found.unavailable : null;
}

test("a missing key is named, and a blank one is missing", () => {
  expect(missing("anthropic/claude-sonnet-5-5")).toBe(
    "The model anthropic/claude-sonnet-5-5 needs a key: set ANTHROPIC_API_KEY.",
  );
  expect(missing("openai/gpt-6.1-sol", { env: { OPENAI_API_KEY: "  " } })).toContain("set OPENAI_API_KEY.");
  expect(missing("google/gemini-4-argon")).toContain(
    "set GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY or GOOGLE_API_KEY.",
  );
  expect(missing("anthropic/claude-sonnet-5-5", { env: { ANTHROPIC_API_KEY: "k" } })).toBeNull();
});

test("a missing package is named with the command that installs it", () => {
  const options = { env: { ANTHROPIC_API_KEY: "secret" }, installed: () => false };
  expect(missing("anthropic/claude-sonnet-5-5", options)).toBe(
    "The model anthropic/claude-sonnet-5-5 needs a package that is not installed: npm install @ai-sdk/anthropic.",
  );
  expect(missing("ollama/llama4", options)).toContain("npm install @ai-sdk/openai-compatible.");
});

test("an unknown provider and a name without a model get the list of forms", () => {
  for (const name of ["gpt-6", "mistral/large", "anthropic/", "/x", ""]) {
    expect(missing(name)).toContain(`There is no provider for the model "${name}"`);
    expect(missing(name)).toContain("ollama/NAME or openai-compatible/NAME");
  }
});

test("an OpenAI-compatible server needs a valid base URL", () => {
  expect(missing("openai-compatible/m")).toContain("set OPENAI_COMPATIBLE_BASE_URL");
  expect(missing("openai-compatible/m", { baseUrl: "not a url" })).toContain("is no URL");
  expect(missing("openai-compatible/m", { baseUrl: "http://127.0.0.1:1/v1" })).toBeNull();
  expect(missing("openai-compatible/m", { env: { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:1" } })).toBeNull();
});

test("a base URL works with and without a key, also for names with slashes", async () => {
  const server = await openWireServer((exchange) => stream(exchange, openaiCompatible.frames({ text: "Hi." })));
  const name = "openai-compatible/meta-llama/llama-4";
  for (const env of [{}, { OPENAI_COMPATIBLE_API_KEY: "k" }]) {
    const found = registry({ baseUrl: `${server.url}/v1/`, env }).resolve(name);
    if ("unavailable" in found) throw new Error(found.unavailable);
    await found.model.call({ ...ask(openaiCompatible), model: name }, unaborted());
  }
  expect(server.exchanges.map(({ path, headers }) => [path, headers["authorization"]])).toEqual([
    ["/v1/chat/completions", undefined],
    ["/v1/chat/completions", "Bearer k"],
  ]);
  const body = JSON.parse(server.exchanges[0]?.body ?? "") as Record<string, unknown>;
  expect(body).toMatchObject({ model: "meta-llama/llama-4", stream_options: { include_usage: true } });
});

describe.each(WIRES)("$title", (wire) => {
  test("requests go to the base URL of the given environment, not of the process's own", async () => {
    const server = await openWireServer((exchange) => stream(exchange, wire.frames({ text: "Hi." })));
    const provider = registry({ env: wire.env(server.url) });
    const found = provider.resolve(wire.model);
    if ("unavailable" in found) throw new Error(found.unavailable);
    expect(provider.resolve(wire.model)).toEqual(found);
    await found.model.call(ask(wire), unaborted());
    const paths: Readonly<Record<string, string>> = {
      "anthropic/claude-sonnet-5-5": "/v1/messages",
      "openai-chat/gpt-6.1-sol": "/v1/chat/completions",
      "openai/gpt-6.1-sol": "/v1/responses",
      "google/gemini-4-argon": "/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse",
      "ollama/qwen3:8b": "/v1/chat/completions",
    };
    expect(server.exchanges[0]?.path).toBe(paths[wire.model]);
  });
});

test("an AI SDK model of the program is a model like any other", async () => {
  const server = await openWireServer((exchange) => stream(exchange, anthropic.frames({ text: "Hi." })));
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const own = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "k" }).languageModel("claude-opus-5-5");
  const prices = { "my/claude": { window: 1_000 } };
  const models = createAiSdkModels({ "my/claude": own }, { world: createTestWorld(), prices });
  const found = models.resolve("my/claude");
  if ("unavailable" in found) throw new Error(found.unavailable);
  expect(found.facts).toEqual({ window: 1_000, price: null });
  expect((await found.model.call(ask(anthropic), unaborted())).parts).toEqual([{ type: "text", text: "Hi." }]);
  expect(models.resolve("my/other")).toEqual({ unavailable: "There is no model my/other here; there are my/claude." });
});

test("an AI SDK model of the program works without a world", async () => {
  const server = await openWireServer((exchange) => stream(exchange, anthropic.frames({ text: "Hi." })));
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const own = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "k" }).languageModel("claude-opus-5-5");
  const errand = await createErrand({
    store: "memory",
    models: [createAiSdkModels({ "my/claude": own })],
    model: "my/claude",
  });
  onTestFinished(() => errand.close({ withinMs: 0 }));
  expect(await (await errand.openAgent()).postAndAwait("go")).toEqual({ text: "Hi.", silent: false });
  expect(server.exchanges).toHaveLength(1);
});

test("OLLAMA_HOST is read as Ollama reads it", () => {
  expect(ollamaBaseUrl(undefined)).toBe("http://127.0.0.1:11434/v1");
  expect(ollamaBaseUrl("0.0.0.0")).toBe("http://127.0.0.1:11434/v1");
  expect(ollamaBaseUrl("box:8080")).toBe("http://box:8080/v1");
  expect(ollamaBaseUrl(":8080")).toBe("http://127.0.0.1:8080/v1");
  expect(ollamaBaseUrl("https://ollama.example/")).toBe("https://ollama.example/v1");
  expect(ollamaBaseUrl("http://box:1/v1")).toBe("http://box:1/v1");
});

test("the default model is of the first provider with a key, if possible with an installed package", () => {
  expect(modelOfKeys({ OPENAI_API_KEY: "k", GEMINI_API_KEY: "k" })).toEqual({
    model: expect.stringMatching(/^openai\//),
    key: "OPENAI_API_KEY",
  });
  expect(modelOfKeys({ GEMINI_API_KEY: "k" })).toMatchObject({ key: "GEMINI_API_KEY" });
  expect(modelOfKeys({ OLLAMA_API_KEY: "k", ANTHROPIC_API_KEY: " " })).toBeNull();
  const both = { ANTHROPIC_API_KEY: "k", GOOGLE_API_KEY: "k" };
  expect(modelOfKeys(both, (name) => name === "@ai-sdk/google")).toMatchObject({ key: "GOOGLE_API_KEY" });
  expect(modelOfKeys(both, () => false)).toMatchObject({ key: "ANTHROPIC_API_KEY" });
});

test("every default model needs only its key", () => {
  for (const env of [{ ANTHROPIC_API_KEY: "k" }, { OPENAI_API_KEY: "k" }, { GOOGLE_API_KEY: "k" }]) {
    const found = registry({ env }).resolve(modelOfKeys(env)?.model ?? "");
    if ("unavailable" in found) throw new Error(found.unavailable);
    expect(found.facts.window).toBeGreaterThan(0);
    expect(found.facts.price).not.toBeNull();
  }
});

test("the chat models of a running Ollama are listed, and other servers are not taken for Ollama", async () => {
  const mute = [{ name: "nomic-embed-text:latest" }, { name: "all-minilm", details: { family: "bert" } }];
  const server = await openWireServer(({ response, path }) => {
    if (path === "/api/tags")
      response.end(JSON.stringify({ models: [{ name: "qwen3:8b" }, { name: "llama4" }, ...mute, {}] }));
    else response.writeHead(404).end();
  });
  expect(await listOllamaModels(fetch, { OLLAMA_HOST: server.url })).toEqual(["ollama/qwen3:8b", "ollama/llama4"]);
  const other = await openWireServer(({ response }) => void response.end("<html>"));
  expect(await listOllamaModels(fetch, { OLLAMA_HOST: other.url })).toBeNull();
  expect(await listOllamaModels(fetch, { OLLAMA_HOST: "http://127.0.0.1:1" })).toBeNull();
});

test("facts are those of the longest matching name, and given facts override built-in ones", () => {
  const sonnet = { input: 2_000_000, output: 10_000_000, cachedInput: 100_000 };
  expect(modelFactsOf("anthropic/claude-sonnet-5-5")).toEqual({ window: 1_000_000, price: sonnet });
  expect(modelFactsOf("anthropic/claude-sonnet-5-5-20260922").price).toEqual(sonnet);
  expect(modelFactsOf("anthropic/claude-sonnet-5").price?.cachedInput).toBe(200_000);
  expect(modelFactsOf("openai-chat/gpt-6-luna")).toEqual(modelFactsOf("openai/gpt-6-luna-2026-09-22"));
  expect(modelFactsOf("openai/gpt-6-sol-mini")).toEqual({ window: null, price: null });
  expect(modelFactsOf("openai-compatible/gpt-6-sol")).toEqual({ window: null, price: null });
  expect(modelFactsOf("ollama/qwen3:8b")).toEqual({ window: null, price: { input: 0, output: 0, cachedInput: 0 } });
  expect(modelFactsOf("ollama/qwen3:8b", { "ollama/qwen3": { window: 40_960 } }).window).toBe(40_960);
  expect(modelFactsOf("anthropic/claude-sonnet-5-5", { "anthropic/claude-sonnet-5-5": { price: null } })).toEqual({
    window: 1_000_000,
    price: null,
  });
});
