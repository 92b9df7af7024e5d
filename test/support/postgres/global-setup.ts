/** Starts and ends the guard of the PostgreSQL servers with the test run. A server starts when a test needs it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    postgresGuard: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const guard = spawn(process.execPath, [fileURLToPath(new URL("./guard.ts", import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = (await once(guard.stdout, "data")) as [Buffer];
  project.provide("postgresGuard", `http://127.0.0.1:${String(port).trim()}`);
  return async () => {
    const gone = once(guard, "exit");
    guard.stdin.end();
    await gone;
  };
}
