/**
 * The observer: it gets every commit and every request of all trees, checks them at once, and counts the paths that
 * were reached.
 */

import type { ProcessRights } from "../../src/core/permissions/process-rights.ts";
import { checkRights } from "./invariants/rights-facts.ts";
import type { ModelRequest } from "../../src/index.ts";
import type { Commit, TreeCommit } from "../../src/contracts/store.ts";
import type { Decided, Fact } from "../../src/core/event.ts";
import { headRead } from "../../src/core/journal/row.ts";
import { checkDeadline } from "./invariants/at-rest.ts";
import { createProvenJournal, type ProvenJournal } from "./invariants/proven-journal.ts";
import { checkSecret } from "./invariants/outside-checks.ts";
import { checkPlainRow } from "./invariants/plain-values.ts";
import { checkRequest } from "./invariants/requests.ts";
import { checkRow } from "./invariants/row.ts";
import { demand, Violation } from "./invariants/violation.ts";
import { agentById, type WatchedAgent, type WatchedTree, watchedTree } from "./invariants/watched-tree.ts";
import type { Outside } from "./outside.ts";
import type { Situation } from "./situation.ts";

export interface Watch {
  readonly trees: ReadonlyMap<string, WatchedTree>;
  /** The first violation. */
  failure: Violation | null;
  commits: number;
  /** Runs a check and records what it throws. */
  check(work: () => void): void;
  /**
   * `rights`: of the process that committed. `excuse`: the last moment at which the process was down or its disk full;
   * null after a reboot, which restarts monotonic time.
   */
  onCommitted(commit: Commit, now: number, excuse: number | null, rights: ProcessRights): void;
  /** After a loss of power: forgets all commits but these. */
  rewind(kept: ReadonlySet<Commit>): void;
  /** Checks a request, whose messages are also given as JSON, and returns the id of its agent. */
  onRequest(request: ModelRequest, messages: string, situation: Situation): string;
  /**
   * The last hashes of all journals, in the order of their trees' creation. Every byte of a row affects them.
   */
  digest(): string;
}

/** A commit or a request, and how to observe it again. */
interface Seen {
  readonly commit: Commit | null;
  readonly see: () => void;
}

/** How long after a trouble all trees are back in memory. */
export const CALM_MS = 1_000;

export function createWatch(
  slots: number,
  outside: Outside,
  counted: (what: string) => void,
  onQuestion: (tree: string, key: string) => void,
  quarantined: () => string | null = () => null,
): Watch {
  const trees = new Map<string, WatchedTree>();
  const journals = new Map<string, ProvenJournal>();
  let seen: Seen[] = [];
  /** True while earlier commits are observed again: they are not counted or reported twice. */
  let again = false;
  const count = (what: string): void => (again ? undefined : counted(what));

  function check(work: () => void): void {
    try {
      work();
    } catch (error) {
      watch.failure ??=
        error instanceof Violation
          ? error
          : new Violation("onlooker", String(error instanceof Error ? error.stack : error));
    }
  }

  function runningElsewhere(tree: WatchedTree): number {
    let running = 0;
    for (const other of trees.values()) {
      // A quarantined tree releases its slots.
      if (other === tree || other.id === quarantined()) continue;
      for (const run of other.runs.values()) if (run.state === "running") running += 1;
    }
    return running;
  }

  /**
   * Runs that later trees of this commit end or make wait: within a commit one tree may use a slot that another
   * releases.
   */
  function leavingLater(commit: Commit, part: TreeCommit): number {
    const later = commit.trees.slice(commit.trees.indexOf(part) + 1);
    const events = later.flatMap(({ rows }) => rows.flatMap((row) => headRead(row.head).events ?? []));
    return events.filter(leaves).length;
  }

  function take(commit: Commit, part: TreeCommit, now: number, excuse: number | null, rights: ProcessRights): void {
    const tree = trees.get(part.tree) ?? watchedTree(part.tree, part.create?.agent ?? "");
    const journal = journals.get(part.tree) ?? createProvenJournal();
    trees.set(part.tree, tree);
    journals.set(part.tree, journal);
    for (const blob of part.blobs) journal.learn(blob.hash, blob.text);
    for (const { text } of [...part.blobs, ...part.outbox]) checkSecret("a blob or the outbox", text);
    if (part.snapshot !== undefined) checkSecret("a snapshot", part.snapshot.text);
    if (part.create !== undefined && outside.speaking.has(part.create.agent)) {
      const second = part.rows[1];
      demand(
        "I12",
        second !== undefined && headRead(second.head).input.type === "message-posted",
        () => "a tree was opened without the message that it was to be opened with",
      );
    }
    const free = slots - runningElsewhere(tree) + leavingLater(commit, part);
    for (const row of part.rows) {
      // A tree that left memory because the disk was full releases its slots until it is loaded again.
      const calm = excuse !== null && now > excuse + CALM_MS;
      checkSecret(`row ${row.seq}`, row.head);
      checkPlainRow(row);
      checkSecret(`row ${row.seq}`, row.body);
      const head = headRead(row.head);
      const facts = checkRow(tree, row, head, now, calm ? free : Number.POSITIVE_INFINITY);
      checkRights(tree, rights, row.seq);
      journal.take(row);
      if (facts.length === 0) count(`late ${head.input.type}`);
      for (const fact of facts) {
        countFact(tree, fact, count);
        if (fact.type === "question-asked" && !again) onQuestion(tree.id, `${row.seq}.${fact.n}`);
        const ended = fact.type === "run-ended" ? tree.runs.get(fact.run) : undefined;
        if (ended !== undefined && excuse !== null) checkDeadline(ended, excuse);
      }
    }
    const asked = tree.questions.size;
    demand(
      "I6",
      part.questions === asked,
      () => `${asked} questions are open, the tree's record says ${part.questions}`,
    );
  }

  function speaker(request: ModelRequest, situation: Situation): { tree: WatchedTree; agent: WatchedAgent } | null {
    for (const tree of trees.values()) {
      const root = situation.agent === null && request.model === `sim/${tree.definition}`;
      const agent = root ? tree.agents.get(0) : agentById(tree, situation.agent ?? "");
      if (agent !== undefined) return { tree, agent };
    }
    return null;
  }

  const watch: Watch = {
    trees,
    commits: 0,
    failure: null,
    check,
    onCommitted(commit, now, excuse, rights) {
      watch.commits += 1;
      seen.push({ commit, see: () => watch.onCommitted(commit, now, excuse, rights) });
      check(() => {
        for (const part of commit.trees) take(commit, part, now, excuse, rights);
      });
      for (const { tree, key } of commit.acknowledged) outside.acknowledged.add(`${tree}/${key}`);
    },
    rewind(kept) {
      const before = seen;
      seen = [];
      trees.clear();
      journals.clear();
      outside.acknowledged.clear();
      again = true;
      watch.commits = 0;
      for (const { commit, see } of before) {
        // Requests after a lost commit are observed again when they are repeated.
        if (commit !== null && !kept.has(commit)) break;
        see();
      }
      again = false;
    },
    onRequest(request, messages, situation) {
      // The context owns the list of messages and appends to it later.
      const asGiven = (): ModelRequest => ({ ...request, messages: JSON.parse(messages) as ModelRequest["messages"] });
      seen.push({ commit: null, see: () => void watch.onRequest(asGiven(), messages, situation) });
      const found = speaker(request, situation);
      if (messages.includes("original_bytes")) count("result cut");
      if (messages.includes('\\"final\\":false')) count("final report postponed");
      check(() => {
        if (found === null) throw new Violation("I19", "a model is called for an agent that no row has made");
        const { tree, agent } = found;
        const author = (token: string): number | null =>
          agentById(tree, outside.authors.get(token) ?? "")?.number ?? null;
        const expected = journals.get(tree.id)?.request(agent.number) ?? null;
        checkRequest({ tree, agent, request, given: messages, compacting: situation.compacting, expected, author });
      });
      return found?.agent.id ?? "";
    },
    digest() {
      return [...trees.values()].map((tree) => tree.rows.at(-1)?.hash ?? "").join();
    },
  };
  return watch;
}

