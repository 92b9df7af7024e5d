/** All protocols, and a model that uses one. */

import { createModelRegistry } from "../../../src/models/registry/model-registry.ts";
import { type Model, type ModelRequest, type World } from "../../../src/index.ts";
import { createTestWorld } from "../../support/test-world.ts";
import { anthropic } from "./anthropic.ts";
import { google } from "./google.ts";
import { openaiChat, openaiCompatible } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";
import type { Wire } from "./wire.ts";
import { type Behaviour, openWireServer, type WireServer } from "./wire-server.ts";

export const WIRES: readonly Wire[] = [anthropic, openaiChat, openaiResponses, google, openaiCompatible];

/** A model that calls a server with this behaviour. */
export async function connect(
  wire: Wire,
  behave: Behaviour,
  world: World = createTestWorld(),
): Promise<{ readonly model: Model; readonly server: WireServer }> {
  const server = await openWireServer(behave);
  const found = createModelRegistry({ env: wire.env(server.url), world }).resolve(wire.model);
  if ("unavailable" in found) throw new Error(found.unavailable);
  return { model: found.model, server };
}

export function ask(wire: Wire, messages: ModelRequest["messages"] = [{ role: "user", text: "go" }]): ModelRequest {
  const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  return {
    model: wire.model,
    system: "You are a test.",
    tools: [{ name: "look", description: "Looks.", schema }],
    messages,
    maxOutputTokens: 1_000,
  };
}

export function unaborted(): { readonly signal: AbortSignal } {
  return { signal: new AbortController().signal };
}
