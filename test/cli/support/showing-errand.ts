/** The real program with the models of showing-models.ts. */

import { createProcessHost } from "../../../src/cli/process-host.ts";
import { runProgram } from "../../../src/cli/program.ts";
import { showingProvider } from "./showing-models.ts";

const host = createProcessHost();
host.end(await runProgram(process.argv.slice(2), host, { models: () => [showingProvider] }));
