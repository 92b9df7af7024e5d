/** The faults of the table in docs/reliability.md: how each is made, and what must come of it. */

import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { createErrand, type ErrandError } from "../../../src/index.ts";
import { openStoreAt } from "../../../src/runtime/create-runtime.ts";
import { type Ended, heldUp, type Measured, measure } from "./measure.ts";
import { type AtEnd, canMount, siteIn, siteOnDisk, siteOnServer, siteOnServerDisk, type StoreKind } from "./site.ts";
import type { Subject } from "./start-subject.ts";
import type { Switch } from "./subject.ts";

export type FaultName =
  | "poisoned value"
  | "refused row"
  | "full disk"
  | "short lock"
  | "long lock"
  | "outage"
  | "late duties"
  | "killed"
  | "changing tool"
  | "throwing listener"
  | "rejecting channel"
  | "hanging channel"
  | "read-only disk";

export interface Fault {
  readonly name: FaultName;
  readonly store: StoreKind;
  /** Codes of what people are told while it lasts, each once. */
  readonly tells: readonly string[];
  /** What comes of a conversation that is begun while it lasts. */
  readonly during: string;
  /** False where this machine does not allow it to be made. */
  readonly possible?: boolean;
  run(atEnd: AtEnd): Promise<Measured>;
}

const LOCK_TABLES =
  "lock table errand.posts, errand.trees, errand.workers, errand.journal, errand.runs in access exclusive mode";

/** Holds the write lock of the file, as a database browser with an open transaction does. */
function lockFile(path: string): () => Promise<void> {
  const other = new DatabaseSync(path);
  other.exec("begin immediate");
  return async () => {
    other.exec("rollback");
    other.close();
  };
}

async function lockTables(url: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query("begin");
  await client.query(LOCK_TABLES);
  return async () => {
    await client.query("rollback");
    await client.end();
  };
}

/** A lock that another program holds for so long. */
async function locked(atEnd: AtEnd, kind: StoreKind, lastsMs: number): Promise<Measured> {
  const site = await siteIn(kind, atEnd);
  let unlock = async (): Promise<void> => undefined;
  return measure(await site.start(), (subject) =>
    heldUp(subject, {
      begin: async () => {
        unlock = kind === "SQLite" ? lockFile(site.store) : await lockTables(site.store);
      },
      end: () => unlock(),
      lastsMs,
    }),
  );
}

async function fullDisk(atEnd: AtEnd): Promise<Measured> {
  const { disk, start } = siteOnDisk(8_000_000, atEnd);
  return measure(await start(), (subject) =>
    heldUp(subject, { begin: async () => disk.fill(), end: async () => disk.empty(), lastsMs: 4_000 }),
  );
}

const MOST_FILLERS = 100;
const ANSWERED_WITHIN_MS = 1_500;
/** What a refused conversation wrote before its refusal takes room that the next one would have found. */
const REFUSALS = 5;

/**
 * Tables have room in their pages when the disk is full. Conversations use it up, until several in a row are refused.
 * Those that are accepted may wait for room, and are answered in the end.
 */
async function fillTables(subject: Subject): Promise<readonly Promise<readonly string[]>[]> {
  const begun: Promise<readonly string[]>[] = [];
  let refusals = 0;
  for (let number = 0; number < MOST_FILLERS; number += 1) {
    const one = subject.order("work", `filler-${number}`, 1);
    const outcome = await Promise.race([one, sleep(ANSWERED_WITHIN_MS, null)]);
    refusals = outcome?.join() === "store-full" ? refusals + 1 : 0;
    if (refusals === REFUSALS) return begun;
    if (refusals === 0) begun.push(one);
  }
  throw new Error(`the tables took ${MOST_FILLERS} conversations on a full disk`);
}

async function fullTables(atEnd: AtEnd): Promise<Measured> {
  const { disk, start } = await siteOnServerDisk(40_000_000, atEnd);
  return measure(await start(), async (subject) => {
    let fillers: readonly Promise<readonly string[]>[] = [];
    const ended = await heldUp(subject, {
      async begin() {
        disk.fill();
        fillers = await fillTables(subject);
      },
      end: async () => disk.empty(),
      lastsMs: 4_000,
    });
    const lost = (await Promise.all(fillers)).flat().filter((outcome) => outcome !== "answered");
    if (lost.length > 0) throw new Error(`conversations that were accepted came to: ${lost.join(", ")}`);
    return ended;
  });
}

async function outage(atEnd: AtEnd): Promise<Measured> {
  const { server, start } = await siteOnServer(atEnd);
  return measure(await start(), (subject) =>
    heldUp(subject, { begin: () => server.stop("immediate"), end: () => server.start(), lastsMs: 6_000 }),
  );
}

