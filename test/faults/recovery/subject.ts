/**
 * The process that faults are tried on: a real runtime over a real store, with models, a tool, listeners and a channel
 * that misbehave when told to. It does what the process that started it asks for, one order at a time or several.
 *
 * Every conversation has a name. Its tool and its channel each leave one line in a file for every call, so that a
 * result that was doubled is seen, even across a restart.
 */

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Commit, Store, TreeCommit } from "../../../src/contracts/store.ts";
import { asTreeId } from "../../../src/core/values/ids.ts";
import {
  type Agent,
  type Channel,
  createErrand,
  ErrandError,
  type Model,
  type ModelReply,
  type ModelRequest,
  type Tool,
} from "../../../src/index.ts";
import { openStoreAt } from "../../../src/runtime/create-runtime.ts";
import { POISONED_REPLIES } from "../poison.ts";

export interface SubjectOptions {
  readonly store: string;
  readonly toolFile: string;
  readonly channelFile: string;
}

/** What misbehaves inside this process. */
export type Switch =
  | "poisoned-model"
  | "refused-row"
  | "deaf"
  | "changing-tool"
  | "throwing-listener"
  | "rejecting-channel"
  | "hanging-channel";

export interface Level {
  readonly heap: number;
  readonly descriptors: number;
}

export interface Told {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly over: boolean;
}

const options = JSON.parse(process.argv[2] ?? "{}") as SubjectOptions;
const on = new Set<Switch>();
const told: Told[] = [];
const usage = { input: 10, output: 5 };

const text = (words: string): ModelReply => ({ parts: [{ type: "text", text: words }], usage, stop: "end" });
const call = (name: string, input: Record<string, string | boolean | string[]>): ModelReply => ({
  parts: [{ type: "tool-call", id: name, name, input }],
  usage,
  stop: "tools",
});

/** Conversations whose name begins with `held` wait here for their first reply. */
const gate = { reached: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() };
let poison = 0;

function asked(request: ModelRequest): { readonly newest: string; readonly replies: number } {
  const at = request.messages.findLastIndex(({ role, ...rest }) => role === "user" && !isRunLine(rest));
  const message = request.messages[at];
  const replies = request.messages.slice(at).filter(({ role }) => role === "assistant").length;
  return { newest: message?.role === "user" ? message.text : "", replies };
}

function isRunLine(message: object): boolean {
  return "text" in message && typeof message.text === "string" && message.text.startsWith("[run ");
}

const root: Model = {
  async call(request, { onText }) {
    const { newest, replies } = asked(request);
    // An announcement: nobody asked for anything.
    if (!newest.startsWith("go ")) return text("noted");
    const name = newest.split(" ").at(-1) ?? "";
    if (on.has("poisoned-model") && newest.startsWith("go odd")) {
      poison += 1;
      return POISONED_REPLIES[poison % POISONED_REPLIES.length]?.[1] as ModelReply;
    }
    if (replies === 0 && name.startsWith("held")) {
      gate.reached.resolve();
      await gate.open.promise;
    }
    if (replies === 0) return call("strike", { token: name, list: ["given"] });
    if (replies === 1) return call("subagent", { task: `look ${name}`, agent: "worker" });
    onText?.(`${name} answered`);
    return text(`${name} answered`);
  },
};

const worker: Model = {
  async call(request, { signal }) {
    const { newest } = asked(request);
    if (!newest.includes("for ever")) return call("send_agent_message", { text: "found it", final: true });
    return new Promise((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true }),
    );
  },
};

const strike: Tool = {
  name: "strike",
  description: "Strikes once.",
  schema: { type: "object", properties: { token: { type: "string" } } },
  safe: false,
  async run(input) {
    const { token, list } = input as { token: string; list: string[] };
    appendFileSync(options.toolFile, `${token}\n`);
    if (on.has("changing-tool")) list.push("changed");
    return { text: "struck", failed: false };
  },
};

const channel: Channel = {
  async deliver({ id, text: words }) {
    if (on.has("rejecting-channel")) throw new Error("no line");
    if (on.has("hanging-channel")) await channelWorks.promise;
    appendFileSync(options.channelFile, `${id} ${words}\n`);
  },
};
let channelWorks = Promise.withResolvers<void>();

