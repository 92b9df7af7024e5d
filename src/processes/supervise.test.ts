import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  newMark,
  ownSeconds,
  POSSIBLE_WAYS,
  processesWith,
  stubbornDaemon,
  superviseScript,
  until,
} from "./supervised.test-support.ts";

vi.setConfig({ testTimeout: 60_000 });

const NODE = process.execPath;

/** Starts a process that supervises a script, and stays until it is killed. */
function startOwner(script: string, prefix: readonly string[], mark: string, descriptors = ""): number {
  const source = join(import.meta.dirname, "supervise.ts");
  const program = `
    import { superviseProcess } from ${JSON.stringify(source)};
    const after = (ms, then) => { const timer = setTimeout(then, ms); return () => clearTimeout(timer); };
    const print = (chunk) => process.stdout.write(chunk);
    const { ended } = superviseProcess({
      program: "/bin/sh", parameters: ["-c", ${JSON.stringify(script)}], folder: "/",
      environment: { PATH: process.env.PATH }, enclosure: { prefix: ${JSON.stringify(prefix)} },
      mark: ${JSON.stringify(mark)}, input: false, timers: { after }, onOutput: print, onErrorOutput: print,
    });
    await ended;`;
  // The texts that the tests look for in command lines are in a file.
  const file = join(temporaryFolder(), "owner.mjs");
  writeFileSync(file, program);
  const owner = spawn("/bin/bash", ["-c", `exec "$0" "$1" ${descriptors}`, NODE, file], { stdio: "ignore" });
  onTestFinished(() => void owner.kill("SIGKILL"));
  return owner.pid ?? 0;
}

describe.each(POSSIBLE_WAYS)("with %s", (_, enclosure) => {
  test("a daemon that forks twice, leads a session and ignores SIGTERM is gone after the grace", async () => {
    const seconds = ownSeconds();
    const { child } = superviseScript(`trap "" TERM; ${stubbornDaemon(seconds)}; while :; do sleep 1; done`, {
      enclosure,
    });
    await until(() => processesWith(`sleep\0${seconds}`).length > 0);
    const asked = performance.now();
    child.end(1_000);
    await child.ended;
    expect(processesWith(seconds)).toEqual([]);
    expect(performance.now() - asked).toBeGreaterThan(900);
  });

  test("the same daemon is gone after the owner was killed by SIGKILL", async () => {
    const seconds = ownSeconds();
    const mark = newMark();
    const owner = startOwner(`${stubbornDaemon(seconds)}; sleep ${seconds}`, enclosure.prefix, mark);
    await until(() => processesWith(`sleep\0${seconds}`).length >= 2 && processesWith(mark).length === 1);
    process.kill(owner, "SIGKILL");
    await until(() => processesWith(seconds).length === 0);
    await until(() => processesWith(mark).length === 0);
  });

  test("a process that obeys SIGTERM ends within the grace, with its last output", async () => {
    const { child, output } = superviseScript(`trap "echo bye; exit 4" TERM; echo here; while :; do sleep 0.05; done`, {
      enclosure,
    });
    await until(() => output() === "here\n");
    const asked = performance.now();
    child.end(30_000);
    expect(await child.ended).toEqual({ code: 4, signal: null, problem: null, left: 0 });
    expect(output()).toBe("here\nbye\n");
    expect(performance.now() - asked).toBeLessThan(20_000);
  });

  test("processes that the first one leaves behind are gone when it has ended, and so is the guard", async () => {
    const seconds = ownSeconds();
    const { child, mark } = superviseScript(`${stubbornDaemon(seconds)}; sleep 0.2; exit 3`, { enclosure });
    expect(await child.ended).toMatchObject({ code: 3, left: 0 });
    expect(processesWith(seconds)).toEqual([]);
    expect(processesWith(mark)).toEqual([]);
  });

  test("it inherits three descriptors, also if the owner inherited others", async () => {
    const file = join(temporaryFolder(), "listing");
    const others = "17</etc/hostname 40</etc/passwd";
    const script = `ls -l /proc/self/fd | grep -c -e hostname -e passwd >${file}; sleep 60`;
    const owner = startOwner(script, enclosure.prefix, newMark(), others);
    await until(() => readable(file) !== "");
    expect(readdirSync(`/proc/${owner}/fd`)).toEqual(expect.arrayContaining(["17", "40"]));
    process.kill(owner, "SIGKILL");
    expect(readable(file)).toBe("0\n");
  });

  test("its input arrives as it was written, and a process that does not read it is no failure", async () => {
    const { child, output } = superviseScript('read -r line; echo "got $line"; cat', { enclosure, input: true });
    child.write("one\n");
    child.write("two\n");
    child.closeInput();
    expect(await child.ended).toMatchObject({ code: 0 });
    expect(output()).toBe("got one\ntwo\n");
    const deaf = superviseScript("exec 0<&-; sleep 0.2", { enclosure, input: true }).child;
    deaf.write("x".repeat(1_000_000));
    expect(await deaf.ended).toMatchObject({ code: 0, problem: null });
  });

  test("a tree whose guard is killed ends", async () => {
    const seconds = ownSeconds();
    const { child, mark } = superviseScript(`sleep ${seconds}`, { enclosure });
    await until(() => processesWith(mark).length === 1 && processesWith(`sleep\0${seconds}`).length === 1);
    for (const pid of processesWith(mark)) process.kill(pid, "SIGKILL");
    await child.ended;
    expect(processesWith(seconds)).toEqual([]);
  });
});

test("input for a process that does not read is limited", async () => {
  const { child } = superviseScript("sleep 60", { enclosure: { prefix: [] }, input: true });
  const megabyte = "x".repeat(1024 * 1024);
  const taken = Array.from({ length: 10 }, () => child.write(megabyte));
  expect(taken[0]).toBe(true);
  expect(taken.at(-1)).toBe(false);
  child.end(0);
  await child.ended;
});

test("a program that cannot be started is a problem, and leaves no guard", async () => {
  const mark = newMark();
  const { child } = superviseScript("", { enclosure: { prefix: [] }, program: "/no/such/program", mark });
  expect(await child.ended).toEqual({ code: null, signal: null, problem: "ENOENT", left: 0 });
  expect(processesWith(mark)).toEqual([]);
});

test("supervising leaves no descriptor open", async () => {
  const open = (): number => readdirSync("/proc/self/fd").length;
  const one = (): Promise<unknown> => superviseScript("true", { enclosure: { prefix: [] } }).child.ended;
  await one();
  const before = open();
  for (let round = 0; round < 5; round++) await one();
  expect(open()).toBe(before);
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "errand-processes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function readable(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
