/** From the process to the program: the quick way for `--version`, and the host for everything else. */

import { enableCompileCache, registerHooks, type ResolveHookSync } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { readVersion } from "./version.ts";

export async function start(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${readVersion()}\n`);
    return;
  }
  // What is loaded from here on is compiled once and kept: half of the time to start.
  enableCompileCache(compiledFolder());
  registerHooks({ resolve: resolveQuickly });
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

/**
 * In the user's own cache. Node.js would keep compiled code in the folder for temporary files, under a name that anybody can guess and make
 * first; who can write there decides what this process executes.
 */
function compiledFolder(): string {
  const chosen = process.env["XDG_CACHE_HOME"] ?? "";
  return join(isAbsolute(chosen) ? chosen : join(homedir(), ".cache"), "errand", "compiled");
}

/**
 * The AI SDK brings zod, which is a hundred files, two thirds of them messages in languages that nobody asked for. English is what it
 * speaks by default. Its modules name each other's files in full, so there is nothing to look for.
 */
const resolveQuickly: ResolveHookSync = (specifier, context, next) => {
  const { parentURL = "" } = context;
  const inZod = parentURL.includes("/node_modules/zod/v4/") && /^\.\.?\/.*\.js$/.test(specifier);
  if (!inZod) return next(specifier, context);
  const file = specifier === "../locales/index.js" ? "../locales/en.js" : specifier;
  return { url: new URL(file, parentURL).href, format: "module", shortCircuit: true };
};
