import { expect, test } from "vitest";
import { ErrandError } from "../errors.ts";
import { createRetry } from "./retry.ts";

const busy = new ErrandError("store-busy", "locked");
const LASTING_MS = 5_000;

function retried() {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const after = (milliseconds: number, callback: () => void) => {
    const timer = { at: now + milliseconds, callback };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const retry = createRetry(
    { monotonic: () => now, after },
    {
      firstPauseMs: 50,
      longestPauseMs: 1_000,
      timeoutMs: Number.POSITIVE_INFINITY,
      oneAtATime: false,
      judge: (error) => ({ error, temporary: error === busy }),
    },
  );
  const told: string[] = [];
  retry.onDelay((_notice, over) => void told.push(over ? "over" : "lasts"));
  const broken = new Set<string>();
  const run = (operation: string, timeoutMs?: number): Promise<unknown> => {
    const work = (): void => {
      if (broken.has(operation)) throw busy;
    };
    return retry.run(operation, work, timeoutMs).catch(() => undefined);
  };
  return {
    told,
    broken,
    /** A caller that waits until it succeeds. */
    wait: (operation: string) => void run(operation),
    /** One try of a periodic duty. */
    once: (operation: string) => run(operation, 0),
    async advance(milliseconds: number) {
      const end = now + milliseconds;
      for (;;) {
        await settle();
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at);
        if (next === undefined) break;
        timers.delete(next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
  };
}

test("what a caller waits for is reported once when it lasts, and once when it is over", async () => {
  const { told, broken, wait, advance } = retried();
  broken.add("commit");
  wait("commit");
  await advance(LASTING_MS - 1);
  expect(told).toEqual([]);
  await advance(60_000);
  expect(told).toEqual(["lasts"]);
  broken.clear();
  await advance(2_000);
  expect(told).toEqual(["lasts", "over"]);
});

test("a short delay that follows another short one is not reported", async () => {
  const { told, broken, wait, advance } = retried();
  broken.add("commit");
  wait("commit");
  await advance(LASTING_MS - 1_500);
  broken.add("read");
  wait("read");
  broken.delete("commit");
  await advance(2_000);
  broken.clear();
  await advance(60_000);
  expect(told).toEqual([]);
});

test("one failure of a periodic duty is not reported, failures that come again for long are", async () => {
  const { told, broken, once, advance } = retried();
  broken.add("bury").add("look");
  await once("bury");
  await advance(60_000);
  await once("look");
  await advance(LASTING_MS - 1_000);
  await once("look");
  expect(told).toEqual([]);
  await advance(1_000);
  await once("look");
  expect(told).toEqual(["lasts"]);
  broken.delete("look");
  // Nothing has tried the other one since: it does not count as failing.
  await once("look");
  expect(told).toEqual(["lasts", "over"]);
});
