/** Runs one delegation in its own process, kills it at a point, and restarts it as its documentation says. */

import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAnswer, type KillLog } from "./judge.ts";
import { type Delegation, openModelServer } from "./model-server.ts";

const PROGRAM = join(import.meta.dirname, "programs", "program.mjs");
/** The time of each model reply, and of each half of the tool's work. */
const STEP_MS = 30;

export interface Contender {
  readonly name: string;
  readonly background: boolean;
  readonly delegation: Delegation;
  /** Further options of its program. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Something observed from outside: message given, model asked, reply sent, tool begun, done, ended, text shown. */
export interface Moment {
  readonly name: string;
  readonly at: number;
}

/** A time after the n-th moment. */
export interface KillPoint {
  readonly moment: number;
  readonly afterMs: number;
}

export interface Outcome {
  readonly log: KillLog;
  /** Of the first process, until it was killed or had answered. */
  readonly moments: readonly Moment[];
  readonly killed: boolean;
}

type ProgramMessage = { readonly moment: string } | { readonly shown: string } | { readonly failed: string };

export async function runDelegation(
  { name, background, delegation, options }: Contender,
  {
    number,
    kill,
    patienceMs,
  }: { readonly number: number; readonly kill: KillPoint | null; readonly patienceMs: number },
): Promise<Outcome> {
  const item = `item ${number}`;
  const folder = mkdtempSync(join(tmpdir(), "errand-kills-"));
  const effectsFile = join(folder, "effects");
  const moments: Moment[] = [];
  const shown: string[] = [];
  let error: string | null = null;
  let killed = false;
  let living: ChildProcess | null = null;
  let timer: NodeJS.Timeout | undefined;

  function die(): void {
    if (killed || shown.some(isAnswer)) return;
    killed = true;
    living?.kill("SIGKILL");
    server.abandon();
  }
  function onMoment(moment: string): void {
    if (killed || shown.some(isAnswer)) return;
    moments.push({ name: moment, at: performance.now() });
    if (kill === null || moments.length - 1 !== kill.moment) return;
    if (kill.afterMs < 0.5) die();
    else timer = setTimeout(die, kill.afterMs);
  }

  const server = await openModelServer({ item, delegation, replyMs: STEP_MS, onMoment });
  try {
    await startProcess(false);
    clearTimeout(timer);
    if (killed) await startProcess(true);
    const effects = existsSync(effectsFile) ? readFileSync(effectsFile, "utf8").trim().split("\n") : [];
    return { log: { item, calls: server.calls, shown, effects, error }, moments, killed };
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }

  /** Resolves when the process has ended: by itself, by the kill, or because it took too long. */
  function startProcess(again: boolean): Promise<void> {
    const given = { contender: name, background, item, folder, effectsFile, url: server.url, again, stepMs: STEP_MS };
    const child = fork(PROGRAM, [JSON.stringify({ ...given, ...options })], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      cwd: folder,
      env: { ...process.env, XDG_DATA_HOME: folder, NODE_NO_WARNINGS: "1" },
    });
    living = child;
    let errors = "";
    child.stderr?.on("data", (piece: Buffer) => (errors = `${errors}${piece.toString()}`.slice(-2_000)));
    child.on("message", (message: ProgramMessage) => {
      if ("moment" in message) onMoment(message.moment);
      else if ("failed" in message) error = message.failed;
      else {
        onMoment("shown");
        // A message that arrives after the kill was sent before it.
        shown.push(message.shown);
      }
    });
    return new Promise((resolve) => {
      const patience = setTimeout(() => child.kill("SIGKILL"), patienceMs);
      child.on("close", (code) => {
        clearTimeout(patience);
        if (code !== 0 && code !== null && error === null) error = errors.trim() || `exit ${code}`;
        resolve();
      });
    });
  }
}

/** Spreads points evenly over the moments: the same number between any two moments, at equal parts of the time. */
export function killPoints(moments: readonly Moment[], count: number): readonly KillPoint[] {
  const stretches = moments.length - 1;
  return Array.from({ length: count }, (_, index) => {
    const place = ((index + 0.5) * stretches) / count;
    const moment = Math.floor(place);
    const took = (moments[moment + 1]?.at ?? 0) - (moments[moment]?.at ?? 0);
    return { moment, afterMs: (place - moment) * took };
  });
}
