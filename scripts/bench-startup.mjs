/** `npm run bench:startup`: builds the package and measures how long its processes take to start. */
import { execSync } from "node:child_process";
import { runSources } from "./run-sources.mjs";
import { root, setUpOrExit } from "./setup.mjs";

setUpOrExit();
execSync("npm run --silent build", { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
runSources("bench/startup.ts", process.argv.slice(2), { scratch: true });
