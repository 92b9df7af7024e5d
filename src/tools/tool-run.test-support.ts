/** A real folder, a real world, and a call of a tool. */

import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import type { Json } from "../core/values/json.ts";

export const world: Pick<World, "after" | "random" | "wall"> = {
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
  wall: () => Date.now(),
  random: (digits) => randomBytes(digits).toString("hex").slice(0, digits),
};

/** A real folder inside another temporary one, so that a test can put files beside it. */
export function temporaryFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "errand-tools-")));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const folder = join(parent, "ws");
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export function runTool(
  tool: Tool,
  workspace: string,
  input: Json,
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutput> {
  return tool.run(input, testToolContext(workspace, signal));
}

/** What a tool is given with a call. */
export function testToolContext(workspace: string, signal: AbortSignal): ToolContext {
  return { workspace, signal, callId: "tree/1.1", attempt: 1, tree: "tree", run: null, agent: "agent", data: null };
}
