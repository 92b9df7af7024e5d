/**
 * Completion executes nothing, neither while a shell completes nor when a completed line is entered. The content of
 * stores and folders is data: ids, names of agents and runs, file names, and programs that are also called errand.
 */

import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { runErrand, terminalAvailable } from "../cli/support/errand-process.ts";
import { errandProgram, interactiveShell, PROMPT, shellIsThere } from "../cli/support/shells.ts";
import { type WorkedProject, workedProject } from "../cli/support/worked-project.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Each of these creates a file `executed-…` if a shell executes it. */
const HOSTILE = [
  "$(touch executed-a)",
  "`touch executed-b`",
  "x; touch executed-c",
  "x\ntouch executed-d\n",
  "'$(touch executed-e)'",
  '"$(touch executed-f)"',
  "${X:=$(touch executed-g)}",
  "$((a[$(touch executed-h)]))",
  "(touch executed-i)",
  "<(touch executed-j)",
  "%{$(touch executed-k)%}",
  "\u001b]0;title\u0007\u001b[31m$(touch executed-l)",
  "*",
  "{a,b}",
  "~root",
  "-x",
  "",
];

let project: WorkedProject;
let hostileStore = "";
let hostileIds = "";
let env: NodeJS.ProcessEnv = {};
const scripts = new Map<string, string>();

beforeAll(async () => {
  project = await workedProject();
  const { folder } = project;
  const bin = errandProgram(folder);
  env = { ...process.env, PATH: [bin, process.env["PATH"]].join(delimiter), HOME: folder, TERM: "xterm" };
  for (const shell of ["bash", "zsh", "fish"]) {
    const { out } = await runErrand(["completion", shell], project);
    scripts.set(shell, join(folder, `errand.${shell}`));
    writeFileSync(scripts.get(shell) ?? "", out);
  }
  // A foreign store, with texts in the place of ids and names.
  hostileStore = join(folder, "hostile.db");
  const asked = ["run", "--store", hostileStore, "what opens the store?"];
  for (let made = 0; made < 2; made += 1) expect((await runErrand(asked, { folder })).code).toBe(0);
  const database = new DatabaseSync(hostileStore);
  const [first] = database.prepare("select * from trees order by key").all();
  const columns = Object.keys(first ?? {});
  database.prepare("update trees set agent = ?").run(HOSTILE[0] ?? "");
  for (const [index, word] of HOSTILE.entries())
    database.prepare("update runs set name = ? where number = ?").run(word, index);
  database.close();
  hostileIds = join(folder, "hostile-ids.db");
  cpSync(hostileStore, hostileIds);
  const worse = new DatabaseSync(hostileIds);
  const insert = worse.prepare(
    `insert into trees (${columns.join(", ")}) values (${columns.map((name) => `:${name}`).join(", ")})`,
  );
  for (const [index, word] of HOSTILE.entries()) insert.run({ ...first, key: 100 + index, id: word, agent: word });
  worse.close();
  // A folder with such files, and with a program of the same name.
  for (const name of HOSTILE) if (name !== "" && !name.includes("/")) writeFileSync(join(folder, `f${name}`), "");
  writeFileSync(join(folder, "errand"), "#!/bin/sh\ntouch executed-program\n");
  chmodSync(join(folder, "errand"), 0o755);
  mkdirSync(join(folder, "d$(touch executed-m)"));
});
afterAll(() => project.remove());

beforeEach(() => {
  for (const name of executed()) rmSync(join(project.folder, name));
});

const executed = (): string[] => readdirSync(project.folder).filter((name) => name.startsWith("executed-"));

test("the command offers nothing from a store with invalid ids", async () => {
  const { code, out } = await runErrand(["completion", "ids", "--store", hostileIds], { folder: project.folder });
  expect({ code, out }).toEqual({ code: 1, out: "" });
});

test("the command offers only ids, whatever else the store contains", async () => {
  const { code, out } = await runErrand(["completion", "ids", "--store", hostileStore], { folder: project.folder });
  expect(code).toBe(0);
  const lines = out.split("\n").slice(0, -1);
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) expect(line).toMatch(/^(last|[0-9a-f]{6,}(\/\d+)?)\t[^\p{Cc}]*$/u);
});

