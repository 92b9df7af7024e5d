/** Starts the command line. `--version` is answered before anything else is loaded. */

import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { readVersion } from "./version.ts";

export async function start(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  // Node.js keeps the compiled code of the modules loaded from here on. That halves the time to start.
  enableCompileCache(compiledFolder());
  const [{ createProcessHost }, { runProgram }, { createModelRegistry }, { createSubprocessRunner }, { dataFolder }] =
    await Promise.all([
      import("./process-host.ts"),
      import("./program.ts"),
      import("../models/registry/model-registry.ts"),
      import("../runners/subprocess.ts"),
      import("../stores/user-data.ts"),
    ]);
  const host = createProcessHost();
  const { env, world } = host;
  const logs = join(dataFolder(host), "runner-logs");
  host.end(
    await runProgram(args, host, {
      models: (baseUrl) => [createModelRegistry({ env, world, ...(baseUrl === undefined ? {} : { baseUrl }) })],
      runners: [createSubprocessRunner({ world, environment: process.env, logs })],
    }),
  );
}

/**
 * A folder in the user's own cache. The default of Node.js is a folder with a predictable name in the shared folder for
 * temporary files. Another user could create it first and so decide which code this process executes.
 */
function compiledFolder(): string {
  const chosen = process.env["XDG_CACHE_HOME"] ?? "";
  return join(isAbsolute(chosen) ? chosen : join(homedir(), ".cache"), "errand", "compiled");
}
