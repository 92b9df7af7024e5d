/**
 * Makes one measurement in its own process: `node measure.ts '{"contender": …, "workload": …}'` prints one line of
 * JSON. Every answer of every delegation is checked, and so is the number of tool calls. A wrong one ends the process
 * with 1.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { answerMany, answerOne, askMany, askOne, lookups } from "./script.mjs";

/** What a library is asked to do. */
interface Session {
  /** Starts a conversation. The function sends its parent agent a message and returns the answer. */
  conversation(): Promise<(message: string) => Promise<string>>;
  close(): Promise<void>;
}

interface Contender {
  open(storage: { readonly path: string | null; readonly durability: "full" | "relaxed" }): Promise<Session>;
}

export interface Measurement {
  readonly contender: string;
  readonly workload: "rate" | "fan-out" | "growth" | "bytes";
  readonly storage: "memory" | "full" | "relaxed";
  /** The children of a fan-out, the delegations of a session, or the seconds of a rate. */
  readonly size: number;
}

export interface Measured {
  /** Delegations per second, wall milliseconds, last tenth divided by first tenth, or bytes per delegation. */
  readonly value: number;
  /** The number of delegations that were measured. */
  readonly delegations: number;
  /** The peak memory of the process in MB. */
  readonly peakMb: number;
}

/** A session that takes longer is stopped, and measured up to here. */
const GROWTH_SECONDS = 60;

async function measure({ contender, workload, storage, size }: Measurement): Promise<Measured> {
  const library = (await import(`./contenders/${contender}.mjs`)) as Contender;
  const folder = mkdtempSync(join(tmpdir(), "errand-bench-"));
  const path = storage === "memory" ? null : join(folder, "store.db");
  const durability = storage === "relaxed" ? "relaxed" : "full";
  const open = (): Promise<Session> => library.open({ path, durability });
  // In memory measure processor time, which other load on the machine does not change. With a disk measure wall time.
  const clock = storage === "memory" ? processorMs : () => performance.now();
  let asked = 0;

  async function delegate(ask: (message: string) => Promise<string>): Promise<void> {
    asked += 1;
    assert.equal(await ask(askOne(asked)), answerOne(asked));
  }

  async function single(session: Session): Promise<void> {
    await delegate(await session.conversation());
  }

  async function forSeconds(session: Session, seconds: number): Promise<{ count: number; seconds: number }> {
    const begun = clock();
    const end = performance.now() + seconds * 1000;
    let count = 0;
    for (; performance.now() < end; count += 1) await single(session);
    return { count, seconds: (clock() - begun) / 1000 };
  }

  async function rate(): Promise<{ value: number; delegations: number }> {
    const session = await open();
    // Warm up first: V8 needs some ten thousand delegations to compile a large library.
    await forSeconds(session, size);
    const { count, seconds } = await forSeconds(session, size);
    await session.close();
    return { value: count / seconds, delegations: count };
  }

  async function fanOut(): Promise<{ value: number; delegations: number }> {
    const session = await open();
    const many = async (count: number): Promise<void> => {
      const ask = await session.conversation();
      asked += count;
      assert.equal(await ask(askMany(count)), answerMany(count));
    };
    await many(50);
    const begun = performance.now();
    await many(size);
    const value = performance.now() - begun;
    await session.close();
    return { value, delegations: size };
  }

  async function growth(): Promise<{ value: number; delegations: number }> {
    const session = await open();
    await forSeconds(session, 2);
    const ask = await session.conversation();
    const moments = [clock()];
    const end = performance.now() + GROWTH_SECONDS * 1000;
    while (moments.length <= size && performance.now() < end) {
      await delegate(ask);
      moments.push(clock());
    }
    await session.close();
    const delegations = moments.length - 1;
    const tenth = Math.ceil(delegations / 10);
    const between = (from: number, to: number): number => (moments[to] ?? 0) - (moments[from] ?? 0);
    return { value: between(delegations - tenth, delegations) / between(0, tenth), delegations };
  }

  /** The bytes on disk for one delegation, with `size` delegations in each conversation. */
  async function bytes(): Promise<{ value: number; delegations: number }> {
    const first = await open();
    await single(first);
    await first.close();
    const before = folderBytes(folder);
    const session = await open();
    const delegations = size === 1 ? 200 : size;
    if (size === 1) for (let count = 0; count < delegations; count += 1) await single(session);
    else {
      const ask = await session.conversation();
      for (let count = 0; count < delegations; count += 1) await delegate(ask);
    }
    await session.close();
    return { value: (folderBytes(folder) - before) / delegations, delegations };
  }

  try {
    const measured = await { rate, "fan-out": fanOut, growth, bytes }[workload]();
    assert.equal(lookups.count, asked, "each child calls its tool once");
    return { ...measured, peakMb: process.resourceUsage().maxRSS / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The processor time of all threads of the process, in milliseconds. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The size of the files, after a checkpoint of the write-ahead log. */
function folderBytes(folder: string): number {
  const database = new DatabaseSync(join(folder, "store.db"));
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
  return readdirSync(folder).reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0);
}

const measured = await measure(JSON.parse(process.argv[2] ?? "") as Measurement);
process.stdout.write(`${JSON.stringify(measured)}\n`);
// Some libraries keep timers or connections open.
process.exit(0);
