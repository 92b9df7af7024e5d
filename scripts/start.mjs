/** `npm start`: sets the project up and runs `errand run` from the sources: offline, unless a model is named. */
import { runSources } from "./run-sources.mjs";

const args = process.argv.slice(2);
const named = args.some((arg) => /^(--model(=|$)|-m)/.test(arg));
runSources("src/cli/main.ts", ["run", ...(named ? [] : ["--model", "offline/rehearsal"]), ...args]);
