/** `npm start`: sets the project up and runs `errand run` from the sources. */
import { runSources } from "./run-sources.mjs";

runSources("src/cli/main.ts", ["run", ...process.argv.slice(2)]);
