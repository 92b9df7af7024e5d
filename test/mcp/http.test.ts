/** The HTTP handler, with the official client over Streamable HTTP, in both eras of the protocol. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, it, onTestFinished } from "vitest";
import { createErrand } from "../../src/index.ts";
import { createMcpHttpHandler } from "../../src/mcp/index.ts";
import { callTools, createScriptedModels } from "../../src/testing/index.ts";
import { serveHttp } from "./http-server.ts";

const ERAS = [
  { era: "2025", version: "2025-11-25", mode: "legacy" },
  { era: "2026", version: "2026-07-28", mode: { pin: "2026-07-28" } },
] as const;

it.each(ERAS)("serves several clients of the era of $era over HTTP", async ({ mode, version }) => {
  const models = createScriptedModels({
    "scripted/child": () => callTools([{ name: "send_agent_message", input: { text: "It is 42.", final: true } }]),
  });
  const errand = await createErrand({ store: "memory", model: "scripted/child", models: [models] });
  const hosts = errand.hostTools({ background: true });
  const server = await serveHttp(createMcpHttpHandler({ hosts, version: "1.0.0" }));
  const connect = async (): Promise<Client> => {
    const client = new Client({ name: "a test", version: "1.0.0" }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(server.url));
    return client;
  };
  const clients = [await connect(), await connect()] as const;
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
    await errand.close();
  });
  const [first, second] = clients;
  expect(first.getNegotiatedProtocolVersion()).toBe(version);
  expect((await first.listTools()).tools).toHaveLength(6);
  const lines: unknown[] = [];
  const result = await first.callTool(
    { name: "subagent", arguments: { task: "How many?" } },
    { onprogress: (progress) => lines.push(progress) },
  );
  expect(result["structuredContent"]).toMatchObject({ status: "completed", summary: "It is 42." });
  expect(lines.length).toBeGreaterThan(0);
  const started = await first.callTool({ name: "subagent_start", arguments: { task: "How many?" } });
  const { run_id } = started["structuredContent"] as { readonly run_id: string };
  await first.close();
  const waited = await second.callTool({ name: "subagent_wait", arguments: { run_id } });
  expect(waited["structuredContent"]).toMatchObject({ run_id, status: "completed", summary: "It is 42." });
  const { contents } = await second.readResource({ uri: `errand://runs/${run_id}/result` });
  expect(contents).toMatchObject([{ text: expect.stringContaining("It is 42.") as string }]);
});
