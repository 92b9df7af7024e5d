/**
 * The program that crash tests kill. It opens a store, carries the reference conversations to their end, whatever an
 * earlier life of it has left, and exits with 0. What the store or a channel acknowledged is on its standard output as
 * JSON lines, written at once.
 *
 * `program.ts OPTIONS` with OPTIONS as JSON, see `ProgramOptions`; or a list of them, for several stores one after the
 * other. Exit codes: 0 all done, or closed on SIGTERM; 2 a failure with a code, which is the last line; a death by
 * signal is the test's doing.
 */

import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { type Agent, createErrand, type Errand, ErrandError, type Store, type World } from "../../src/index.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { createSystemWorld } from "../../src/runtime/world.ts";
import { runKeyed } from "./keyed-run.ts";
import { runDeadlines, runRestart } from "./program-modes.ts";
import type { ProgramOptions, Tell } from "./program-options.ts";
import { DEFINITIONS, GO, MORE, type Pause, referenceChannel, referenceModels, referenceTools } from "./reference.ts";

function tellTo(file: number): Tell {
  return (line) => void writeSync(file, `${JSON.stringify(line)}\n`);
}

const RETRY_FULL_MS = 100;

/** New work is refused while the disk is full; whoever brings it waits and asks again. */
async function untilRoom<Result>(tell: Tell, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ErrandError) || error.code !== "store-full") throw error;
      tell({ full: true });
      await sleep(RETRY_FULL_MS);
    }
  }
}

/** Opens the store, and says through which connection it writes. */
async function openWithConnection(path: string): Promise<{ store: Store; connection: DatabaseSync | null }> {
  const { exec } = DatabaseSync.prototype;
  const writers: DatabaseSync[] = [];
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql) {
    if (sql === "pragma journal_mode = wal") writers.push(this);
    exec.call(this, sql);
  };
  try {
    const store = await openStoreAt(path, "own");
    return { store, connection: writers[0] ?? null };
  } finally {
    DatabaseSync.prototype.exec = exec;
  }
}

/** The store, dying where it is told to, full where it is told to, and telling what it has committed. */
async function storeFor(options: ProgramOptions, tell: Tell): Promise<Store | string> {
  const { kill, tellCommits = false, pagesFile } = options;
  if (kill === undefined && !tellCommits && pagesFile === undefined) return options.store;
  const { store, connection } = await openWithConnection(options.store);
  let commits = 0;
  const die = (when: "before" | "after"): void => {
    if (kill?.when === when && "commit" in kill && kill.commit === commits) process.kill(process.pid, "SIGKILL");
  };
  die("after");
  return {
    ...store,
    async commit(commit) {
      commits += 1;
      die("before");
      if (pagesFile !== undefined) connection?.exec(`pragma max_page_count = ${readFileSync(pagesFile, "utf8")}`);
      await store.commit(commit);
      if (tellCommits) tell({ commit: commits, wal: statSync(`${options.store}-wal`).size });
      die("after");
    },
  };
}

function worldFor({ wallFile }: ProgramOptions): World {
  const world = createSystemWorld();
  if (wallFile === undefined) return world;
  return { ...world, wall: () => world.wall() + Number(readFileSync(wallFile, "utf8")) };
}

async function conversation(errand: Errand, name: string, agent: Agent, tell: Tell): Promise<void> {
  const ask = async (id: string, text: string): Promise<void> => {
    await untilRoom(tell, () => agent.post(text, { id }));
    tell({ posted: id, tree: agent.id });
    const reply = await untilRoom(tell, () => agent.postAndAwait(text, { id }));
    tell({ replied: id, tree: agent.id, text: reply.text });
  };
  await ask(`${name}-go`, `${GO} ${name}.`);
  let turns = 0;
  for await (const event of errand.journal(agent.id)) {
    turns += event.facts.filter((fact) => fact.type === "turn-ended" && fact.agent === 0).length;
    if (turns >= 2) break;
  }
  await ask(`${name}-more`, `${MORE} ${name}?`);
}

