/** A project and a home of a user, with files of definitions and settings in them, and the command run there. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { type Finished, records, runErrand } from "./errand-process.ts";

type Files = Readonly<Record<string, string>>;

export interface DefinedProject {
  readonly folder: string;
  readonly home: string;
  write(path: string, content: string): void;
  errand(...args: string[]): Promise<Finished>;
  /** The same with variables of the environment. */
  errandWith(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Finished>;
  /** The objects that it prints with `--json`. */
  json(...args: string[]): Promise<Record<string, unknown>[]>;
}

/** The real program with a model that shows what agents are sent. */
const SHOWING = fileURLToPath(new URL("./showing-errand.ts", import.meta.url));

export function definedProject(files: Files = {}, homeFiles: Files = {}, entry = SHOWING): DefinedProject {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), "errand-defined-")));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const [folder, home] = [join(parent, "project"), join(parent, "home")];
  writeAll(folder, { "README.md": "# Sample\n", ...files });
  writeAll(home, homeFiles);
  const errandWith = (env: Readonly<Record<string, string>>, ...args: string[]): Promise<Finished> =>
    runErrand(args, { folder, home, entry, env });
  return {
    folder,
    home,
    write: (path, content) => writeAll(folder, { [path]: content }),
    errand: (...args) => errandWith({}, ...args),
    errandWith,
    json: async (command = "", ...args) => records((await errandWith({}, command, "--json", ...args)).out),
  };
}

function writeAll(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** An agent's file. */
export function agentFile(name: string, prompt: string, keys = ""): string {
  return `---\nname: ${name}\ndescription: About ${name}.\n${keys}---\n${prompt}\n`;
}

export const HOOKS = "hooks:\n  Stop: [./stop.sh]\n";
