/** Long output into a pipe: a slow reader makes the command wait, and a closed pipe ends it. */

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createRehearsalProvider } from "../../src/cli/rehearsal/rehearsal-provider.ts";
import { createErrand, createSystemWorld } from "../../src/index.ts";
import { projectFolder, startErrand, storeOf } from "./support/errand-process.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MESSAGES = 600;
const MESSAGE = "x".repeat(100_000);
/** The journal takes 60 MB: a command that buffers it is far above this, one that buffers a page far below. */
const MOST_KB = 200_000;

const project = { folder: "", remove: (): void => undefined };
let tree = "";

beforeAll(async () => {
  Object.assign(project, projectFolder());
  const store = { path: storeOf(project.folder), durability: "relaxed" as const };
  const errand = await createErrand({
    store,
    model: "offline/rehearsal",
    models: [createRehearsalProvider(createSystemWorld())],
  });
  const agent = await errand.openAgent();
  tree = agent.id;
  const post = (): Promise<unknown> => agent.post(MESSAGE, { kind: "system", silent: true });
  await Promise.all(Array.from({ length: MESSAGES }, post));
  await errand.close();
});
afterAll(() => project.remove());

function peakKb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** Waits until its memory has not grown for a second: then it waits for the reader, or has buffered everything. */
async function settledPeakKb(pid: number): Promise<number> {
  for (let before = 0, same = 0; ;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const now = peakKb(pid);
    same = now === before ? same + 1 : 0;
    if (same === 10 && now > 0) return now;
    before = now;
  }
}

describe.runIf(process.platform === "linux")("a reader that does not read", () => {
  test.each(["export", "logs --json"])("%s waits for it, and buffers no more than a page", async (command) => {
    const running = startErrand([...command.split(" "), tree], { ...project, paused: true });
    await running.seen(tree);
    const peak = await settledPeakKb(running.pid);
    running.goOn();
    const { code, out } = await running.finished;
    expect(peak).toBeLessThan(MOST_KB);
    expect(code).toBe(0);
    expect(out.length).toBeGreaterThan(MESSAGES * MESSAGE.length);
  });
});

describe("a reader that closes the pipe after the first line", () => {
  test.each(["export", "logs", "logs --json", "logs -f"])("%s ends without an error", async (command) => {
    const running = startErrand([...command.split(" "), tree], { ...project, paused: true });
    await running.seen("tree");
    running.stopReading();
    const { code, err } = await running.finished;
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});