function leaves(event: Decided): boolean {
  return event.type === "run-ended" || (event.type === "run-state-changed" && event.state !== "running");
}

function countFact(tree: WatchedTree, fact: Fact, count: (what: string) => void): void {
  count(`fact ${fact.type}`);
  if (fact.type === "run-ended") count(`end ${fact.status} ${fact.reason ?? ""}`.trim());
  if (fact.type === "run-ended") count(`report ${fact.report}`);
  if (fact.type === "run-ended" && fact.final === true) count("ended by a final report");
  if (fact.type === "run-ended" && fact.closed !== undefined) count("closing call failed");
  if (fact.type === "run-undeliverable") count(`undeliverable ${fact.reason}`);
  if (fact.type === "turn-ended") count(`turn ${fact.outcome} ${fact.reason ?? ""}`.trim());
  if (fact.type === "run-state-changed" && fact.state === "needs_input") count("parked run");
  if (fact.type === "question-asked" && fact.agent === 0) count("parked root");
  if (fact.type === "question-asked" && fact.call === undefined) count("model calls asked");
  if (fact.type === "answer-given" && fact.refused !== undefined) count("answer refused");
  if (fact.type === "nudge-given") count(`nudge ${fact.about}`);
  if (fact.type === "channel-sent" && fact.relay !== undefined) count("channel relay");
  if (fact.type === "message-sent") count(`message ${fact.kind}${fact.run === undefined ? "" : " end line"}`);
  if (fact.type === "message-posted") count(`post ${fact.kind}${fact.silent === true ? " silent" : ""}`);
  if (fact.type === "run-created") count(`depth ${tree.agents.get(fact.run)?.depth ?? 0}`);
  if (fact.type === "announcement-queued" && fact.stragglers !== undefined) count("announcement with stragglers");
  if (fact.type === "turn-started" && (fact.placed?.length ?? 0) > 1) count("announcement of several");
  if (fact.type === "effects-lost") {
    const unsafe = fact.effects.some(
      (key) => tree.effects.get(key)?.kind === "tool" && tree.effects.get(key)?.safe === false,
    );
    if (unsafe) count("interrupted tool");
  }
  if (fact.type === "effect-repeated") count(`repeated ${tree.effects.get(fact.effect)?.kind ?? ""}`);
}
