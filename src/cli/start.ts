/** From the process to the program: the quick way for `--version`, and the host for everything else. */

import { enableCompileCache } from "node:module";
import { readVersion } from "./version.ts";

export async function start(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  // What is loaded from here on is compiled once and kept in the system's folder for temporary files: half of the time to start.
  enableCompileCache();
  const [{ createProcessHost }, { runProgram }, { createModelRegistry }] = await Promise.all([
    import("./process-host.ts"),
    import("./program.ts"),
    import("../models/registry/model-registry.ts"),
  ]);
  const host = createProcessHost();
  const { env, world } = host;
  host.end(
    await runProgram(args, host, {
      models: (baseUrl) => [createModelRegistry({ env, world, ...(baseUrl === undefined ? {} : { baseUrl }) })],
    }),
  );
}
