/** A runtime whose models are a server. Parent and child are told apart by their prompts. */

import { onTestFinished } from "vitest";
import { createErrand, type Errand, type ErrandOptions } from "../../../src/index.ts";
import { createModelRegistry } from "../../../src/models/registry/model-registry.ts";
import { createSystemWorld } from "../../../src/runtime/world.ts";
import { lookTool } from "../../support/test-errand.ts";
import type { Wire } from "./wire.ts";
import type { Exchange, WireServer } from "./wire-server.ts";

export async function openWireErrand(
  wire: Wire,
  server: WireServer,
  options: Partial<ErrandOptions> = {},
): Promise<Errand> {
  const errand = await createErrand({
    store: "memory",
    models: [createModelRegistry({ env: wire.env(server.url), world: createSystemWorld() })],
    model: wire.model,
    tools: [lookTool()],
    agents: { orchestrator: { prompt: "You are the parent." }, worker: { prompt: "You are a child." } },
    ...options,
  });
  onTestFinished(() => errand.close({ withinMs: 0 }));
  return errand;
}

export function parentIs({ body }: Exchange): boolean {
  return body.includes("You are the parent.");
}
