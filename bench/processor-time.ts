/** The processor time of other processes in milliseconds, from /proc of Linux. */

import { readdirSync, readFileSync } from "node:fs";

/** Fields of `/proc/PID/stat`, counted from the state, which follows the name in parentheses. */
const PARENT = 1;
const USER = 11;
const SYSTEM = 12;
const ENDED_USER = 13;
const ENDED_SYSTEM = 14;
const MS_PER_TICK = 10;

/** Empty for a process that has ended. */
function statOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return [];
  }
}

const ticks = (stat: readonly number[], ...fields: readonly number[]): number =>
  fields.reduce((sum, field) => sum + (stat[field] ?? 0), 0);

export function processorMs(pid: number): number {
  return ticks(statOf(pid), USER, SYSTEM) * MS_PER_TICK;
}

/** The time of a process, of its children, and of those of their children that have ended. */
export function familyProcessorMs(pid: number): number {
  const parent = ticks(statOf(pid), USER, SYSTEM, ENDED_USER, ENDED_SYSTEM);
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat[PARENT] === pid);
  return (parent + children.reduce((sum, stat) => sum + ticks(stat, USER, SYSTEM), 0)) * MS_PER_TICK;
}
