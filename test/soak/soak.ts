/**
 * One soak: a process does the work, this one watches it, disturbs it, kills it, and keeps the ledger.
 *
 * Invariants:
 *  1. In the first part nothing is killed, so that heap and descriptors of one process can be compared; kills come in
 *     the second.
 *  2. Every conversation ends within the bound, by its answers and messages or by a typed failure.
 *  3. It ends by itself, whatever the process does.
 */

import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { disturb, type Disturbed } from "./disturb.ts";
import type { SoakFault } from "./faults.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { DESCRIPTOR_SLACK, type Growth, growthOf, HEAP_SLACK, type Level } from "./levels.ts";
import type { SoakPlace } from "./places.ts";
import { PROBES } from "./probes.ts";
import { startWorker, type SoakWorker } from "./start-worker.ts";

export interface SoakOptions {
  readonly seconds: number;
  readonly place: SoakPlace;
  readonly faults: readonly SoakFault[];
  readonly leaks?: boolean;
  /** Conversations at a time. */
  readonly width?: number;
  /** Told every ten seconds. */
  readonly onProgress?: (line: string) => void;
}

export interface SoakResult extends Readonly<Disturbed> {
  readonly findings: readonly string[];
  readonly seconds: number;
  readonly conversations: number;
  readonly failed: number;
  readonly kills: number;
  /** Conversations that met an odd, endless or dripping reply, and were answered afterwards. */
  readonly probes: number;
  /** Trees that were quarantined, and released as a person does it. */
  readonly released: number;
  /** How often the process was given a notice that the disk is full, or that it is no longer. */
  readonly fullNotices: number;
  /** Messages that came again under the same id, as they may after a kill. */
  readonly repeated: number;
  readonly proven: number;
  /** The longest that a conversation took. */
  readonly slowestMs: number;
  readonly heap: Growth;
  readonly descriptors: Growth;
}

const WIDTH = 16;
const TICK_MS = 50;
const PROGRESS_MS = 10_000;
/** A conversation takes a second or two; what takes so much longer is stuck. */
const STUCK_MS = 60_000;
/**
 * Of the time, what is not disturbed by kills; and of that, what is not looked at, because a process grows until it is
 * warm.
 */
