#!/usr/bin/env node
/**
 * The entry of the command `errand`. It looks at the version of Node.js before anything that needs a newer one is
 * loaded, so this file itself has no imports and no syntax that an old Node.js does not know.
 */

const [major, minor] = process.versions.node.split(".").map(Number);

if (Number(major) < 22 || (Number(major) === 22 && Number(minor) < 18)) {
  process.stderr.write(
    "error: Errand needs Node.js 22.18 or newer, and this is " +
      process.versions.node +
      " (node-too-old)\n" +
      "  Install a newer one from https://nodejs.org, or run Errand with the Node.js of its own repository.\n",
  );
  process.exitCode = 1;
} else {
  void import("./start.ts").then((module) => module.start());
}
