/** `npm run simulate`: sets the project up and runs the deterministic simulation from the sources. */
import { runSources } from "./run-sources.mjs";

runSources("test/simulation/main.ts", process.argv.slice(2), { scratch: true });
