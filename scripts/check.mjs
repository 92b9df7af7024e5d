/**
 * `npm run check`: every `check:…` script of package.json. The tests run last and print as they go.
 *
 * 1. package.json defines each step; this file defines their order, and reports.
 * 2. Every step runs, even if another one failed. The exit code is 1 if any failed.
 * 3. The last line is `N passed, N failed`, from the result file of the test runner and from its exit code.
 *
 * Plain JavaScript, Node 18 or newer: a shell may run it on the machine's Node. The steps run on the project's own.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { root } from "./setup.mjs";

/** @typedef {{ name: string, code: number, seconds: number, output: string }} Finished */

/** @type {{ scripts: Record<string, string> }} */
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const steps = Object.keys(scripts).filter((name) => name.startsWith("check:"));
const testStep = "check:tests";

/**
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<Finished>}
 */
function runStep(name, args = []) {
  const live = name === testStep;
  const started = Date.now();
  const env = { ...process.env };
  const pathName = Object.keys(env).find((key) => /^path$/i.test(key)) ?? "PATH";
  env[pathName] = `${join(root, "node_modules", ".bin")}${delimiter}${env[pathName] ?? ""}`;
  // The steps write into pipes, so they cannot find out whether the output is a terminal.
  if (env["FORCE_COLOR"] === undefined && env["NO_COLOR"] === undefined) {
    env[process.stdout.isTTY ? "FORCE_COLOR" : "NO_COLOR"] = "1";
  }
  return new Promise((resolve) => {
    const child = spawn([scripts[name], ...args].join(" "), {
      cwd: root,
      env,
      shell: true,
      stdio: ["ignore", live ? "inherit" : "pipe", live ? "inherit" : "pipe"],
    });
    /** @type {Buffer[]} */
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => chunks.push(chunk));
    child.on("close", (code) => {
      const output = Buffer.concat(chunks).toString("utf8").trim();
      resolve({ name, code: code ?? 1, seconds: (Date.now() - started) / 1000, output });
    });
  });
}

/** @param {Finished} step */
function report({ name, code, seconds, output }) {
  console.log(`${code === 0 ? "ok    " : "FAILED"}  ${name.padEnd(16)} ${seconds.toFixed(1).padStart(5)} s`);
  if (code !== 0 && output !== "") console.log(`\n${output}\n`);
}

/**
 * The counts of the test runner. A failure without a failed test (a file that does not load, an error outside the
 * tests) counts as one, so that a red run never prints "0 failed".
 * @param {string} file
 * @param {number} code
 */
function countTests(file, code) {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  try {
    const result = JSON.parse(readFileSync(file, "utf8"));
    passed = result.numPassedTests;
    failed = result.numFailedTests;
    skipped = result.numPendingTests + result.numTodoTests;
    for (const suite of result.testResults) {
      const named = suite.assertionResults.some((/** @type {{ status: string }} */ test) => test.status === "failed");
      if (suite.status === "failed" && !named) failed += 1;
    }
  } catch {
    failed = 1;
  }
  if (code !== 0 && failed === 0) failed = 1;
  return { passed, failed, skipped };
}

/** @type {string[]} */
const red = [];
const waiting = steps.filter((name) => name !== testStep);
const lanes = Array.from({ length: Math.min(availableParallelism(), 4) }, async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const finished = await runStep(name);
    report(finished);
    if (finished.code !== 0) red.push(name);
  }
});
await Promise.all(lanes);

const scratch = mkdtempSync(join(tmpdir(), "errand-check-"));
const resultFile = join(scratch, "tests.json");
const tests = await runStep(testStep, ["--reporter=default", "--reporter=json", `--outputFile.json="${resultFile}"`]);
const { passed, failed, skipped } = countTests(resultFile, tests.code);
rmSync(scratch, { recursive: true, force: true });
report(tests);
if (tests.code !== 0 || failed > 0) red.push(testStep);

console.log(
  red.length === 0 ? "\nEverything is green." : `\nNot green: ${red.map((name) => `npm run ${name}`).join(", ")}`,
);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
process.exitCode = red.length === 0 ? 0 : 1;
