/** Runs measurements in fresh processes, interleaved over rounds, and keeps the median of each. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Measured, Measurement } from "./measure.ts";

export type Outcome = Measured | { readonly failed: string };

const TIMEOUT_MS = 300_000;
const here = import.meta.dirname;

export async function measureApart(measurement: Measurement): Promise<Outcome> {
  const { code, output, errors } = await run([join(here, "measure.ts"), JSON.stringify(measurement)]);
  const line = output.trim().split("\n").at(-1) ?? "";
  if (code === 0 && line.startsWith("{")) return JSON.parse(line) as Measured;
  return { failed: code === null ? `took more than ${TIMEOUT_MS / 1000} s` : reasonIn(errors) };
}

function run(args: readonly string[]): Promise<{ code: number | null; output: string; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: here, stdio: ["ignore", "pipe", "pipe"], timeout: TIMEOUT_MS });
    let output = "";
    let errors = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output, errors }));
  });
}

/** The line of a stack trace that has the message. */
function reasonIn(errors: string): string {
  const lines = errors.split("\n").map((line) => line.trim());
  const named = lines.find((line) => /^(\w*Error|Error)\b.*:/.test(line) || /Assertion failed/.test(line));
  return (named ?? lines.find((line) => line !== "") ?? "it ended without a word").slice(0, 200);
}

/** The outcome with the median value; a failure if most rounds failed. */
export function medianOf(outcomes: readonly Outcome[]): Outcome | undefined {
  const values = outcomes
    .flatMap((outcome) => ("failed" in outcome ? [] : [outcome]))
    .toSorted((a, b) => a.value - b.value);
  if (values.length * 2 <= outcomes.length) return outcomes.find((outcome) => "failed" in outcome);
  return values[Math.floor(values.length / 2)];
}
