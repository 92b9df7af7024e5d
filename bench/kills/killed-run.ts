/** One delegation in a process of its own, killed at a point and started again the way its documentation says. */

import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAnswer, type KillLog } from "./judge.ts";
import { type Delegation, openModelServer } from "./model-server.ts";

const PROGRAM = join(import.meta.dirname, "programs", "program.mjs");
/** How long a model's reply takes, and each half of the tool's work. */
const STEP_MS = 30;

export interface Contender {
  readonly name: string;
  readonly background: boolean;
  readonly delegation: Delegation;
  /** More options for its program. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** Something seen from outside: message given, model asked, its reply sent, tool begun, done, ended, text shown. */
export interface Moment {
  readonly name: string;
  readonly at: number;
}

/** This long after the n-th moment. */
export interface KillPoint {
  readonly moment: number;
  readonly afterMs: number;
}

export interface Outcome {
  readonly log: KillLog;
  /** Of the first life, until it was killed or had answered. */
  readonly moments: readonly Moment[];
  readonly killed: boolean;
}

type Told = { readonly moment: string } | { readonly shown: string } | { readonly failed: string };

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
  function seen(moment: string): void {
    if (killed || shown.some(isAnswer)) return;
    moments.push({ name: moment, at: performance.now() });
    if (kill === null || moments.length - 1 !== kill.moment) return;
    if (kill.afterMs < 0.5) die();
    else timer = setTimeout(die, kill.afterMs);
  }

  const server = await openModelServer({ item, delegation, replyMs: STEP_MS, seen });
  try {
    await life(false);
    clearTimeout(timer);
    if (killed) await life(true);
    const effects = existsSync(effectsFile) ? readFileSync(effectsFile, "utf8").trim().split("\n") : [];
    return { log: { item, calls: server.calls, shown, effects, error }, moments, killed };
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }

  /** Lasts until the process ends: by itself, by the kill, or because it took too long. */
  function life(again: boolean): Promise<void> {
    const told = { contender: name, background, item, folder, effectsFile, url: server.url, again, stepMs: STEP_MS };
    const child = fork(PROGRAM, [JSON.stringify({ ...told, ...options })], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      cwd: folder,
      env: { ...process.env, XDG_DATA_HOME: folder, NODE_NO_WARNINGS: "1" },
    });
    living = child;
    let complaint = "";
    child.stderr?.on("data", (piece: Buffer) => (complaint = `${complaint}${piece.toString()}`.slice(-2_000)));
    child.on("message", (message: Told) => {
      if ("moment" in message) seen(message.moment);
      else if ("failed" in message) error = message.failed;
      else {
        seen("shown");
        // A message that arrives after the kill was sent before it.
        shown.push(message.shown);
      }
    });
    return new Promise((resolve) => {
      const patience = setTimeout(() => child.kill("SIGKILL"), patienceMs);
      child.on("close", (code) => {
        clearTimeout(patience);
        if (code !== 0 && code !== null && error === null) error = complaint.trim() || `exit ${code}`;
        resolve();
      });
    });
  }
}

/** Points spread evenly over the moments: each stretch between two moments gets as many, at even parts of its time. */
export function killPoints(moments: readonly Moment[], count: number): readonly KillPoint[] {
  const stretches = moments.length - 1;
  return Array.from({ length: count }, (_, index) => {
    const place = ((index + 0.5) * stretches) / count;
    const moment = Math.floor(place);
    const took = (moments[moment + 1]?.at ?? 0) - (moments[moment]?.at ?? 0);
    return { moment, afterMs: (place - moment) * took };
  });
}