describe.runIf(shellIsThere("bash"))("bash", () => {
  function offered(...words: string[]): string[] {
    const call = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _errand; printf '%s\\0' "\${COMPREPLY[@]}"`;
    const args = ["--norc", "--noprofile", "-c", call, scripts.get("bash") ?? "", ...words];
    const { status, stdout, stderr } = spawnSync("bash", args, { env, cwd: project.folder, encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout.split("\0").filter((word) => word !== "");
  }

  test("offers only ids, and executes no text of the store", () => {
    const ids = offered("errand", "show", "--store", hostileStore, "");
    expect(ids.length).toBeGreaterThan(1);
    for (const id of ids) expect(id).toMatch(/^(last|[0-9a-f]{6,}(\/\d+)?)$/);
    expect(offered("errand", "show", "--store", hostileIds, "")).toEqual([]);
    expect(executed()).toEqual([]);
  });

  test("executes nothing, whatever the binary prints", () => {
    const liar = join(project.folder, "liar");
    mkdirSync(liar);
    const printed = HOSTILE.map((word) => `printf '%s\\tx\\n' '${word.replaceAll("'", "'\\''")}'`).join("\n");
    writeFileSync(join(liar, "errand"), `#!/bin/sh\n${printed}\nprintf 'abc-1\\tx\\n'\n`);
    chmodSync(join(liar, "errand"), 0o755);
    const before = env;
    env = { ...env, PATH: [liar, process.env["PATH"]].join(delimiter) };
    try {
      // Only words without special characters of a shell are left.
      for (const word of offered("errand", "show", "")) expect(word).toMatch(/^[A-Za-z0-9/-]+$/);
    } finally {
      env = before;
    }
    expect(executed()).toEqual([]);
  });

  test("offers file names as plain text", () => {
    const files = offered("errand", "replay", "f");
    for (const name of HOSTILE.filter((one) => one !== "" && !one.includes("\n") && !one.includes("/")))
      expect(files).toContain(`f${name}`);
    expect(executed()).toEqual([]);
  });

  test("does not run a program in the folder that is named by its path", () => {
    offered("./errand", "show", "");
    offered("$(touch executed-n)/errand", "show", "");
    expect(executed()).toEqual([]);
  });

  test("typed words are not executed either", () => {
    for (const word of HOSTILE) {
      offered("errand", "show", "--store", word, "");
      offered("errand", word, "");
      offered("errand", "replay", word);
    }
    expect(executed()).toEqual([]);
  });
});

const SHELLS = {
  bash: {
    rc: "bashrc",
    command: (rc: string) => `bash --noprofile --rcfile '${rc}' -i`,
    lines: (script: string) => [`PS1='${PROMPT}'`, `source '${script}'`],
  },
  zsh: {
    rc: ".zshrc",
    command: () => `env ZDOTDIR='${project.folder}' zsh -d -i`,
    lines: (script: string) => [`PS1='${PROMPT}'`, "autoload -Uz compinit && compinit -u -D", `source '${script}'`],
  },
  fish: {
    rc: "config.fish",
    command: (rc: string) => `fish --no-config --init-command "source '${rc}'" -i`,
    lines: (script: string) => [
      `function fish_prompt; printf '${PROMPT}'; end`,
      "function fish_mode_prompt; end",
      `source '${script}'`,
    ],
  },
} as const;

describe.each(["bash", "zsh", "fish"] as const)("Tab and Enter in %s", (name) => {
  test.runIf(shellIsThere(name) && terminalAvailable)("execute nothing of a hostile store and folder", async () => {
    const { rc, command, lines } = SHELLS[name];
    const file = join(project.folder, rc);
    writeFileSync(file, `${lines(scripts.get(name) ?? "").join("\n")}\n`);
    const shell = await interactiveShell(command(file), { env, cwd: project.folder });
    onTestFinished(() => shell.close());
    // Twice: the first completes the common prefix, the second lists. The text after it appears once the shell has
    // done both.
    for (const [index, typed] of [
      "errand show --store hostile.db ",
      "errand replay f",
      "errand replay f\\$",
      "errand replay d",
      "./errand show ",
    ].entries()) {
      await shell.press(`${typed}\t\tdone${index}`, `done${index}`);
      expect(executed(), typed).toEqual([]);
      await shell.clear();
    }
    // The line with the completed name is entered.
    await shell.press("errand replay f\\$\\(\t done9", "done9");
    await shell.press("\r", "error:");
    expect(executed()).toEqual([]);
    expect(existsSync(join(project.folder, "f$(touch executed-a)"))).toBe(true);
  });
});
