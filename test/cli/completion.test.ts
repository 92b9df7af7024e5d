/** `errand completion`: each script in its own shell. */

import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { COMMANDS } from "../../src/cli/command-list.ts";
import { runErrand, storeOf, terminalAvailable } from "./support/errand-process.ts";
import { errandProgram, interactiveShell, type InteractiveShell, PROMPT, shellIsThere } from "./support/shells.ts";
import { type WorkedProject, workedProject } from "./support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let project: WorkedProject;
let env: NodeJS.ProcessEnv = {};
const scripts = new Map<string, string>();

/** A folder of the path with a command `errand`, as an installation has one. */
beforeAll(async () => {
  project = await workedProject();
  const bin = errandProgram(project.folder);
  mkdirSync(join(project.folder, "a folder"));
  symlinkSync(storeOf(project.folder), join(project.folder, "own.db"));
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

const interactive = (command: string) => interactiveShell(command, { env, cwd: project.folder });
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
const NAMES = COMMANDS.map(({ name }) => name);

describe.runIf(shellIsThere("bash"))("bash", () => {
  /** The completions that the script's function offers for the last of these words. */
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

  test("ids of trees and runs, from the binary, where an id is expected, and nothing for a text", () => {
    const { short } = project;
    expect(offered("errand", "show", "")).toEqual(["last", short, `${short}/1`, `${short}/2`]);
    expect(offered("errand", "logs", "-f", short.slice(0, 3))).toEqual([short, `${short}/1`, `${short}/2`]);
    expect(offered("errand", "resume", "")).toEqual(["last", short]);
    expect(offered("errand", "send", short, "")).toEqual([]);
    expect(offered("errand", "run", "")).toEqual([]);
  });

  test("ids come from the named store, and its name is completed as a file", () => {
    const trees = ["last", project.short];
    expect(offered("errand", "show", "--store", "nothing.db", "")).toEqual([]);
    expect(offered("errand", "resume", "--store", "~/own.db", "")).toEqual(trees);
    expect(offered("errand", "resume", "--store", "=", "own.db", "")).toEqual(trees);
    expect(offered("errand", "resume", "--store", "'own.db'", "")).toEqual(trees);
    expect(offered("errand", "ps", "--store", "REA")).toEqual(["README.md"]);
    expect(offered("errand", "ps", "--store", "a")).toEqual(["a folder"]);
    expect(offered("errand", "replay", "REA")).toEqual(["README.md"]);
    expect(offered("errand", "run", "--model", "")).toEqual([]);
  });

  test.runIf(terminalAvailable)("Tab, in an interactive shell", async () => {
    const rc = join(project.folder, "bashrc");
    writeFileSync(rc, `PS1='${PROMPT}'\nsource '${scripts.get("bash")}'\n`);
    const bash = await interactive(`bash --noprofile --rcfile '${rc}' -i`);
    await bash.press("errand comp\t", "errand completion");
    await bash.press("fi\t", "errand completion fish");
    bash.close();
  });
});

describe.runIf(shellIsThere("zsh") && terminalAvailable)("zsh", () => {
  let zsh: InteractiveShell;
  beforeAll(async () => {
    const lines = [`PS1='${PROMPT}'`, "autoload -Uz compinit && compinit -u -D", `source '${scripts.get("zsh")}'`];
    writeFileSync(join(project.folder, ".zshrc"), lines.join("\n"));
    zsh = await interactive(`env ZDOTDIR='${project.folder}' zsh -d -i`);
  });
  afterEach(() => zsh.clear());
  afterAll(() => zsh.close());

  test("commands with what they do", async () => {
    const wanted = COMMANDS.flatMap(({ name, description }) => [name, description.slice(0, 20)]);
    await zsh.press("errand \t", ...wanted);
  });

  test("options, and words", async () => {
    await zsh.press("errand export --o\t", "errand export --out");
    await zsh.clear();
    await zsh.press("errand comp\t", "errand completion");
    await zsh.press("fi\t", "errand completion fish");
  });

  test("ids with a short description", async () => {
    const { short } = project;
    await zsh.press("errand show \t", short, `${short}/1`, `${short}/2`, "what opens the store?, idle");
  });

  test("ids come from the named store, and files are completed", async () => {
    const { short } = project;
    await zsh.press("errand resume --store nothing.db \t", "nothing.db ");
    await zsh.press("x", "nothing.db x");
    await zsh.clear();
    await zsh.press("errand resume --store ~/own.db \t", short);
    await zsh.clear();
    await zsh.press("errand replay REA\t", "errand replay README.md");
  });
});

describe.runIf(shellIsThere("fish"))("fish", () => {
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

  test("ids with a short description, and files", () => {
    const { short } = project;
    const ids = offered("errand show ");
    expect(ids.map((line) => line.split("\t")[0])).toEqual(["last", short, `${short}/1`, `${short}/2`]);
    expect(ids[0]).toBe("last\twhat opens the store?, idle");
    expect(offered("errand resume ")).toHaveLength(2);
    expect(offered(`errand send ${short} `)).toEqual([]);
    expect(offered("errand show --store nothing.db ")).toEqual([]);
    expect(offered("errand resume --store ~/own.db ")).toHaveLength(2);
    expect(offered("errand replay REA")).toEqual(["README.md"]);
  });
});

test("an unknown shell is a usage error", async () => {
  const { code, err } = await runErrand(["completion", "tcsh"], project);
  expect(err).toMatch(/^error: There is no completion for "tcsh" \(usage\)\n {2}.+bash, zsh or fish\.\n$/);
  expect(code).toBe(2);
});
