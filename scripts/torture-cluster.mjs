/** `npm run torture:cluster`: sets the project up and runs the long loop of disturbed workers from the sources. */
import { runSources } from "./run-sources.mjs";

runSources("test/cluster/torture.ts", process.argv.slice(2), { scratch: true });