/** Something inside the process misbehaves; the turn that meets it, and the next one after it is mended. */
async function misbehaves(atEnd: AtEnd, kind: StoreKind, which: Switch, notices = 0): Promise<Measured> {
  const site = await siteIn(kind, atEnd);
  return measure(await site.start(), async (subject) => {
    await subject.order("switch", which, true);
    const during = await subject.order("work", "during", 1);
    // A delegation reaches its listeners once it is on disk, which may be after the answer.
    await subject.order("noticed", notices);
    await subject.order("switch", which, false);
    return next(subject, "next", during);
  });
}

async function next(subject: Subject, name: string, during: readonly string[]): Promise<Ended> {
  const endedAt = performance.now();
  const outcome = (await subject.order("work", name, 1)).join();
  if (outcome !== "answered") throw new Error(`the next conversation came to: ${outcome}`);
  return { endedAt, resumedAt: performance.now(), during: during.join() };
}

const ODD_REPLIES = 24;

/** Replies of every odd kind into one conversation, while others go on. Then the model is mended. */
async function poisoned(atEnd: AtEnd, kind: StoreKind): Promise<Measured> {
  const site = await siteIn(kind, atEnd);
  return measure(await site.start(), async (subject) => {
    await subject.order("begin", "odd");
    await subject.order("switch", "poisoned-model", true);
    for (let times = 0; times < ODD_REPLIES; times += 1) await subject.order("provoke", "odd");
    const during = await subject.order("work", "during", 1);
    await subject.order("switch", "poisoned-model", false);
    return once(subject, "odd", during);
  });
}

/** The same conversation once more, with its trouble gone. */
async function once(subject: Subject, name: string, during: readonly string[]): Promise<Ended> {
  const endedAt = performance.now();
  const outcome = await subject.order("again", name);
  if (outcome !== "answered") throw new Error(`the conversation came to: ${outcome}`);
  return { endedAt, resumedAt: performance.now(), during: during.join() };
}

/** One tree is quarantined while others go on. Then its cause is gone and a person resumes it. */
async function refusedRow(atEnd: AtEnd, kind: StoreKind): Promise<Measured> {
  const site = await siteIn(kind, atEnd);
  return measure(await site.start(), async (subject) => {
    await subject.order("begin", "refused");
    await subject.order("switch", "refused-row", true);
    const quarantined = await subject.order("provoke", "refused");
    if (quarantined !== "tree-quarantined") throw new Error(`a row that is refused came to: ${quarantined}`);
    const during = await subject.order("work", "during", 1);
    await subject.order("switch", "refused-row", false);
    await subject.order("resume", "refused");
    return once(subject, "refused", during);
  });
}

const CHANNEL_BROKEN_MS = 6_000;

/** Conversations go on; what is measured is when the message arrives that the channel did not take. */
async function brokenChannel(atEnd: AtEnd, kind: StoreKind, which: Switch): Promise<Measured> {
  const site = await siteIn(kind, atEnd);
  return measure(await site.start(), async (subject) => {
    await subject.order("begin", "muted");
    await subject.order("switch", which, true);
    const during = await subject.order("again", "muted");
    await sleep(CHANNEL_BROKEN_MS);
    const [state] = await subject.order("channels");
    if (state !== (which === "hanging-channel" ? "sending" : "retrying")) throw new Error(`the channel is ${state}`);
    await subject.order("switch", which, false);
    const endedAt = performance.now();
    await subject.order("delivered", "muted answered");
    return { endedAt, resumedAt: performance.now(), during };
  });
}

/** A worker that lives, but does not look for its mail, loses its trees to another one, and then works again. */
async function lateDuties(atEnd: AtEnd): Promise<Measured> {
  const site = await siteIn("PostgreSQL", atEnd);
  const other = await site.start();
  return measure(await site.start(), async (subject) => {
    await subject.order("hold", "held");
    await other.order("know", await subject.order("ids"), "held");
    await other.order("release");
    await subject.order("switch", "deaf", true);
    const during = await other.order("take", "held", false);
    await subject.order("switch", "deaf", false);
    const endedAt = performance.now();
    const outcome = await subject.order("held");
    if (outcome !== "answered") throw new Error(`the conversation that was taken came to: ${outcome}`);
    return { endedAt, resumedAt: performance.now(), during };
  });
}

