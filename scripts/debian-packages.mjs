/** Debian's packages that tests use: installed when they are missing and this user may. Plain JavaScript, Node 18 or newer. */
import { spawnSync } from "node:child_process";

/**
 * Installs packages where that is possible without asking anybody.
 * @param {string[]} packages
 */
export function installPackages(packages) {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (/** @type {string[]} */ args) =>
    spawnSync("apt-get", args, { env, stdio: "ignore", timeout: 120_000 }).status;
  const wanted = ["install", "-y", "-qq", "--no-install-recommends", ...packages];
  if (apt(wanted) === 0) return;
  if (apt(["update", "-qq"]) === 0) apt(wanted);
}
