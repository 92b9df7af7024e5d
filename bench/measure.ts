/**
 * One measurement in a process of its own: `node measure.ts '{"contender": …, "workload": …}'` prints one line of JSON. Every answer of every
 * delegation is compared with what it must be, and so is the number of tool calls; a wrong one ends the process with 1.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { answerMany, answerOne, askMany, askOne, lookups } from "./script.mjs";

/** What a library is asked to do. */
interface Session {
  /** A new conversation: asks its parent agent, and gives what that answers. */
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
  /** Children of a fan-out, delegations of a session; seconds of a rate. */
  readonly size: number;
}

export interface Measured {
  /** Delegations a second, wall milliseconds, last tenth against first tenth, or bytes a delegation. */
  readonly value: number;
  /** How many delegations it is about. */
  readonly delegations: number;
  /** The most memory that the process ever held, in MB. */
  readonly peakMb: number;
}

/** A session that grows beyond all measure is cut here; what it did until then is what is told. */
const GROWTH_SECONDS = 60;

async function measure({ contender, workload, storage, size }: Measurement): Promise<Measured> {
  const library = (await import(`./contenders/${contender}.mjs`)) as Contender;
  const folder = mkdtempSync(join(tmpdir(), "errand-bench-"));
  const path = storage === "memory" ? null : join(folder, "store.db");
  const durability = storage === "relaxed" ? "relaxed" : "full";
  const open = (): Promise<Session> => library.open({ path, durability });
  // In memory there is only work to be measured, and others on the machine make a process wait, not work: processor time. Whoever waits for a
  // disk is measured by the wall.
  const clock = storage === "memory" ? worked : () => performance.now();
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
    // A rate is that of a process that has been at it for a while: V8 compiles a large library for some ten thousand delegations.
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

  /** What stays on disk for a delegation: of conversations of their own for size 1, else of one conversation of so many. */
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

/** Milliseconds of the processor, all threads of the process together. */
function worked(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** With what the write-ahead log still holds moved into the database. */
function folderBytes(folder: string): number {
  const database = new DatabaseSync(join(folder, "store.db"));
  database.exec("pragma wal_checkpoint(truncate)");
  database.close();
  return readdirSync(folder).reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0);
}

const measured = await measure(JSON.parse(process.argv[2] ?? "") as Measurement);
process.stdout.write(`${JSON.stringify(measured)}\n`);
// Some libraries keep timers or connections; nothing is left to do.
process.exit(0);
