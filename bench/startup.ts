/**
 * `npm run bench:startup`: the start times of the built package. Every figure is the median of fresh processes, beside
 * that of an empty Node.js program. Ends with 1 if a figure is above its limit.
 */

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { commandOptions } from "../test/support/command-options.ts";

interface Figure {
  readonly name: string;
  readonly limit: number | null;
  measure(): Promise<number>;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const command = join(root, "dist", "cli", "main.js");
const library = pathToFileURL(join(root, "dist", "index.js")).href;
const { runs, json } = commandOptions(
  {
    name: "npm run bench:startup --",
    does: "How long the package takes to import, the command line to start, and a model to be asked.",
    examples: ["--runs 30"],
  },
  {
    runs: { kind: "count", help: "Processes of each kind.", default: 15 },
    json: { kind: "flag", help: "The results as one line of JSON." },
  },
);

const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "m" };
/** Each is called once, when the server below has sent the first byte of a chat completion. */
const answers: (() => void)[] = [];
const server = createServer((request, response) => {
  request.resume().on("end", () => {
    const choice = (delta: object, reason: string | null): string =>
      `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(choice({ role: "assistant", content: "Here." }, null), () => answers.shift()?.());
    response.end(`${choice({}, "stop")}data: [DONE]\n\n`);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const folder = mkdtempSync(join(tmpdir(), "errand-bench-"));

/** Milliseconds until the process ends. */
function processTime(args: readonly string[]): number {
  const began = performance.now();
  execFileSync(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return performance.now() - began;
}

/** Milliseconds from the start of `errand run` to the first byte that the server sends. */
async function firstByte(number: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const model = ["--model", "openai-compatible/m", "--base-url", url];
  const began = performance.now();
  answers.push(() => resolve(performance.now() - began));
  const child = spawn(process.execPath, [command, "run", ...model, "--store", `store-${number}/errand.db`, "Hello?"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "ignore"],
  });
  const ended = new Promise<void>((done) => child.on("close", () => done()));
  const time = await promise;
  await ended;
  return time;
}

let stores = 0;
const FIGURES: readonly Figure[] = [
  { name: "node, doing nothing", limit: null, measure: async () => processTime(["-e", "0"]) },
  { name: "errand --version", limit: 120, measure: async () => processTime([command, "--version"]) },
  {
    name: "errand run, to the first model byte",
    limit: 250,
    measure: () => firstByte((stores += 1)),
  },
  {
    name: 'import "errand"',
    limit: 60,
    async measure() {
      const code = `
        const began = performance.now();
        await import(${JSON.stringify(library)});
        console.log(performance.now() - began);`;
      return Number(
        execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: folder, encoding: "utf8" }),
      );
    },
  },
];

const results = [];
try {
  for (const { name, limit, measure } of FIGURES) {
    // The first process fills the caches of the file system and of the compiler.
    await measure();
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) times.push(await measure());
    times.sort((a, b) => a - b);
    const median = times[Math.floor(times.length / 2)] ?? Number.NaN;
    results.push({ name, limit, median: Math.round(median), least: Math.round(times[0] ?? Number.NaN) });
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}

const machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? "",
  cores: availableParallelism(),
  load: loadavg()[0],
};
if (json) process.stdout.write(`${JSON.stringify({ machine, runs, results })}\n`);
else {
  for (const { name, limit, median, least } of results) {
    const judged = limit === null ? "" : `  limit ${limit} ms: ${median <= limit ? "held" : "MISSED"}`;
    process.stdout.write(
      `${name.padEnd(38)} ${String(median).padStart(5)} ms median, ${String(least).padStart(4)} ms least${judged}\n`,
    );
  }
  process.stdout.write(
    `\n${machine.node}, ${machine.cores} × ${machine.cpu}, load ${machine.load?.toFixed(1)}, ${runs} processes each\n`,
  );
}
process.exitCode = results.some(({ limit, median }) => limit !== null && median > limit) ? 1 : 0;
