import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { endProcesses } from "./end-processes.ts";
import { timers } from "./timers.test-support.ts";
import { MARK_NAME, processMark, processStartedAt, readProcessTable } from "./process-table.ts";

/** A pid that no process has. */
const GONE = 2_147_483_000;
const MARK = "0123456789abcdef0123456789abcdef";

function start(script: string): number {
  const child = spawn("/bin/sh", ["-c", script], { env: {}, detached: true, stdio: "ignore" });
  child.unref();
  const pid = child.pid ?? 0;
  onTestFinished(() => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  });
  return pid;
}

function aliveIs(pid: number): boolean {
  return readProcessTable().entries.some((entry) => entry.pid === pid && entry.alive);
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(5);
}

test("a process without an environment is checked again, and ended once it has the mark", async () => {
  const pid = start(`sleep 0.3; exec env ${MARK_NAME}=${MARK} sleep 60`);
  await until(() => processMark(pid, [MARK]) === "unclear" && processStartedAt(pid) > 0);
  const tree = { root: GONE, marks: [MARK], startedAt: processStartedAt(pid), namespaced: false };
  expect(await endProcesses(tree, timers)).toBe(0);
  expect(aliveIs(pid)).toBe(false);
});

test("an older process without an environment is left alone, a younger one is waited for a short time", async () => {
  const pid = start("sleep 60 & wait");
  await until(() => processMark(pid, [MARK]) === "unclear" && processStartedAt(pid) > 0);
  const older = { root: GONE, marks: [MARK], startedAt: processStartedAt(pid) + 1, namespaced: false };
  let waits = 0;
  const counting = {
    after: (milliseconds: number, callback: () => void) => {
      waits += 1;
      return timers.after(milliseconds, callback);
    },
  };
  expect(await endProcesses(older, counting)).toBe(0);
  const waitsForOlder = waits;
  expect(await endProcesses({ ...older, startedAt: processStartedAt(pid) }, counting)).toBe(0);
  expect(waits - waitsForOlder).toBeGreaterThan(waitsForOlder + 100);
  expect(aliveIs(pid)).toBe(true);
});