/** The next process goes on with what the killed one had under way. */
async function killedFile(atEnd: AtEnd): Promise<Measured> {
  const site = await siteIn("SQLite", atEnd);
  const first = await site.start();
  await first.order("work", "earlier", 1);
  await first.order("hold", "held");
  const known = await first.order("ids");
  await first.kill();
  const endedAt = performance.now();
  const second = await site.start();
  await second.order("know", known, "held");
  await second.order("release");
  const during = await second.order("take", "held", true);
  const resumedAt = performance.now();
  return measure(second, async () => ({ endedAt, resumedAt, during }));
}

/** Another worker goes on with what the killed one had under way. */
async function killedWorker(atEnd: AtEnd): Promise<Measured> {
  const site = await siteIn("PostgreSQL", atEnd);
  const second = await site.start();
  return measure(second, async () => {
    const first = await site.start();
    await first.order("hold", "held");
    const known = await first.order("ids");
    await second.order("release");
    await first.kill();
    const endedAt = performance.now();
    const began = second.order("work", "during", 1);
    await second.order("know", known, "held");
    await second.order("take", "held", true);
    return { endedAt, resumedAt: performance.now(), during: (await began).join() };
  });
}

/** Readers read while the disk is read-only, new work is refused, and with the disk writable again a process works. */
async function readOnlyDisk(atEnd: AtEnd): Promise<Measured> {
  const { disk, start, store } = siteOnDisk(8_000_000, atEnd);
  const first = await start();
  await first.order("work", "earlier", 1);
  const known = await first.order("ids");
  await first.order("close");
  await first.kill();
  disk.setWritable(false);
  const view = await openStoreAt(store, "read");
  const trees = await view.trees({ limit: 10 });
  if (trees.length !== 1) throw new Error(`a reader found ${trees.length} conversations`);
  await view.close();
  const during = await createErrand({ store }).then(
    () => "opened",
    (error: ErrandError) => error.code,
  );
  disk.setWritable(true);
  const endedAt = performance.now();
  const second = await start();
  await second.order("know", known, "");
  await second.order("work", "next", 1);
  const resumedAt = performance.now();
  return measure(second, async () => ({ endedAt, resumedAt, during }));
}

const STORES: readonly StoreKind[] = ["SQLite", "PostgreSQL"];

/** The same fault on both stores. */
function both(
  name: FaultName,
  tells: readonly string[],
  during: string,
  run: (atEnd: AtEnd, kind: StoreKind) => Promise<Measured>,
): readonly Fault[] {
  return STORES.map((store) => ({ name, store, tells, during, run: (atEnd) => run(atEnd, store) }));
}

/** The longest first: they run beside one another. */
export const FAULTS: readonly Fault[] = [
  {
    name: "late duties",
    store: "PostgreSQL",
    tells: ["duty-late", "tree-taken"],
    during: "answered",
    run: lateDuties,
  },
  {
    name: "long lock",
    store: "PostgreSQL",
    tells: ["store-busy"],
    during: "answered",
    run: (atEnd) => locked(atEnd, "PostgreSQL", 13_000),
  },
  {
    name: "long lock",
    store: "SQLite",
    tells: ["store-busy"],
    during: "answered",
    run: (atEnd) => locked(atEnd, "SQLite", 12_000),
  },
  { name: "outage", store: "PostgreSQL", tells: ["store-unreachable"], during: "answered", run: outage },
  ...both("rejecting channel", [], "answered", (atEnd, kind) => brokenChannel(atEnd, kind, "rejecting-channel")),
  ...both("hanging channel", [], "answered", (atEnd, kind) => brokenChannel(atEnd, kind, "hanging-channel")),
  {
    name: "full disk",
    store: "SQLite",
    tells: ["store-full"],
    during: "store-full",
    possible: canMount,
    run: fullDisk,
  },
  {
    name: "full disk",
    store: "PostgreSQL",
    tells: ["store-full"],
    during: "store-full",
    possible: canMount,
    run: fullTables,
  },
  ...both("short lock", [], "answered", (atEnd, kind) => locked(atEnd, kind, 2_000)),
  { name: "killed", store: "PostgreSQL", tells: [], during: "answered", run: killedWorker },
  { name: "killed", store: "SQLite", tells: [], during: "answered", run: killedFile },
  ...both("poisoned value", [], "answered", poisoned),
  ...both("refused row", ["tree-quarantined"], "answered", refusedRow),
  ...both("changing tool", [], "answered", (atEnd, kind) => misbehaves(atEnd, kind, "changing-tool")),
  ...both("throwing listener", ["listener-failed", "listener-failed"], "answered", (atEnd, kind) =>
    misbehaves(atEnd, kind, "throwing-listener", 2),
  ),
  {
    name: "read-only disk",
    store: "SQLite",
    tells: [],
    during: "store-unreadable",
    possible: canMount,
    run: readOnlyDisk,
  },
];
