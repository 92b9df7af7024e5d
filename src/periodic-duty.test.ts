import { expect, test } from "vitest";
import { createDuty, type Duty, type DutyParts } from "./periodic-duty.ts";

/** Time that moves when told to, and promises that settle in between. */
function createTime() {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    monotonic: () => now,
    after(milliseconds: number, callback: () => void) {
      const timer = { at: now + milliseconds, callback };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    async advance(milliseconds: number) {
      const end = now + milliseconds;
      for (;;) {
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
        const [next] = [...timers].filter((timer) => timer.at <= end).toSorted((one, other) => one.at - other.at);
        if (next === undefined) break;
        timers.delete(next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
    armed: () => timers.size,
  };
}

function dutyOf(work: () => Promise<number | null>, over: Partial<DutyParts> = {}) {
  const time = createTime();
  const said: string[] = [];
  const duty: Duty = createDuty({
    time,
    work,
    passes: (error) => error instanceof Error && error.message === "busy",
    onFailing: (error, late) => void said.push(`${String(error)} after ${late}`),
    onRecovered: (late) => void said.push(`recovered after ${late}`),
    ...over,
  });
  return { time, duty, said };
}

test("a duty comes again after a success, a throw, a rejection and a hang", async () => {
  const ways = [
    async () => 100,
    (): Promise<number> => {
      throw new Error("thrown");
    },
    async () => Promise.reject(new Error("rejected")),
    () => new Promise<number>(() => undefined),
    async () => 100,
  ];
  let tries = 0;
  const { time, duty } = dutyOf(
    () => {
      tries += 1;
      return ways[(tries - 1) % ways.length]?.() ?? Promise.resolve(100);
    },
    { tryWithinMs: 500 },
  );
  duty.later(100);
  await time.advance(10_000);
  expect(tries).toBeGreaterThan(30);
  const stopped = duty.stop();
  await time.advance(500);
  await stopped;
  expect(time.armed()).toBe(0);
});

test("tries do not overlap, and a demand that comes meanwhile is answered by one more", async () => {
  let under = 0;
  let most = 0;
  let tries = 0;
  const { time, duty } = dutyOf(async () => {
    tries += 1;
    under += 1;
    most = Math.max(most, under);
    await new Promise<void>((resolve) => void time.after(50, resolve));
    under -= 1;
    return null;
  });
  void duty.now();
  void duty.now();
  void duty.now();
  await time.advance(1_000);
  expect({ most, tries }).toEqual({ most: 1, tries: 2 });
});

test("what passes is told once when it lasts, and its recovery once; the pause grows to a second at most", async () => {
  let busy = true;
  let tries = 0;
  const { time, duty, said } = dutyOf(async () => {
    tries += 1;
    if (busy) throw new Error("busy");
    return 100;
  });
  void duty.now();
  await time.advance(9_000);
  expect(said).toEqual([]);
  expect(duty.lateMs()).toBe(9_000);
  await time.advance(51_000);
  expect(tries).toBeLessThan(70);
  busy = false;
  await time.advance(1_100);
  expect(duty.lateMs()).toBe(0);
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(/^Error: busy after 1\d{4}$/);
  expect(said[1]).toMatch(/^recovered after 6\d{4}$/);
});

test("what does not pass is told at once, and once", async () => {
  const { time, duty, said } = dutyOf(async () => Promise.reject(new Error("broken")));
  void duty.now();
  await time.advance(60_000);
  expect(said).toEqual(["Error: broken after 0"]);
});