async function tellRows(errand: Errand, tree: string, tell: Tell): Promise<void> {
  for await (const { seq, facts } of errand.journal(tree)) tell({ seen: seq, tree, facts: JSON.stringify(facts) });
}

/**
 * The n-th tree of the store is the n-th conversation, also when the process died before it could say that it had made
 * it.
 */
async function conversations(errand: Errand, options: ProgramOptions, pause: Pause, tell: Tell): Promise<void> {
  const channel = referenceChannel(options.channelFile, pause, tell);
  const known = (await errand.listTrees({ limit: 100_000 })).map((tree) => tree.id).toReversed();
  const talks: Promise<void>[] = [];
  for (let number = 1; number <= (options.conversations ?? 1); number += 1) {
    const id = known[number - 1];
    const agent = await (id === undefined
      ? untilRoom(tell, () => errand.openAgent({ channel }))
      : errand.agent(id, { channel }));
    tell({ opened: agent.id, conversation: number });
    if (options.tellRows === true) void tellRows(errand, agent.id, tell);
    const talk = conversation(errand, `conversation-${number}`, agent, tell);
    // Looked at in the end, by all of them.
    talk.catch(() => undefined);
    talks.push(talk);
  }
  await Promise.all(talks);
}

/**
 * Says why, asks for one more thing to see whether it is still taken, and ends the process: the next life of it goes on
 * from what the store holds.
 */
function createFailing(tell: Tell): { readonly failed: (error: unknown) => void; watch(errand: Errand): void } {
  let errand: Errand | null = null;
  let once = false;
  async function stillTaken(opened: Errand): Promise<string> {
    try {
      await opened.openAgent();
      return "taken";
    } catch (refusal) {
      return refusal instanceof ErrandError ? refusal.code : String(refusal);
    }
  }
  async function end(failure: unknown): Promise<void> {
    const code = failure instanceof ErrandError ? failure.code : null;
    if (once || code === "shutting-down") return;
    once = true;
    tell({ failed: code, message: String(failure) });
    if (errand !== null) tell({ afterwards: await stillTaken(errand) });
    process.exit(2);
  }
  return { failed: (error) => void end(error), watch: (opened) => void (errand = opened) };
}

async function main(
  options: ProgramOptions,
  tell: Tell,
  { failed, watch }: ReturnType<typeof createFailing>,
): Promise<void> {
  const { pauseMs = 0, closeWithinMs = 5_000 } = options;
  const pause: Pause = pauseMs === 0 ? null : () => sleep(Math.random() * pauseMs);
  const world = worldFor(options);
  const open = async (more: Partial<Parameters<typeof createErrand>[0]> = {}): Promise<Errand> =>
    createErrand({
      store: await storeFor(options, tell),
      models: [referenceModels(pause)],
      tools: referenceTools(options.toolFile, pause, tell),
      agents: DEFINITIONS,
      world,
      onFailure: failed,
      ...more,
    });
  if (options.mode === "deadlines") return runDeadlines(open, world, options, tell);
  if (options.mode === "open-runs" || options.mode === "restart") return runRestart(open, options, tell);
  if (options.mode === "keyed-run") return runKeyed(open, options, tell);
  const errand = await open();
  watch(errand);
  const onTerm = (): void => {
    tell({ closing: true });
    errand.close({ withinMs: closeWithinMs }).then(() => process.exit(0), failed);
  };
  process.on("SIGTERM", onTerm);
  tell({ started: process.pid, recovered: errand.recovered });
  await conversations(errand, options, pause, tell);
  if (options.kill?.when === "done") process.kill(process.pid, "SIGKILL");
  await errand.close();
  tell({ done: true });
  process.off("SIGTERM", onTerm);
}

const given = JSON.parse(process.argv[2] ?? "{}") as ProgramOptions | readonly ProgramOptions[];
for (const options of Array.isArray(given) ? (given as readonly ProgramOptions[]) : [given as ProgramOptions]) {
  const file = options.record === undefined ? 1 : openSync(options.record, "a");
  const tell = tellTo(file);
  const failing = createFailing(tell);
  await main(options, tell, failing).catch(failing.failed);
  if (file !== 1) closeSync(file);
}
