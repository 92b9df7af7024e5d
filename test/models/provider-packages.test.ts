/** Where provider packages are found, and the command for a missing one, with real processes and folders. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { installCommand, programFile } from "../../src/models/registry/provider-packages.ts";
import { temporaryFolder } from "../support/test-errand.ts";

const MODULE = join(import.meta.dirname, "../../src/models/registry/provider-packages.ts");

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** A package that says who it is, below this folder. */
function installPackage(folder: string, name: string): void {
  const home = join(folder, "node_modules", name);
  write(
    join(home, "package.json"),
    JSON.stringify({ name, type: "module", exports: { ".": { default: "./index.js" } } }),
  );
  write(join(home, "index.js"), `export const home = ${JSON.stringify(folder)};\n`);
}

const PROGRAM = `
import { importPackage, packageIsInstalled, installCommand } from ${JSON.stringify(MODULE)};
const found = packageIsInstalled("some-provider");
console.log(found ? (await importPackage("some-provider")).home : installCommand("some-provider"));
`;

function run(args: readonly string[], cwd: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout.trim();
}

test("a package is loaded from where the program is, not from the current folder", () => {
  const home = temporaryFolder();
  const [app, elsewhere] = [join(home, "app"), join(home, "elsewhere")];
  installPackage(app, "some-provider");
  installPackage(elsewhere, "some-provider");
  const program = write(join(app, "src", "main.ts"), PROGRAM);
  expect(run([program], elsewhere)).toBe(app);
});

test("a package that is only in the current folder is not loaded: the folder may hold anything", () => {
  const home = temporaryFolder();
  const [app, elsewhere] = [join(home, "app"), join(home, "elsewhere")];
  installPackage(elsewhere, "some-provider");
  const program = write(join(app, "main.ts"), PROGRAM);
  expect(run([program], elsewhere)).toBe("npm install some-provider");
});

test("without a script the program is the current folder's", () => {
  const app = temporaryFolder();
  installPackage(app, "some-provider");
  expect(run(["--input-type=module", "-e", PROGRAM], app)).toBe(app);
});

test("a program for all projects, started through its link, finds packages beside it and names -g", () => {
  const home = temporaryFolder();
  const lib = join(home, "lib");
  const program = write(join(lib, "node_modules", "errand", "dist", "main.mjs"), PROGRAM);
  const link = join(home, "bin", "errand");
  mkdirSync(dirname(link));
  symlinkSync(program, link);
  expect(run([link], home)).toBe("npm install -g some-provider");
  installPackage(lib, "some-provider");
  expect(run([link], home)).toBe(lib);
});

test("the command is that of a project for its own programs, and for programs it has installed", () => {
  const home = temporaryFolder();
  const installed = join(home, "node_modules", "errand", "dist", "main.js");
  expect(installCommand("p", join(home, "main.js"))).toBe("npm install p");
  expect(installCommand("p", installed)).toBe("npm install -g p");
  write(join(home, "package.json"), "{}");
  expect(installCommand("p", installed)).toBe("npm install p");
});

test("a folder, a missing script and a relative word name a program too", () => {
  const home = temporaryFolder();
  expect(dirname(programFile(home))).toBe(home);
  expect(programFile(join(home, "gone"))).toBe(join(home, "gone"));
  expect(dirname(programFile("word", home))).toBe(home);
});
