/**
 * `npm run bench -- --kills`: what a SIGKILL does to one delegation, in Errand and its peers. A parent hands one item
 * to a child, the child calls one tool with a side effect, its result comes back and the parent answers.
 *
 * Each contender is killed at the same number of points. They are spread evenly over the moments that can be observed
 * from outside (a model asked, the tool begun). These are the same for every library; the times differ.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ENTRANTS, type Entrant } from "./kills/contenders.ts";
import { judge, mostCopies } from "./kills/judge.ts";
import { type KillPoint, killPoints, type Outcome, runDelegation } from "./kills/killed-run.ts";
import type { KillResult, KillResults, KillRow } from "./kills/table.ts";

const POINTS = 24;
const TRIES = 8;
/** A process that takes longer than this counts as hung. */
const PATIENCE_MS = 30_000;

export async function killAll(only: readonly string[], say: (line: string) => void): Promise<KillResults> {
  const entrants = ENTRANTS.filter(({ name }) => only.length === 0 || only.some((wanted) => name.startsWith(wanted)));
  const rows: KillRow[] = [];
  for (const entrant of entrants) rows.push(await killedRow(entrant, POINTS, say));
  const packages = [...new Set(entrants.flatMap(({ packages }) => packages))];
  const versions = [`errand ${versionIn(join(import.meta.dirname, ".."))}`, ...packages.map(versionOf)];
  return { date: new Date().toISOString().slice(0, 10), node: process.versions.node, versions, rows };
}

async function killedRow(entrant: Entrant, points: number, say: (line: string) => void): Promise<KillRow> {
  const { title, background, how, notClaimed } = entrant;
  const mode = background ? "background" : "awaited";
  // The first run only warms up the disk cache.
  await runDelegation(entrant, { number: 1, kill: null, patienceMs: PATIENCE_MS });
  const whole = await runDelegation(entrant, { number: 2, kill: null, patienceMs: PATIENCE_MS });
  const copies = mostCopies(whole.log.calls, whole.log.item);
  const verdict = judge(whole.log, copies);
  if (verdict.ending !== "right" || verdict.effectTwice || verdict.paidAgain > 0 || copies === 0)
    throw new Error(
      `${title}, ${mode}, fails without a kill: ${JSON.stringify({ ...verdict, error: whole.log.error })}`,
    );
  const kills: KillResult[] = [];
  for (const [index, kill] of killPoints(whole.moments, points).entries()) {
    // On a busy machine a kill may come after the next moment. Then it is repeated, earlier after its own moment, so
    // that all contenders are killed between the same moments.
    let outcome = await runDelegation(entrant, { number: 100 + index, kill, patienceMs: PATIENCE_MS });
    for (let tries = 1; !inTime(outcome, kill) && tries < TRIES; tries += 1) {
      const sooner = { ...kill, afterMs: kill.afterMs / 2 ** tries };
      outcome = await runDelegation(entrant, { number: 100 + index, kill: sooner, patienceMs: PATIENCE_MS });
    }
    if (!inTime(outcome, kill))
      throw new Error(`${title}, ${mode}: the kill at point ${index} was late ${TRIES} times`);
    const after = outcome.moments.at(-1)?.name ?? "nothing";
    const result: KillResult = { after, ...judge(outcome.log, copies), error: outcome.log.error };
    kills.push(result);
    say(`${title}, ${mode}, ${index + 1}/${points}: ${JSON.stringify(result)}`);
  }
  return { title, mode, how, ...(notClaimed && { notClaimed }), kills };
}

function inTime({ killed, moments }: Outcome, { moment }: KillPoint): boolean {
  return killed && moments.length === moment + 1;
}

function versionOf(name: string): string {
  return `${name} ${versionIn(join(import.meta.dirname, "node_modules", name))}`;
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}
