/** `npm run faults`: sets the project up and measures the recovery from each fault. */
import { runSources } from "./run-sources.mjs";

runSources("test/faults/main.ts", process.argv.slice(2));
