/**
 * The process that does the work of a soak: a real runtime through the public API, with scripted models, attached
 * channels and what goes wrong. It may be killed at any moment; the one that watches it tells the next what is to be
 * carried on.
 */

import { openSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Agent,
  type Channel,
  createErrand,
  type Errand,
  ErrandError,
  type Model,
  type ModelProvider,
  replayVerdict,
  type Tool,
} from "../../src/index.ts";
import type { Commit, Store, TreeCommit } from "../../src/contracts/store.ts";
import { asTreeId } from "../../src/core/values/ids.ts";
import { openStoreAt } from "../../src/runtime/create-runtime.ts";
import { DEFINITIONS, GO, MORE, referenceModels, referenceTools } from "../crash/reference.ts";
import { createRandom } from "../simulation/random.ts";
import { oddThrow, oddUsage } from "../simulation/troubles/odd-values.ts";
import type { SoakFault } from "./faults.ts";
import type { Order, Told, WorkerOptions } from "./messages.ts";
import { probe, type Probe, PROBE_DEFINITIONS, PROBE_LIMITS, withProbedModel } from "./probes.ts";

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const random = createRandom(process.pid);
const LATENCY_MS = 30;
/** Busy, away or full: asked again. */
const LATER: ReadonlySet<string> = new Set([
  "commit-conflict",
  "commit-unknown",
  "store-busy",
  "store-full",
  "store-unreachable",
]);
const LATER_MS = 200;
/** A channel is attached again while its conversation lasts: that gives it what it had not taken. */
const REATTACH_MS = 3_000;
const LEAKED_BYTES = 100_000;
const COLLECTIONS = 3;
const COLLECTED_MS = 100;

function tell(told: Told): Promise<void> {
  return new Promise((resolve) => process.send?.(told, () => resolve()));
}

function strikes(fault: SoakFault, share: number): boolean {
  return options.faults.includes(fault) && random.percent(share);
}

const pause = (): Promise<void> => sleep(random.below(LATENCY_MS));

function troubledModels(provider: ModelProvider): ModelProvider {
  const troubled = (model: Model): Model => ({
    async call(request, given) {
      const reply = await model.call(request, given);
      for (const part of reply.parts) if (part.type === "text") given.onText?.(part.text);
      return strikes("odd-usage", 20) ? { ...reply, usage: oddUsage(random) } : reply;
    },
  });
  return {
    resolve(name) {
      const found = provider.resolve(name);
      return "unavailable" in found ? found : { ...found, model: troubled(found.model) };
    },
  };
}

function troubledTool(tool: Tool): Tool {
  if (!tool.safe) return tool;
  return {
    ...tool,
    run(input, context) {
      if (strikes("changed-arguments", 20) && typeof input === "object" && input !== null)
        Reflect.set(input, "token", "changed");
      if (strikes("odd-throw", 10)) throw oddThrow(random);
      return tool.run(input, context);
    },
  };
}

const channel: Channel = {
  async deliver({ agent, id, text, repeated }) {
    if (strikes("failing-channel", 10)) throw new Error("The user is away.");
    if (strikes("hanging-channel", 5)) return new Promise(() => {});
    await tell({ told: "delivered", tree: agent, id, text, repeated });
  },
};

/** Trees whose rows the store refuses, as it would a value that no edge has mended. */
const refused = new Set<string>();
const REFUSED_SHARE = 3;
const spoil = (part: TreeCommit): TreeCommit => (refused.has(part.tree) ? { ...part, questions: 1e19 } : part);
async function open(): Promise<{ readonly real: Store; readonly errand: Errand }> {
  const real = await openStoreAt(options.store, "own");
  const commit = (one: Commit) => real.commit({ ...one, trees: one.trees.map(spoil) });
  const errand = await createErrand({
    store: { ...real, commit },
    limits: PROBE_LIMITS,
    models: [withProbedModel(troubledModels(referenceModels(pause)), random)],
    tools: referenceTools(options.toolFile, pause, () => undefined).map(troubledTool),
    agents: { ...DEFINITIONS, ...PROBE_DEFINITIONS },
    onFailure({ code, message }) {
      if (code === "listener-failed" && options.faults.includes("throwing-listener")) return;
      void tell({ told: "broken", code, message });
    },
    onNotice: ({ code }) => void tell({ told: "notice", code }),
  });
  return { real, errand };
}

