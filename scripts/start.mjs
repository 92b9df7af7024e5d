/**
 * `npm start`: sets the project up and runs `errand demo` from the sources. With arguments it runs `errand run`, with
 * the offline model unless they name another.
 */
import { runSources } from "./run-sources.mjs";

const args = process.argv.slice(2);
const named = args.some((arg) => /^(--model(=|$)|-m)/.test(arg));
const run = ["run", ...(named ? [] : ["--model", "offline/rehearsal"]), ...args];
runSources("src/cli/main.ts", args.length === 0 ? ["demo"] : run);
