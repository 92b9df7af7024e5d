/** `npm run bench:startup`: sets the project up, builds the package and measures how long it takes to be of use. */
import { execSync } from "node:child_process";
import { runSources } from "./run-sources.mjs";
import { root, setUpOrExit } from "./setup.mjs";

setUpOrExit();
execSync("npm run --silent build", { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
runSources("bench/startup.ts", process.argv.slice(2), { scratch: true });
