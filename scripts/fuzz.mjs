/** `npm run fuzz`: sets the project up and sends hostile text through the sources. */
import { runSources } from "./run-sources.mjs";

runSources("test/security/fuzz.ts", process.argv.slice(2), { scratch: true });
