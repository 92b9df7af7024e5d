/**
 * Crash and resume: a process is killed while it works on a task. A second one with the same store and the same key
 * goes on, and the result is there once. A third one only reads it.
 */

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createErrand, tool } from "errand";
import { byTask, callTool, createScriptedModels, delegate, report, say } from "errand/testing";

async function work(store: string): Promise<void> {
  const search = tool({
    name: "search",
    description: "Searches the archive.",
    safe: true,
    async run(_input, { attempt }) {
      console.log(`searching, attempt ${attempt}`);
      if (attempt === 1) await new Promise((resolve) => setTimeout(resolve, 60_000));
      return "three tickets";
    },
  });
  const models = createScriptedModels({
    "scripted/model": byTask({
      "Summarise the tickets.": [delegate("Find the tickets."), say("There were three tickets.")],
      "Find the tickets.": [callTool("search", {}), report("three tickets")],
    }),
  });
  const errand = await createErrand({ store, models: [models], model: "scripted/model", tools: [search] });
  const { text, runs } = await errand.run("Summarise the tickets.", { key: "tickets 2026-11-18" });
  console.log(`${text} ${runs.length} run, ${models.requests.length} model calls in this process`);
  await errand.close();
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "errand-example-"));
  const command = [fileURLToPath(import.meta.url), join(folder, "errand.db")];

  const killed = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const chunk of killed.stdout) if (String(chunk).includes("attempt 1")) killed.kill("SIGKILL");
  assert.equal(killed.signalCode ?? "SIGKILL", "SIGKILL");

  const run = promisify(execFile);
  const second = (await run(process.execPath, command)).stdout;
  const third = (await run(process.execPath, command)).stdout;
  console.log(`killed, then:\n${second}and once more:\n${third}`);
  assert.equal(second, "searching, attempt 2\nThere were three tickets. 1 run, 2 model calls in this process\n");
  assert.equal(third, "There were three tickets. 1 run, 0 model calls in this process\n");
  rmSync(folder, { recursive: true });
}

const [, , store] = process.argv;
await (store === undefined ? main() : work(store));