/** Spoils rows such that the real store refuses them, as a value would that no edge has mended. */
let refusedTree = "";
const spoil = (part: TreeCommit): TreeCommit =>
  on.has("refused-row") && part.tree === refusedTree ? { ...part, questions: 1e19 } : part;

const real = await openStoreAt(options.store, "own");
const store: Store = {
  ...real,
  commit: (commit: Commit) => real.commit({ ...commit, trees: commit.trees.map(spoil) }),
  changed: () =>
    on.has("deaf") ? Promise.reject(new ErrandError("store-busy", "The store does not answer.")) : real.changed(),
};

function tell({ code, message, remedy = "", details }: ErrandError): void {
  told.push({ code, message, remedy, over: details["over"] === true });
}

const errand = await createErrand({
  store,
  model: "own/worker",
  models: [
    {
      resolve: (name) => ({
        model: name === "own/root" ? root : worker,
        facts: { window: null, price: null },
      }),
    },
  ],
  agents: {
    orchestrator: { prompt: "You delegate.", model: "own/root" },
    worker: { prompt: "You work.", model: "own/worker" },
  },
  tools: [strike],
  onFailure: tell,
  onNotice: tell,
});
errand.onText(() => {
  if (on.has("throwing-listener")) throw new Error("A listener that throws.");
});
errand.onDelegation(() => {
  if (on.has("throwing-listener")) throw new Error("A listener that throws.");
});

/** Names of the conversations that were acknowledged, by their ids, with the number of their answers. */
const known = new Map<string, { readonly name: string; answers: number }>();
/** Agents that have to stay: a channel of a conversation at rest is kept by its agent alone. */
const kept = new Map<string, Agent>();
const codeOf = (error: unknown): string => (error instanceof ErrandError ? error.code : String(error));

async function converse(name: string): Promise<string> {
  try {
    const { agent, reply } = await errand.start(`go ${name}`, { channel });
    const one = { name, answers: 0 };
    known.set(agent.id, one);
    kept.set(name, agent);
    const { text: words } = await reply();
    one.answers += 1;
    return words === `${name} answered` ? "answered" : `another answer: ${words}`;
  } catch (error) {
    return codeOf(error);
  }
}

function agentOf(name: string): Agent {
  const agent = kept.get(name);
  if (agent === undefined) throw new Error(`there is no ${name}`);
  return agent;
}

async function work(name: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  const outcomes = await Promise.all(names.map(converse));
  for (const one of names) {
    await closed(one);
    kept.delete(one);
  }
  return [...new Set(outcomes)];
}

/** A full store refuses to close a conversation too: then it is asked again. */
async function closed(name: string): Promise<void> {
  for (;;) {
    try {
      return await kept.get(name)?.close();
    } catch (error) {
      if (codeOf(error) !== "store-full") throw error;
      await sleep(100);
    }
  }
}

async function level(): Promise<Level> {
  await sleep(300);
  for (let times = 0; times < 3; times += 1) {
    globalThis.gc?.();
    await sleep(20);
  }
  return { heap: process.memoryUsage().heapUsed, descriptors: readdirSync("/proc/self/fd").length };
}

const linesOf = (file: string): string[] => readFileSync(file, { encoding: "utf8", flag: "a+" }).split("\n");

/** What was lost, doubled or cannot be proven. */
async function prove(): Promise<readonly string[]> {
  const findings: string[] = [];
  const trees = await errand.listTrees({ limit: 10_000 });
  for (const { id } of trees) if (!known.has(id)) findings.push(`nobody acknowledged tree ${id}`);
  for (const [id, { name, answers }] of known) {
    const { difference, foreign } = await errand.replay(id);
    if (difference !== null || foreign.length > 0) findings.push(`${name}: ${JSON.stringify({ difference, foreign })}`);
    const agent = await errand.agent(id);
    const said = (await agent.history()).filter(({ text: words }) => words === `${name} answered`).length;
    if (said !== answers) findings.push(`${name}: ${said} answers in its history instead of ${answers}`);
    const struck = linesOf(options.toolFile).filter((line) => line === name).length;
    if (struck !== answers) findings.push(`${name}: its tool ran ${struck} times instead of ${answers}`);
    const delivered = linesOf(options.channelFile).filter((line) => line === `${line.split(" ")[0]} ${name} answered`);
    if (delivered.length !== answers) findings.push(`${name}: delivered ${delivered.length} times, not ${answers}`);
  }
  const open = (await errand.listRuns({ limit: 10_000 })).filter(({ state }) => state !== "ended");
  for (const run of open) findings.push(`the run ${run.id} has not ended`);
  return findings;
}

