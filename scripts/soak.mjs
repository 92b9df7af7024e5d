/** `npm run soak`: sets the project up and runs mixed load with faults for some minutes, from the sources. */
import { runSources } from "./run-sources.mjs";

runSources("test/soak/main.ts", process.argv.slice(2), { scratch: true });
