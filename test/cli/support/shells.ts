/** Shells with a command `errand`, in a terminal of their own. */

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import { installPackages } from "../../../scripts/debian-packages.mjs";

const runs = (name: string): boolean => spawnSync(name, ["--version"]).error === undefined;
const SHELLS = ["bash", "zsh", "fish"];
const missing = SHELLS.filter((name) => !runs(name));
if (missing.length > 0) installPackages(missing);
for (const name of missing) {
  if (!runs(name)) process.stderr.write(`SKIPPED: there is no ${name} to try its completion in\n`);
}

export function shellIsThere(name: "bash" | "zsh" | "fish"): boolean {
  return runs(name);
}

/** Makes a folder for the path with a command `errand` in it, as an installation has one. Returns that folder. */
export function errandProgram(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const main = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
  const node = fileURLToPath(new URL("../../../node_modules/.bin/node", import.meta.url));
  writeFileSync(
    join(bin, "errand"),
    `#!/bin/sh\nexec '${existsSync(node) ? node : process.execPath}' '${main}' "$@"\n`,
  );
  chmodSync(join(bin, "errand"), 0o755);
  return bin;
}

export interface InteractiveShell {
  /** Presses keys and waits until all that is wanted stands in what the shell has shown since the line was begun. */
  press(keys: string, ...wanted: string[]): Promise<void>;
  /** Gives up the line, and waits for a new one. */
  clear(): Promise<void>;
  close(): void;
}

/** What the shell must be told to use as its prompt. */
export const PROMPT = "ready> ";
const CTRL_C = "\u0003";
const PATIENCE_MS = 50_000;
const AGAIN_MS = 2_000;

export async function interactiveShell(
  command: string,
  where: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<InteractiveShell> {
  const words = `stty cols 160 rows 60 && exec ${command}`;
  const child = spawn("/usr/bin/script", ["-qec", words, "/dev/null"], where);
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    shown += chunk;
  });
  const text = (): string =>
    stripVTControlCharacters(shown)
      .replaceAll(/.[\b]/g, "")
      .replaceAll(/[\s\p{Control}]+/gu, " ");
  async function sees(wanted: readonly string[]): Promise<void> {
    const began = performance.now();
    const missing = (): string[] => wanted.filter((one) => !text().includes(one.replaceAll(/\s+/g, " ")));
    while (missing().length > 0 && performance.now() - began < PATIENCE_MS)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(missing(), text()).toEqual([]);
  }
  await sees([PROMPT]);
  return {
    press(keys, ...wanted) {
      child.stdin.write(keys);
      return sees(wanted);
    },
    async clear() {
      shown = "";
      // While fish completes, the terminal takes Ctrl-C for the completion: the line is still there, and no new prompt
      // comes.
      const pressing = setInterval(() => child.stdin.write(CTRL_C), AGAIN_MS);
      child.stdin.write(CTRL_C);
      try {
        await sees([PROMPT]);
      } finally {
        clearInterval(pressing);
      }
    },
    // The terminal goes with it, and the shell with the terminal.
    close: () => void child.kill("SIGKILL"),
  };
}