let deadline: { readonly tree: string; readonly ended: Promise<string> } | null = null;

const orders = {
  work,
  level,
  prove,
  told: async () => told,
  /** Waits until people were told so many things. */
  async noticed(count: number) {
    while (told.length < count) await sleep(10);
  },
  channels: async () => errand.channels().map(({ state }) => state),
  async switch(name: Switch, state: boolean) {
    if (state) on.add(name);
    else on.delete(name);
    if (name === "hanging-channel" && !state) {
      channelWorks.resolve();
      channelWorks = Promise.withResolvers();
    }
  },
  /** Begins a conversation whose model does not answer before `release`. Resolves when it waits. */
  async hold(name: string) {
    held = converse(name);
    await gate.reached.promise;
  },
  release: async () => gate.open.resolve(),
  held: async () => held,
  ids: async () => [...known].map(([id, { name, answers }]) => ({ id, name, answers })),
  /** Conversations of another process. That named `held` is expected to have one answer in the end. */
  async know(given: readonly { readonly id: string; readonly name: string; readonly answers: number }[], held: string) {
    for (const { id, name, answers } of given) known.set(id, { name, answers: name === held ? 1 : answers });
  },
  /**
   * Waits for the end of the first turn of a conversation that another process began, and delivers its messages here if
   * asked to.
   */
  async take(name: string, delivers: boolean) {
    const [id] = [...known].find(([, one]) => one.name === name) ?? [""];
    if (delivers) kept.set(name, await errand.agent(id, { channel }));
    for await (const { facts } of errand.journal(id))
      if (facts.some((fact) => fact.type === "turn-ended" && fact.agent === 0)) return "answered";
    return "closed";
  },
  /** A child that never answers, and whose time is over soon. */
  async expect(seconds: number) {
    const agent = await errand.openAgent();
    known.set(agent.id, { name: "deadline", answers: 0 });
    const run = await agent.spawn({ task: "wait for ever", timeoutSeconds: seconds, agent: "worker" });
    const ended = run.outcome().then(({ status }) => status);
    deadline = { tree: agent.id, ended };
  },
  /** How the child ended, and how many rows that took. */
  async expected() {
    if (deadline === null) return { status: "none", rows: 0 };
    const status = await deadline.ended;
    const rows = await real.rows(asTreeId(deadline.tree), 1, 10_000);
    const due = rows.filter(
      ({ head }) => (JSON.parse(head) as { input: { type: string } }).input.type === "timers-due",
    );
    return { status, rows: due.length };
  },
  /** Opens a conversation with its channel. */
  async begin(name: string) {
    const agent = await errand.openAgent({ channel });
    kept.set(name, agent);
    known.set(agent.id, { name, answers: 0 });
    if (name === "refused") refusedTree = agent.id;
  },
  /** A message for it that may come to nothing. */
  async provoke(name: string) {
    const posted = agentOf(name).postAndAwait("go odd");
    return posted.then(() => "answered", codeOf);
  },
  /** A message for it that has to be answered. */
  async again(name: string) {
    const agent = agentOf(name);
    const outcome = await agent.postAndAwait(`go ${name}`).then(() => "answered", codeOf);
    const one = known.get(agent.id);
    if (outcome === "answered" && one !== undefined) one.answers += 1;
    return outcome;
  },
  /** As `errand resume` does it. */
  resume: (name: string) => real.release(asTreeId(agentOf(name).id)),
  async delivered(words: string) {
    while (!linesOf(options.channelFile).some((line) => line.endsWith(words))) await sleep(10);
  },
  close: () => errand.close({ withinMs: 2_000 }),
};
let held: Promise<string> = Promise.resolve("never held");

export type Orders = typeof orders;

interface Order {
  readonly number: number;
  readonly name: keyof Orders;
  readonly given: readonly unknown[];
}

async function obey({ number, name, given }: Order): Promise<void> {
  try {
    const result: unknown = await Reflect.apply(orders[name], orders, given);
    process.send?.({ number, result });
  } catch (error) {
    process.send?.({ number, error: error instanceof Error ? error.stack : String(error) });
  }
}

process.on("message", (order: Order) => void obey(order));
process.on("disconnect", () => process.exit(0));
process.send?.({ number: 0, result: "up" });