const STEADY = 0.6;
const WARM = 0.35;
const LEVELS = 24;
const PROVEN = 40;
const PROBE_EVERY_MS = 500;
const PROBE_WIDTH = 4;
const CLOSE_MS = 20_000;
const MOST_FINDINGS = 20;

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { place } = options;
  const began = performance.now();
  const now = (): number => performance.now() - began;
  const whole = options.seconds * 1_000;
  const ledger = createLedger((number) => worker.order({ do: "over", number }));
  const levels: Level[] = [];
  const verdicts = new Map<string, string>();
  const counted = { kills: 0, probes: 0, released: 0, fullNotices: 0 };
  const probes = PROBES.filter((kind) => options.faults.includes(kind));
  let probing = 0;
  let rested: readonly string[] | null = null;
  let ending = false;
  let reported = 0;
  const has = (fault: SoakFault): boolean => options.faults.includes(fault);

  const start = (): Promise<SoakWorker> =>
    startWorker(
      { store: place.store, toolFile: place.toolFile, faults: options.faults, leaks: options.leaks === true },
      (told) => {
        if (told.told === "opened") ledger.opened(told.number, told.tree);
        if (told.told === "answered") ledger.answered(told.number, told.post, told.text, now());
        if (told.told === "failed" && !ending) ledger.failed(told.number, told.code, now());
        if (told.told === "delivered") ledger.delivered(told.tree, told.id, told.text, told.repeated, now());
        if (told.told === "level" && now() > whole * STEADY * WARM && now() < whole * STEADY)
          levels.push({ at: now(), ...told });
        if (told.told === "released") counted.released += 1;
        if (told.told === "notice" && told.code === "store-full") counted.fullNotices += 1;
        if (told.told === "probed") probeEnded(told.problem);
        if (told.told === "rested") rested = told.left;
        if (told.told === "verdict") verdicts.set(told.tree, told.verdict);
        if (told.told === "broken") ledger.findings.push(`the runtime failed: ${told.code}: ${told.message}`);
      },
    );

  let worker = await start();

  async function kill(): Promise<void> {
    counted.kills += 1;
    await worker.kill();
    // Nobody waits for the probes of the killed process any more. Their trees come to rest by themselves.
    probing = 0;
    worker = await start();
    for (const { number, tree } of ledger.open()) worker.order({ do: "talk", number, tree });
  }

  function probeEnded(problem: string | null): void {
    if (problem !== null && !ending) ledger.findings.push(problem);
    probing = Math.max(0, probing - 1);
    counted.probes += 1;
  }

  function stillFine(): boolean {
    if (worker.gone !== null && !ending) {
      ledger.findings.push(`the process ended by itself (${worker.gone}): ${worker.errors().slice(-500)}`);
      return false;
    }
    const [stuck] = ledger.stuck(now() - STUCK_MS);
    if (stuck !== undefined) ledger.findings.push(`conversation-${stuck.number} has not ended after ${STUCK_MS} ms`);
    for (const finding of ledger.findings.slice(reported)) options.onProgress?.(`found: ${finding}`);
    reported = ledger.findings.length;
    return reported === 0;
  }

  const disturbing = disturb(place, options.faults, whole, now);
  let probed = 0;
  let told = 0;
  let measured = 0;
  const killEvery = Math.max(3_000, Math.min(30_000, whole / 8));
  let nextKill = whole * STEADY;
  while (now() < whole && stillFine()) {
    while (ledger.open().length < (options.width ?? WIDTH))
      worker.order({ do: "talk", number: ledger.begin(now()).number, tree: null });
    if (now() - measured > (whole * STEADY * (1 - WARM)) / LEVELS) {
      measured = now();
      worker.order({ do: "measure" });
    }
    const kind = probes[counted.probes % probes.length];
    if (kind !== undefined && probing < PROBE_WIDTH && now() - probed > PROBE_EVERY_MS) {
      probed = now();
      probing += 1;
      worker.order({ do: "probe", kind });
    }
    // A new process could not open the store.
    if (has("kill") && now() > nextKill && !disturbing.closed()) {
      nextKill = now() + killEvery;
      await kill();
    }
    if (now() - told > PROGRESS_MS) {
      told = now();
      options.onProgress?.(progress(ledger, now(), levels.at(-1), { ...counted, ...disturbing.counted }));
    }
    await sleep(TICK_MS);
  }
  const wait = now() + STUCK_MS;
  while ((ledger.open().length > 0 || (probing > 0 && now() < wait)) && stillFine()) await sleep(TICK_MS);
  await disturbing
    .stop()
    .catch((error: unknown) => void ledger.findings.push(`a disturbance failed: ${String(error)}`));
  if (probing > 0) ledger.findings.push(`${probing} conversations with odd replies have not ended`);
  if (ledger.findings.length === 0) await rest();
  if (ledger.findings.length === 0) await prove();
  ending = true;
  if (!(await worker.close(CLOSE_MS))) ledger.findings.push(`the process did not close within ${CLOSE_MS} ms`);
  if (ledger.findings.length === 0) ledger.judge(linesOf(place.toolFile));
  const heap = growthOf(
    levels.map((level) => level.heap),
    HEAP_SLACK,
  );
  const descriptors = growthOf(
    levels.map((level) => level.descriptors),
    DESCRIPTOR_SLACK,
  );
  if (!heap.flat) ledger.findings.push(`the heap grew from ${heap.from} to ${heap.to} bytes`);
  if (!descriptors.flat) ledger.findings.push(`descriptors grew from ${descriptors.from} to ${descriptors.to}`);
  const all = [...ledger.conversations.values()];
  return {
    findings: [...new Set(ledger.findings)].slice(0, MOST_FINDINGS),
    seconds: now() / 1_000,
    conversations: all.length,
    failed: all.filter((one) => one.failed !== null).length,
    ...counted,
    ...disturbing.counted,
    repeated: ledger.repeated,
    proven: [...verdicts.values()].filter((verdict) => verdict === "proven").length,
    slowestMs: Math.round(all.reduce((most, { since, endedAt }) => Math.max(most, (endedAt ?? now()) - since), 0)),
    heap,
    descriptors,
  };

  async function rest(): Promise<void> {
    worker.order({ do: "rest" });
    const end = now() + STUCK_MS;
    while (rested === null && now() < end && worker.gone === null) await sleep(TICK_MS);
    if (rested === null) ledger.findings.push("the process did not say which trees are at rest");
    else if (rested.length > 0)
      ledger.findings.push(`trees that do not come to rest: ${rested.slice(0, 3).join(", ")}`);
  }

  /** Proves some of the journals, evenly spread. */
  async function prove(): Promise<void> {
    const trees = [...ledger.conversations.values()].flatMap(({ tree }) => (tree === null ? [] : [tree]));
    const every = Math.max(1, Math.floor(trees.length / PROVEN));
    const sample = trees.filter((_, index) => index % every === 0);
    for (const tree of sample) worker.order({ do: "prove", tree });
    const end = now() + STUCK_MS;
    while (verdicts.size < sample.length && now() < end && worker.gone === null) await sleep(TICK_MS);
    for (const tree of sample) {
      const verdict = verdicts.get(tree) ?? "no verdict";
      if (verdict !== "proven") ledger.findings.push(`the journal of ${tree}: ${verdict}`);
    }
  }
}

function progress(
  ledger: Ledger,
  now: number,
  level: Level | undefined,
  {
    kills,
    locks,
    fullDisks,
    outages,
    probes,
    released,
  }: Pick<SoakResult, keyof Disturbed | "kills" | "probes" | "released">,
): string {
  const open = ledger.open().length;
  const heap = level === undefined ? "?" : (level.heap / 1_000_000).toFixed(1);
  const descriptors = level?.descriptors ?? "?";
  return (
    `${Math.round(now / 1_000)} s: ${ledger.conversations.size - open} conversations ended, ${open} open, ${kills} kills, ` +
    `${locks} locks, ${fullDisks} full disks, ${outages} outages, ${probes} odd replies, ${released} released, ${heap} MB, ${descriptors} descriptors, ${ledger.findings.length} findings`
  );
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
