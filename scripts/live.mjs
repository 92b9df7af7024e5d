/** `npm run test:live`: sets the project up and tries delegation on a real model, from the sources. */
import { runSources } from "./run-sources.mjs";

runSources("test/live/run.ts", process.argv.slice(2), { scratch: true });
