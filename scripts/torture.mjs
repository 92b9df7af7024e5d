/** `npm run torture`: sets the project up and runs the long loop of kills and simulated seeds from the sources. */
import { crashTools } from "./crash-tools.mjs";
import { runSources } from "./run-sources.mjs";

crashTools();
runSources("test/crash/torture.ts", process.argv.slice(2), { scratch: true });
