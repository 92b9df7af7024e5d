/**
 * `npm start`: sets the project up and runs Errand from the sources: `errand demo`, or with words of its own `errand run`, which stays
 * offline unless a model is named.
 */
import { runSources } from "./run-sources.mjs";

const args = process.argv.slice(2);
const named = args.some((arg) => /^(--model(=|$)|-m)/.test(arg));
const run = ["run", ...(named ? [] : ["--model", "offline/rehearsal"]), ...args];
runSources("src/cli/main.ts", args.length === 0 ? ["demo"] : run);
