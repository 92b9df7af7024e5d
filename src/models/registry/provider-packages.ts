/**
 * Finds the packages of providers where the user's program is installed, else where Errand is: a linked Errand, or one
 * for all users, has a folder of packages of its own.
 *
 * Invariant: nothing is loaded from the current folder, which may hold anything, unless the program itself is: without
 * a script, as in `node -e`.
 */

import { existsSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, sep } from "node:path";
import { pathToFileURL } from "node:url";

/** The script of the user's program, with links followed, or a file that would be beside it. */
export function programFile(script = process.argv[1], folder = process.cwd()): string {
  const beside = "program.js";
  if (script === undefined || !isAbsolute(script)) return join(folder, beside);
  if (!existsSync(script)) return script;
  const real = realpathSync(script);
  return statSync(real).isDirectory() ? join(real, beside) : real;
}

/** The file that `import` of the package loads; null if it is not installed. */
function fileOf(packageName: string, program: string): string | null {
  for (const from of [program, import.meta.url]) {
    try {
      return createRequire(from).resolve(packageName);
    } catch {
      // Not here.
    }
  }
  return null;
}

/** True if the package can be imported. Does not import it. */
export function packageIsInstalled(packageName: string, program = programFile()): boolean {
  return fileOf(packageName, program) !== null;
}

export async function importPackage<Package>(packageName: string, program = programFile()): Promise<Package> {
  const file = fileOf(packageName, program);
  return (await import(file === null ? packageName : pathToFileURL(file).href)) as Package;
}

const PACKAGES = `${sep}node_modules${sep}`;

/** The command that installs the package where the program will find it. */
export function installCommand(packageName: string, program = programFile()): string {
  const [root = "", ...below] = program.split(PACKAGES);
  // A folder of packages that belongs to no project holds the programs of all projects.
  const global = below.length > 0 && !existsSync(join(root, "package.json"));
  return `npm install ${global ? "-g " : ""}${packageName}`;
}
