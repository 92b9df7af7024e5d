/** The World of a real process: the system's clocks, timers and randomness. The one file that may touch them. */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import type { World } from "../contracts/world.ts";

/** Longest single sleep: a Node timer over 2^31 ms fires at once, and a short one notices a suspended machine. */
const MAX_SLEEP_MS = 60_000;
const POOL_BYTES = 4_096;

/** The clocks, timers and randomness of the system. */
export function createSystemWorld(): World {
  let pool = "";
  let used = 0;
  const boot = bootId();
  return {
    wall: () => Date.now(),
    monotonic: () => Math.floor(Number(process.hrtime.bigint() / 1_000_000n)),
    boot: () => boot,
    random(digits) {
      if (used + digits > pool.length) {
        pool = randomBytes(Math.max(POOL_BYTES, digits)).toString("hex");
        used = 0;
      }
      used += digits;
      return pool.slice(used - digits, used);
    },
    after(milliseconds, callback) {
      const end = performance.now() + milliseconds;
      let timer: NodeJS.Timeout;
      const sleep = (): void => {
        const left = end - performance.now();
        if (left <= 0) return callback();
        timer = setTimeout(sleep, Math.min(Math.ceil(left), MAX_SLEEP_MS));
      };
      timer = setTimeout(sleep, Math.min(Math.max(0, Math.ceil(milliseconds)), MAX_SLEEP_MS));
      return () => clearTimeout(timer);
    },
    soon: (callback) => void setImmediate(callback),
  };
}

/** The kernel's name for this boot; elsewhere the minute in which the machine started. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return `started-${Math.round((Date.now() / 1_000 - uptime()) / 60)}`;
  }
}
