/**
 * The people who talk to a cluster: each reference conversation from its first message to its last answer, by mail,
 * from a process that runs no tree. What was acknowledged to them is the evidence that the judge holds the database
 * against.
 */

import { setTimeout as sleep } from "node:timers/promises";
import {
  type Agent,
  type Channel,
  createErrand,
  type Errand,
  type ErrandOptions,
  type Store,
} from "../../src/index.ts";
import { asPostId, asTreeId, type TreeId } from "../../src/core/values/ids.ts";
import { openStoreAt, sha256 } from "../../src/runtime/create-runtime.ts";
import { mailOf } from "../../src/runtime/messages/mail.ts";
import type { Evidence } from "../crash/evidence.ts";
import { DEFINITIONS, expectedMessages, GO, MORE, referenceModels, referenceTools } from "../crash/reference.ts";

type Gathered = { -readonly [Name in "posted" | "replied" | "delivered"]: Evidence[Name][number][] };

export interface Talks {
  /** Carries them all to their ends, each begun at some moment of the time given. */
  hold(withinMs: number, moment: () => number): Promise<void>;
  /** How many have come to their end. */
  ended(): number;
  evidence(struck: readonly string[]): Evidence;
  close(): Promise<void>;
}

const POLL_MS = 50;

/** Makes the trees, which then belong to nobody. */
async function makeTrees(options: ErrandOptions, count: number): Promise<TreeId[]> {
  const errand = await createErrand(options);
  const trees: TreeId[] = [];
  for (let made = 0; made < count; made += 1) trees.push(asTreeId((await errand.openAgent()).id));
  await errand.close();
  return trees;
}

export async function createTalks(url: string, toolFile: string, count: number): Promise<Talks> {
  // The same definitions and tools as the workers have: nothing about an agent changes when it goes from one process to
  // another.
  const models = [referenceModels(null)];
  const tools = referenceTools(toolFile, null, () => undefined);
  const options: ErrandOptions = { store: url, models, tools, agents: DEFINITIONS, recover: false };
  const trees = await makeTrees(options, count);
  const store: Store = await openStoreAt(url, "read");
  const errand: Errand = await createErrand(options);
  const opened = new Map(trees.map((tree, index) => [tree as string, index + 1]));
  const gathered: Gathered = { posted: [], replied: [], delivered: [] };
  let ended = 0;

  async function ask(agent: Agent, tree: TreeId, id: string, text: string): Promise<void> {
    const post = asPostId(id);
    const input = { type: "message-posted", id: post, to: 0, kind: "user", size: text.length } as const;
    await patiently(() => store.putMail(mailOf(tree, input, [text], sha256)));
    gathered.posted.push({ id, tree });
    while ((await patiently(() => store.post(tree, post))) === null) await sleep(POLL_MS);
    const reply = await agent.postAndAwait(text, { id });
    gathered.replied.push({ id, tree, text: reply.text });
  }

  async function talk(tree: TreeId, name: string): Promise<void> {
    let delivered = 0;
    const channel: Channel = {
      async deliver(message) {
        gathered.delivered.push(message);
        delivered += 1;
      },
    };
    const agent = await errand.agent(tree, { channel });
    await ask(agent, tree, `${name}-go`, `${GO} ${name}.`);
    let turns = 0;
    for await (const event of errand.journal(tree)) {
      turns += event.facts.filter((fact) => fact.type === "turn-ended" && fact.agent === 0).length;
      if (turns >= 2) break;
    }
    await ask(agent, tree, `${name}-more`, `${MORE} ${name}?`);
    // An answer that was waited for may come before the same words through the channel.
    while (delivered < expectedMessages(name).length) await sleep(POLL_MS);
    ended += 1;
  }

  return {
    async hold(withinMs, moment) {
      const talks = trees.map(async (tree, index) => {
        await sleep(moment() * withinMs);
        await talk(tree, `conversation-${index + 1}`);
      });
      await Promise.all(talks);
    },
    ended: () => ended,
    evidence: (struck) => ({ opened, ...gathered, struck, seen: [] }),
    async close() {
      await errand.close();
      await store.close();
    },
  };
}

/** A process that only looks gives a server up that is away for long; a person does not. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "store-unreachable")) throw error;
    }
  }
}
