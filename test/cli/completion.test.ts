/** `errand completion`: the scripts, in the shells they are for. */

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { COMMANDS } from "../../src/cli/command-list.ts";
import { runErrand, terminalAvailable } from "./support/errand-process.ts";
import { type WorkedProject, workedProject } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let project: WorkedProject;
let env: NodeJS.ProcessEnv = {};
const scripts = new Map<string, string>();

/** A folder of the path with a command `errand`, as an installation has one. */
beforeAll(async () => {
  project = await workedProject();
  const bin = join(project.folder, "bin");
  mkdirSync(bin);
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const node = fileURLToPath(new URL("../../node_modules/.bin/node", import.meta.url));
  writeFileSync(
    join(bin, "errand"),
    `#!/bin/sh\nexec '${existsSync(node) ? node : process.execPath}' '${main}' "$@"\n`,
  );
  chmodSync(join(bin, "errand"), 0o755);
  mkdirSync(join(project.folder, "a folder"));
  env = { ...process.env, PATH: [bin, process.env["PATH"]].join(delimiter), HOME: project.folder, TERM: "xterm" };
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, out } = await runErrand(["completion", shell], project);
    expect(code).toBe(0);
    scripts.set(shell, join(project.folder, `errand.${shell}`));
    writeFileSync(scripts.get(shell) ?? "", out);
  }
});
afterAll(() => project.remove());

