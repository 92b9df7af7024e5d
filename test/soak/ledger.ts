/**
 * What the watcher knows of every conversation, and what must hold of them: each is answered, and each message comes
 * once.
 */

import { expectedMessages, expectedTokens } from "../crash/reference.ts";

export interface Conversation {
  readonly number: number;
  readonly since: number;
  tree: string | null;
  endedAt: number | null;
  /** The code that it failed with. */
  failed: string | null;
  /** Answers by the id of their post. */
  readonly answers: Map<string, string>;
  /** Messages of the channel by their id. */
  readonly messages: Map<string, string>;
}

export interface Ledger {
  readonly conversations: ReadonlyMap<number, Conversation>;
  readonly findings: string[];
  repeated: number;
  begin(now: number): Conversation;
  open(): Conversation[];
  opened(number: number, tree: string): void;
  answered(number: number, post: string, text: string, now: number): void;
  failed(number: number, code: string, now: number): void;
  delivered(tree: string, id: string, text: string, repeated: boolean, now: number): void;
  /** Finds conversations that were begun before `before` and have not ended. */
  stuck(before: number): Conversation[];
  /** At the end: every message came under one id, and every unsafe call was executed at most once. */
  judge(struck: readonly string[]): void;
}

/** `onEnded`: told once of each conversation that has ended. */
export function createLedger(onEnded: (number: number) => void = () => undefined): Ledger {
  const conversations = new Map<number, Conversation>();
  const byTree = new Map<string, Conversation>();
  const findings: string[] = [];

  function end(one: Conversation, now: number): void {
    if (one.endedAt !== null) return;
    one.endedAt = now;
    onEnded(one.number);
  }

  function endIfWhole(one: Conversation, now: number): void {
    const texts = new Set(one.messages.values());
    const whole = one.answers.size === 2 && expectedMessages(nameOf(one)).every((text) => texts.has(text));
    if (whole) end(one, now);
  }

  const ledger: Ledger = {
    conversations,
    findings,
    repeated: 0,
    begin(now) {
      const number = conversations.size + 1;
      const answers = new Map<string, string>();
      const one: Conversation = {
        number,
        since: now,
        tree: null,
        endedAt: null,
        failed: null,
        answers,
        messages: new Map(),
      };
      conversations.set(number, one);
      return one;
    },
    open: () => [...conversations.values()].filter((one) => one.endedAt === null),
    opened(number, tree) {
      const one = conversations.get(number);
      if (one === undefined) return;
      one.tree = tree;
      byTree.set(tree, one);
    },
    answered(number, post, text, now) {
      const one = conversations.get(number);
      if (one === undefined) return;
      const before = one.answers.get(post);
      if (before !== undefined && before !== text)
        findings.push(`${nameOf(one)}: ${post} was answered by "${before}" and by "${text}"`);
      one.answers.set(post, text);
      endIfWhole(one, now);
    },
    failed(number, code, now) {
      const one = conversations.get(number);
      if (one === undefined) return;
      one.failed = code;
      end(one, now);
    },
    delivered(tree, id, text, repeated, now) {
      const one = byTree.get(tree);
      if (one === undefined) return void findings.push(`a channel was given "${text}" of a tree that nobody opened`);
      const before = one.messages.get(id);
      if (before !== undefined) ledger.repeated += 1;
      if (before !== undefined && (before !== text || !repeated))
        findings.push(`${nameOf(one)}: the message ${id} came twice, as "${before}" and as "${text}"`);
      one.messages.set(id, text);
      endIfWhole(one, now);
    },
    stuck: (before) => ledger.open().filter(({ since }) => since < before),
    judge(struck) {
      const times = new Map<string, number>();
      for (const token of struck) times.set(token, (times.get(token) ?? 0) + 1);
      for (const one of conversations.values()) {
        const name = nameOf(one);
        for (const token of expectedTokens(name))
          if ((times.get(token) ?? 0) > 1) findings.push(`${name}: ${token} was executed ${times.get(token)} times`);
        if (one.failed !== null || one.endedAt === null) continue;
        const expected = expectedMessages(name);
        const given = [...one.messages.values()];
        if (given.toSorted().join("\n") !== expected.toSorted().join("\n"))
          findings.push(`${name}: its user was told ${JSON.stringify(given)}, not ${JSON.stringify(expected)}`);
      }
    },
  };
  return ledger;
}

function nameOf({ number }: Conversation): string {
  return `conversation-${number}`;
}
