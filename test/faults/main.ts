/**
 * `npm run faults`: the tests that measure the recovery from each fault, which can write what they measured into
 * docs/reliability.md.
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { commandOptions } from "../support/command-options.ts";
import { RECORD_FAULTS } from "./recovery/record-faults.ts";

const { record } = commandOptions(
  {
    name: "npm run faults --",
    does: "Makes each fault of the table in docs/reliability.md and measures the recovery from it. Takes about a minute.",
    examples: ["--record"],
  },
  { record: { kind: "flag", help: "Writes the measured recovery times into docs/reliability.md." } },
);
const root = fileURLToPath(new URL("../..", import.meta.url));
const { status } = spawnSync(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "test/faults/recovery.test.ts"],
  { cwd: root, stdio: "inherit", env: { ...process.env, ...(record ? { [RECORD_FAULTS]: "1" } : {}) } },
);
process.exitCode = status ?? 1;
