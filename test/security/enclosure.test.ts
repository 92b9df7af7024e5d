/** Commands of ordinary users run in a namespace that keeps their uid and hides all processes outside. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { ENCLOSURES } from "../../src/processes/enclosure.ts";

const NOBODY = "65534";
const root = process.getuid?.() === 0;
const asUser = root ? ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"] : [];
const ofUsers = ENCLOSURES.filter((prefix) => prefix.includes("--map-current-user"));
const [probe, ...probing] = [...asUser, "unshare", "-U", "--map-current-user", "true"] as const;
const allowed = process.platform === "linux" && spawnSync(probe, probing).status === 0;

const KEY = "ERRAND_TEST_KEY=sk-hidden-from-commands";
/** Prints the uid, and the number of processes whose environment with the key it can read. */
const LOOK = `id -u; grep -lsa sk-hidden-from-commands /proc/[0-9]*/environ | wc -l`;

function look(prefix: readonly string[]): readonly number[] {
  const [program, ...args] = [...asUser, ...prefix, "/bin/sh", "-c", LOOK] as const;
  return execFileSync(program, args, { encoding: "utf8" }).trim().split("\n").map(Number);
}

test.runIf(allowed).each(ofUsers.map((prefix) => [prefix[0] ?? "", prefix] as const))(
  "an ordinary user's command keeps its uid and cannot read the environment of a process outside (%s)",
  async (_, prefix) => {
    const [program, ...args] = [...asUser, "env", KEY, "sleep", "60"] as const;
    const outside = spawn(program, args, { stdio: "ignore" });
    onTestFinished(() => void outside.kill("SIGKILL"));
    const uid = root ? Number(NOBODY) : process.getuid?.();
    await expect.poll(() => look([])).toEqual([uid, 1]);
    expect(look(prefix)).toEqual([uid, 0]);
  },
);
