/** `npm run eval`: sets the project up and runs the evals from the sources. */
import { runSources } from "./run-sources.mjs";

runSources("evals/run.ts", process.argv.slice(2), { scratch: true });
