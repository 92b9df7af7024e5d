/**
 * A project that has installed the packed package as a user does: one `npm pack` and one `npm install` for the whole test
 * run, whichever test file asks first. Packages that only some programs need are linked.
 */

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = resolve(".");

export interface PackedProject {
  /** The folder that has `node_modules`. */
  readonly folder: string;
  /** The path of the installed package. */
  readonly installed: string;
  /** The packed files, relative to the package. */
  readonly files: readonly string[];
}

type Ready = { readonly project: PackedProject } | { readonly failed: string };

/** Packages that the README and the guides tell users to install beside Errand. */
export const INSTALLED_BESIDE = ["@ai-sdk/anthropic", "zod"] as const;
const LINKED = ["@types/node", "ai", "vitest"] as const;

export async function packedProject(): Promise<PackedProject> {
  const base = process.env["ERRAND_TEST_PACKAGE"];
  if (base === undefined) throw new Error("packed projects need the setup of vitest.config.ts");
  const note = join(base, "ready.json");
  if (firstToCome(join(base, "lock"))) {
    const ready = await make(base).then(
      (project): Ready => ({ project }),
      (error: unknown): Ready => ({ failed: String(error) }),
    );
    writeFileSync(`${note}.new`, JSON.stringify(ready));
    renameSync(`${note}.new`, note);
  }
  while (!existsSync(note)) await sleep(50);
  const ready = JSON.parse(readFileSync(note, "utf8")) as Ready;
  if ("failed" in ready) throw new Error(`the package could not be packed and installed: ${ready.failed}`);
  return ready.project;
}

/** A new folder of the project: programs in it find the installed packages. */
export function freshFolder({ folder }: PackedProject): string {
  return mkdtempSync(join(folder, "fresh-"));
}

function firstToCome(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

async function make(base: string): Promise<PackedProject> {
  const packed = await run("npm", ["pack", "--json", "--pack-destination", base], { cwd: root, env: npmEnvironment() });
  const listing = JSON.parse(packed.stdout.slice(packed.stdout.indexOf("["))) as readonly {
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  const [{ filename, files } = { filename: "", files: [] }] = listing;
  const folder = join(base, "project");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ private: true, type: "module" })}\n`);
  const packages = [join(base, filename), ...INSTALLED_BESIDE.map((name) => `${name}@${lockedVersion(name)}`)];
  const options = ["--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...options, ...packages], { cwd: folder, env: npmEnvironment() });
  for (const name of LINKED) {
    mkdirSync(join(folder, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  return { folder, installed: join(folder, "node_modules", "errand"), files: files.map(({ path }) => path) };
}

/** The version that is already in npm's cache. */
function lockedVersion(name: string): string {
  const { version } = JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8")) as {
    readonly version: string;
  };
  return version;
}

/** Without the variables of the npm command that runs the tests. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(?!config_(registry|cache))|init_cwd$)/i.test(name),
  );
  return Object.fromEntries(own);
}
