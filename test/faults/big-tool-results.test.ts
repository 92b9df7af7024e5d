/**
 * Rule D7 for tools: a result of any length costs a bounded request, bounded rows and bounded memory, and its text can
 * be read in ranges.
 */

import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/core/values/limits.ts";
import type { ModelRequest, Tool } from "../../src/index.ts";
import { byContext, callTool, hang, say } from "../../src/testing/index.ts";
import { requestText, toolText } from "../support/model-requests.ts";
import { eventsNow } from "../support/tree-facts.ts";
import { lookTool, openTestErrand, temporaryStore } from "../support/test-errand.ts";

const MEGABYTE = 1024 * 1024;
const SHOWN_BYTES = LIMITS.toolResultBytes.default;
const KEPT_BYTES = LIMITS.toolResultKeptBytes.default;

/** Lines that say where they begin: more of them than are kept. */
const LINES = Array.from({ length: (2 * KEPT_BYTES) / 16 }, (_, n) => `${String(n * 16).padStart(15, "0")}\n`).join("");

/** 100 MB as one flat string. */
function hundredMegabytes(): string {
  return Buffer.alloc(100 * MEGABYTE, LINES).toString("latin1");
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

function bigTool(): { readonly tool: Tool; readonly runs: () => number } {
  let runs = 0;
  const tool = lookTool(async () => {
    runs += 1;
    return { text: hundredMegabytes(), failed: false };
  }, false);
  return { tool, runs: () => runs };
}

const bytesOf = (request: ModelRequest | undefined): number => Buffer.byteLength(JSON.stringify(request));
const handleOf = (request: ModelRequest | undefined): string =>
  /call_id "([^"]+)"/.exec(requestText(request))?.[1] ?? "";

interface Range {
  readonly text: string;
  readonly offset: number;
  readonly bytes: number;
  readonly next_offset?: number;
}

test.each(["memory", "sqlite"])(
  "100 MB of a tool's result: bounded request, ranges by call_id, nothing run again (%s)",
  async (kind) => {
    const store = kind === "memory" ? "memory" : temporaryStore();
    const big = bigTool();
    const { errand, models } = await openTestErrand(
      {
        parent: (request, { replies }) => {
          const call_id = handleOf(request);
          const script = [
            callTool("look", {}),
            callTool("read_result", { call_id, offset: SHOWN_BYTES }),
            callTool("read_result", { call_id, offset: KEPT_BYTES - 16, limit: 100 }),
            say("done"),
          ];
          return script[replies] ?? hang();
        },
      },
      { store, tools: [big.tool] },
    );
    const agent = await errand.openAgent();
    expect(await agent.postAndAwait("go")).toMatchObject({ text: "done" });
    const [, cut, middle, end] = models.requests;
    expect(bytesOf(end)).toBeLessThan(4 * SHOWN_BYTES);
    const kept = LINES.slice(0, KEPT_BYTES);
    const sha256 = createHash("sha256").update(kept).digest("base64url");
    expect(toolText(cut)).toContain(JSON.stringify({ original_bytes: KEPT_BYTES, kept_bytes: SHOWN_BYTES, sha256 }));
    expect(toolText(cut)).toContain(`The tool gave ${100 * MEGABYTE} bytes`);
    expect(toolText(cut).endsWith(kept.slice(SHOWN_BYTES - 1_024, SHOWN_BYTES))).toBe(true);
    const range = JSON.parse(toolText(middle)) as Range;
    expect(range).toMatchObject({ offset: SHOWN_BYTES, bytes: KEPT_BYTES });
    expect(kept.slice(SHOWN_BYTES, range.next_offset)).toBe(range.text);
    expect(JSON.parse(toolText(end))).toEqual({ text: kept.slice(-16), offset: KEPT_BYTES - 16, bytes: KEPT_BYTES });
    expect(big.runs()).toBe(1);
    const lengths = (await eventsNow(errand, agent.id)).map((event) => JSON.stringify(event).length);
    expect(Math.max(...lengths)).toBeLessThan(2 * KEPT_BYTES);
  },
);

test("the text is read after a restart, in the turn that goes on and in a later one, and memory is given back", async () => {
  const store = temporaryStore();
  const big = bigTool();
  const first = await openTestErrand({ parent: [callTool("look", {}), hang()] }, { store, tools: [big.tool] });
  const agent = await first.errand.openAgent();
  await agent.post("go", { id: "first" });
  await expect.poll(() => first.models.requests.length, { timeout: 20_000 }).toBe(2);
  const call_id = handleOf(first.models.requests[1]);
  await first.errand.close({ withinMs: 0 });
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const read = callTool("read_result", { call_id, offset: KEPT_BYTES - 32, limit: 16 });
  const second = await openTestErrand(
    { parent: byContext([say("unused"), read, say("done")]) },
    { store, tools: [big.tool] },
  );
  const again = await second.errand.agent(agent.id);
  expect(await again.postAndAwait("go", { id: "first" })).toMatchObject({ text: "done" });
  const text = LINES.slice(KEPT_BYTES - 32, KEPT_BYTES - 16);
  expect(JSON.parse(toolText(second.models.requests.at(-1)))).toMatchObject({ text, next_offset: KEPT_BYTES - 16 });
  expect(big.runs()).toBe(1);
  await second.errand.close({ withinMs: 0 });
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * MEGABYTE);
});