// A server or a disk that is away while the process starts: a supervisor would start it again.
const { real, errand } = await patiently(open);
const leaked: { readonly memory: Buffer; readonly descriptor: number }[] = [];
errand.onText(() => {
  if (options.leaks) leaked.push({ memory: Buffer.alloc(LEAKED_BYTES, "x"), descriptor: openSync("/dev/null", "r") });
});
if (options.faults.includes("throwing-listener")) {
  errand.onText(() => {
    throw new Error("A listener of the soak.");
  });
  errand.onDelegation(() => {
    throw new Error("A listener of the soak.");
  });
}

/** A store that is busy is asked again; a person does that too. */
async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ErrandError && LATER.has(error.code))) throw error;
      await sleep(LATER_MS);
    }
  }
}

/** A quarantined tree is released, as `errand resume` does it, and asked again. */
async function released<Result>(tree: string, work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await patiently(work);
    } catch (error) {
      if (!(error instanceof ErrandError && error.code === "tree-quarantined")) throw error;
      refused.delete(tree);
      await patiently(() => real.release(asTreeId(tree)));
      await tell({ told: "released" });
    }
  }
}

/** What attaches the channels of open conversations again, by their numbers. */
const attaching = new Map<number, NodeJS.Timeout>();

async function talk(number: number, known: string | null): Promise<void> {
  const name = `conversation-${number}`;
  const agent: Agent =
    known === null
      ? await patiently(() => errand.openAgent({ channel }))
      : await released(known, () => errand.agent(known, { channel }));
  if (known === null) await tell({ told: "opened", number, tree: agent.id });
  attaching.set(
    number,
    setInterval(() => void errand.agent(agent.id, { channel }).catch(() => undefined), REATTACH_MS),
  );
  try {
    const ask = async (post: string, text: string): Promise<void> => {
      const reply = await released(agent.id, () => agent.postAndAwait(text, { id: post }));
      await tell({ told: "answered", number, post, text: reply.text });
    };
    if (known === null && strikes("refused-row", REFUSED_SHARE)) refused.add(agent.id);
    await ask(`${name}-go`, `${GO} ${name}.`);
    let turns = 0;
    for await (const event of errand.journal(agent.id)) {
      turns += event.facts.filter((fact) => fact.type === "turn-ended" && fact.agent === 0).length;
      if (turns >= 2) break;
    }
    await ask(`${name}-more`, `${MORE} ${name}?`);
  } catch (error) {
    await tell({ told: "failed", number, code: error instanceof ErrandError ? error.code : String(error) });
  }
}

function over(number: number): void {
  clearInterval(attaching.get(number));
  attaching.delete(number);
}

async function probed(kind: Probe): Promise<void> {
  const problem = await probe(errand, kind, patiently).catch(
    (error: unknown) => `the ${kind} failed: ${String(error)}`,
  );
  await tell({ told: "probed", problem });
}

const REST_WITHIN_MS = 30_000;
const MOST_TREES = 1_000_000;

/** Trees that are not at rest although nobody asks for anything any more. */
async function rest(): Promise<void> {
  const end = performance.now() + REST_WITHIN_MS;
  for (;;) {
    const trees = await errand.listTrees({ limit: MOST_TREES });
    const left = trees.filter(({ busy, status }) => busy || status === "quarantined").map(({ id }) => id);
    if (left.length === 0 || performance.now() > end) return tell({ told: "rested", left });
    await sleep(LATER_MS);
  }
}

/** What is only held weakly is given back after a collection, by callbacks of the event loop: several are needed. */
async function level(): Promise<Told> {
  for (let collection = 0; collection < COLLECTIONS; collection += 1) {
    globalThis.gc?.();
    await sleep(COLLECTED_MS);
  }
  const { heapUsed, external } = process.memoryUsage();
  const descriptors = readdirSync("/proc/self/fd").length;
  return { told: "level", heap: heapUsed + external, descriptors, trees: errand.treesInMemory() };
}

process.on("message", (order: Order) => {
  if (order.do === "talk") void talk(order.number, order.tree);
  if (order.do === "over") over(order.number);
  if (order.do === "probe") void probed(order.kind);
  if (order.do === "rest") void rest();
  if (order.do === "measure") void level().then(tell);
  if (order.do === "prove") {
    const { tree } = order;
    void errand.replay(tree).then(
      (report) => tell({ told: "verdict", tree, verdict: replayVerdict(report) }),
      (error: unknown) => tell({ told: "verdict", tree, verdict: `failed: ${String(error)}` }),
    );
  }
  if (order.do === "close") void errand.close({ withinMs: 2_000 }).then(() => process.exit(0));
});
// Without the one that watches there is nothing to do.
process.on("disconnect", () => process.exit(0));
await tell({ told: "up", recovered: errand.recovered });
