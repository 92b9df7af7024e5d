import { expect, onTestFinished, test } from "vitest";
import { scratchFolder } from "../crash/processes.ts";
import { createServer } from "../support/postgres/databases.ts";
import { chaos } from "./chaos.ts";

test("3 workers are killed, paused and terminated, and the database restarts: nothing is lost or doubled", async () => {
  const server = await createServer();
  const scratch = scratchFolder();
  onTestFinished(async () => {
    await server.remove();
    scratch.remove();
  });
  const result = await chaos({
    url: server.url,
    async restart() {
      await server.stop("immediate");
      await server.start();
    },
    folder: scratch.path,
    workers: 3,
    trees: 60,
    rounds: 12,
    seed: 12,
  });
  process.stdout.write(`chaos: ${JSON.stringify(result)}\n`);
  expect(result.findings).toEqual([]);
  expect(result.kills).toBeGreaterThan(2);
  expect(result.pauses).toBeGreaterThan(2);
}, 400_000);
