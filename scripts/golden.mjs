/** Adds the golden journals of the current revision, after a change of the kernel that was meant. See test/replay/golden. */
import { runSources } from "./run-sources.mjs";

runSources("test/replay/write-golden.ts", process.argv.slice(2));
