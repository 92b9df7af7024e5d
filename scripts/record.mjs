/** `npm run record`: records `npm start` in a pseudo-terminal and writes docs/start.svg, which the README shows. */
import { runSources } from "./run-sources.mjs";

runSources("scripts/recording/record.ts", process.argv.slice(2), { scratch: true });
