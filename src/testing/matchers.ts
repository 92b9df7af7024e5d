/**
 * Matchers for vitest and for other runners with `expect.extend`. They read the journal, so they see what is durable.
 */

import type { Fact } from "../core/event.ts";
import type { JournalRow, RunStatus } from "../core/journal/journal.ts";
import { replayVerdict } from "../core/journal/replay.ts";
import type { Errand } from "../runtime/errand.ts";
import { treeEventOf } from "../view/tree-event.ts";

/** What a matcher tells its runner. */
export interface MatcherResult {
  readonly pass: boolean;
  message(): string;
}

/** The matchers as an assertion has them. Each is asynchronous: write `await expect(errand)…`. */
export interface ErrandMatchers {
  /** The run has ended exactly once, with this status. Default: `ok`. */
  toHaveEndedOnce(run: string, status?: RunStatus): Promise<void>;
  /** The outcome of the run reached its parent's context exactly once. */
  toHaveDelivered(run: string): Promise<void>;
  /** The journal of the tree is proven: every decision and every context comes out the same again. */
  toReplay(tree: string): Promise<void>;
  /** Agents of the tree called the tool so many times. Default: once. Attempts after a crash do not count. */
  toHaveCalledTool(tree: string, tool: string, times?: number): Promise<void>;
}

/** For `expect.extend(errandMatchers)`. */
export const errandMatchers = {
  async toHaveEndedOnce(errand: Errand, run: string, status: RunStatus = "ok"): Promise<MatcherResult> {
    const { tree, name, number, ...record } = await errand.getRun(run);
    const ends = (await factsOf(errand, tree)).filter((fact) => fact.type === "run-ended" && fact.run === number);
    const found = `it ended ${times(ends.length)}: ${record.status ?? record.state}${because(record.reason)}`;
    return {
      pass: ends.length === 1 && record.status === status,
      message: () => `expected the run "${name}" to have ended once with "${status}": ${found}`,
    };
  },
  async toHaveDelivered(errand: Errand, run: string): Promise<MatcherResult> {
    const { tree, name, number, delivery, undeliverable } = await errand.getRun(run);
    const facts = await factsOf(errand, tree);
    const delivered = facts.filter((fact) => delivers(fact, number)).length;
    return {
      pass: delivered === 1 && delivery === "placed",
      message: () =>
        `expected the outcome of the run "${name}" to have reached its parent once: ` +
        `it did ${times(delivered)}, and its delivery is "${delivery}"${because(undeliverable)}`,
    };
  },
  async toReplay(errand: Errand, tree: string): Promise<MatcherResult> {
    const verdict = replayVerdict(await errand.replay(tree));
    return { pass: verdict === "proven", message: () => `expected the tree ${tree} to be proven: it is ${verdict}` };
  },
  async toHaveCalledTool(errand: Errand, tree: string, tool: string, count = 1): Promise<MatcherResult> {
    const calls = (await factsOf(errand, tree)).filter((fact) => fact.type === "tool-called" && fact.name === tool);
    return {
      pass: calls.length === count,
      message: () => `expected ${tool} to have been called ${times(count)}: it was called ${times(calls.length)}`,
    };
  },
} as const;

function delivers(fact: Fact, run: number): boolean {
  if (fact.type === "tool-answered" || fact.type === "message-sent") return fact.run === run;
  return fact.type === "turn-started" && fact.placed?.some((placed) => placed === run) === true;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function because(reason: string | null): string {
  return reason === null ? "" : ` (${reason})`;
}

/** All facts of a tree, without inputs that came too late. */
async function factsOf(errand: Errand, tree: string): Promise<readonly Fact[]> {
  const facts: Fact[] = [];
  for await (const line of errand.export(tree)) {
    const row = JSON.parse(line) as Partial<JournalRow>;
    const { seq, head, body = null, hash } = row;
    if (seq === undefined || head === undefined || hash === undefined) continue;
    const event = treeEventOf(tree, { seq, head, body, hash });
    if (event.rejected === null) facts.push(...event.facts);
  }
  return facts;
}