function shell(name: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(name, args, { env, cwd: project.folder, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const there = (name: string): boolean => spawnSync(name, ["--version"]).error === undefined;
for (const name of ["bash", "zsh", "fish"]) {
  if (!there(name)) process.stderr.write(`SKIPPED: there is no ${name} to try its completion in\n`);
}

const NAMES = COMMANDS.map(({ name }) => name);

describe.runIf(there("bash"))("bash", () => {
  /** What the function of the script offers for the last of these words. */
  function offered(...words: string[]): string[] {
    const call = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _errand; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return lines(shell("bash", ["--norc", "--noprofile", "-c", call, scripts.get("bash") ?? "", ...words]));
  }

  test("commands, and the options of each", () => {
    expect(offered("errand", "")).toEqual([...NAMES, "help", "--help", "--version"]);
    expect(offered("errand", "re")).toEqual(NAMES.filter((name) => name.startsWith("re")));
    expect(offered("errand", "export", "--")).toEqual(["--out", "--store", "--json", "--debug", "--help"]);
    expect(offered("errand", "run", "--j")).toEqual(["--json"]);
    expect(offered("errand", "help", "ex")).toEqual(["export"]);
    expect(offered("errand", "completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  test("ids of trees and runs where an id belongs, by asking the binary, and nothing for a text", () => {
    const { tree, runs } = project;
    expect(offered("errand", "show", "")).toEqual([tree, ...runs]);
    expect(offered("errand", "logs", "-f", tree.slice(0, 8))).toContain(tree);
    expect(offered("errand", "resume", "")).toEqual([tree]);
    expect(offered("errand", "send", tree, "")).toEqual([]);
    expect(offered("errand", "run", "")).toEqual([]);
  });

  test("the store that was named is the one that is asked, and its name is completed as a file", () => {
    const { tree } = project;
    expect(offered("errand", "show", "--store", "nothing.db", "")).toEqual([]);
    expect(offered("errand", "resume", "--store", "~/.errand/errand.db", "")).toEqual([tree]);
    expect(offered("errand", "resume", "--store", "=", ".errand/errand.db", "")).toEqual([tree]);
    expect(offered("errand", "resume", "--store", "'.errand/errand.db'", "")).toEqual([tree]);
    expect(offered("errand", "ps", "--store", "REA")).toEqual(["README.md"]);
    expect(offered("errand", "ps", "--store", "a")).toEqual(["a folder"]);
    expect(offered("errand", "replay", "REA")).toEqual(["README.md"]);
    expect(offered("errand", "run", "--model", "")).toEqual([]);
  });

  test("Tab, in an interactive shell", async () => {
    const out = await typed(["bash", "--norc", "--noprofile", "-i"], scripts.get("bash") ?? "", "errand comp\tfi\t");
    expect(out).toContain("errand completion fish");
  });
});

describe.runIf(there("zsh") && terminalAvailable)("zsh", () => {
  const start = ["zsh", "-f", "-i"];
  const setup = "autoload -Uz compinit && compinit -u -D";
  const press = (keys: string): Promise<string> => typed(start, scripts.get("zsh") ?? "", keys, setup);

  test("commands with what they do, and options", async () => {
    const out = await press("errand \t");
    for (const { name, description } of COMMANDS) {
      expect(out).toContain(name);
      expect(out.replaceAll(/\s+/g, " ")).toContain(description.slice(0, 20));
    }
    expect(await press("errand export --o\t")).toContain("errand export --out");
    expect(await press("errand comp\tfi\t")).toContain("errand completion fish");
  });

  test("ids with a few words about them, and files", async () => {
    const { tree } = project;
    // The first Tab writes what all of them begin with.
    const out = await press("errand show \t\t");
    for (const id of [tree, ...project.runs]) expect(out).toContain(id);
    expect(out).toContain("tree orchestrator, idle");
    expect(await press("errand resume --store nothing.db \t")).not.toContain(tree);
    expect(await press("errand resume --store ~/.errand/errand.db \t")).toContain(tree);
    expect(await press("errand replay REA\t")).toContain("errand replay README.md");
  });
});

describe.runIf(there("fish"))("fish", () => {
  function offered(line: string): string[] {
    const call = 'source $argv[1]; complete -C "$argv[2]"';
    return lines(shell("fish", ["--no-config", "-c", call, scripts.get("fish") ?? "", line]));
  }

  test("commands with what they do, and options", () => {
    expect(offered("errand ")).toEqual(
      expect.arrayContaining(COMMANDS.map(({ name, description }) => `${name}\t${description}`)),
    );
    expect(offered("errand export --o")).toEqual([expect.stringMatching(/^--out\t/)]);
    expect(offered("errand completion ")).toEqual(["bash", "zsh", "fish"].toSorted());
  });

  test("ids with a few words about them, and files", () => {
    const { tree, runs } = project;
    const ids = offered("errand show ");
    expect(ids.map((line) => line.split("\t")[0])).toEqual([tree, ...runs]);
    expect(ids[0]).toBe(`${tree}\ttree orchestrator, idle`);
    expect(offered("errand resume ")).toHaveLength(1);
    expect(offered(`errand send ${tree} `)).toEqual([]);
    expect(offered("errand show --store nothing.db ")).toEqual([]);
    expect(offered("errand resume --store ~/.errand/errand.db ")).toHaveLength(1);
    expect(offered("errand replay REA")).toEqual(["README.md"]);
  });
});

/** What an interactive shell in a terminal shows after the script was sourced and these keys were pressed. */
async function typed(command: readonly string[], script: string, keys: string, setup = ":"): Promise<string> {
  const words = `stty cols 160 rows 60 && exec ${command.join(" ")}`;
  const child = spawn("/usr/bin/script", ["-qec", words, "/dev/null"], { env, cwd: project.folder });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  const quiet = async (): Promise<void> => {
    for (let before = -1; before !== out.length || out === "";) {
      before = out.length;
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    }
  };
  await quiet();
  child.stdin.write(`PS1='> '; ${setup}; source '${script}'; echo READY''NOW\r`);
  while (!out.includes("READYNOW")) await new Promise((resolve) => setTimeout(resolve, 50));
  await quiet();
  const before = out.length;
  for (const part of keys.split(/(?<=\t)/)) {
    child.stdin.write(part);
    await quiet();
  }
  const shown = out.slice(before);
  child.stdin.write("\u0003exit\r");
  child.kill("SIGHUP");
  // oxlint-disable-next-line no-control-regex
  return stripVTControlCharacters(shown).replaceAll(/.\u0008/g, "");
}

test("a shell that is not known is wrong use", async () => {
  const { code, err } = await runErrand(["completion", "tcsh"], project);
  expect(err).toMatch(/^error: There is no completion for "tcsh" \(usage\)\n {2}.+bash, zsh or fish\.\n$/);
  expect(code).toBe(2);
});
