/** Installs Debian packages that tests use. Plain JavaScript, Node 18 or newer. */
import { spawnSync } from "node:child_process";

/**
 * Does nothing unless this is Linux and the user is root.
 * @param {string[]} packages
 */
export function installPackages(packages) {
  if (!mayInstall()) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (/** @type {string[]} */ args) =>
    spawnSync("apt-get", args, { env, stdio: "ignore", timeout: 300_000 }).status;
  const install = ["install", "-y", "-qq", "--no-install-recommends", ...packages];
  if (apt(install) === 0) return;
  if (apt(["update", "-qq"]) === 0) apt(install);
}

export function mayInstall() {
  return process.platform === "linux" && process.getuid?.() === 0;
}
