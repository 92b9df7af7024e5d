/** The definitions and rights of the trees of random-tree.test-support.ts, and how they change. */

import type { Input } from "./event.ts";
import type { ProcessRights } from "./permissions/process-rights.ts";
import type { Tree } from "./tree.ts";
import type { DefinitionFacts } from "./values/definition.ts";
import type { Json } from "./values/json.ts";

export function testDefinition(name: string, more: Partial<DefinitionFacts> = {}): DefinitionFacts {
  return {
    name,
    hash: name,
    reporting: "tool",
    model: "scripted/x",
    window: null,
    price: { input: 3_000_000, output: 15_000_000, cachedInput: 300_000 },
    tools: [
      { name: "look", safe: true },
      { name: "break", safe: false, ...(name === "worker" ? { recovers: true as const } : {}) },
    ],
    iterations: null,
    timeoutSeconds: null,
    typed: false,
    say: false,
    ...more,
  };
}

export const FULL: ProcessRights = { tools: ["look", "break"], runners: ["outside"] };
/** Definitions whose turns are executed outside; the second one cannot be told anything. */
export const OUTSIDE = [
  testDefinition("outer", {
    runner: { name: "outside", takes: ["answer", "steer", "report-accepted", "report-refused"] },
  }),
  testDefinition("mute", { typed: true, runner: { name: "outside", takes: [] } }),
];

/** Of processes that execute the tree one after the other. */
export const RIGHTS: readonly ProcessRights[] = [
  FULL,
  FULL,
  { tools: ["look"], runners: ["outside"] },
  { tools: ["look", "break"], permissions: [{ decision: "deny", tool: "break" }], asks: true },
  { tools: ["look", "break"], permissions: [{ decision: "ask", tool: "*" }], asks: true },
];

/** Definitions that lose a tool, or have it again. */
export function catalogChanged({ state }: Tree, next: () => number): readonly [Input, readonly Json[]] {
  const tools = [{ name: "look", safe: true }, ...(next() % 2 === 0 ? [] : [{ name: "break", safe: false }])];
  const root = testDefinition("boss", { tools });
  const tagger = testDefinition("tagger", { reporting: "tag", window: 3_000, tools });
  const worker = next() % 4 === 0 ? [] : [testDefinition("worker", { tools, iterations: next() % 2 === 0 ? null : 2 })];
  const children = next() % 4 === 0 ? undefined : true;
  const catalog = [root, ...worker, tagger, ...(next() % 4 === 0 ? [] : OUTSIDE)];
  return [{ type: "catalog-changed", catalog, ...(state.closed ? {} : { root }), children }, []];
}

export function forked(tree: Tree, next: () => number): readonly [Input, readonly Json[]] {
  const catalog = [testDefinition("boss"), testDefinition("worker")];
  const agent = `0198c0de-0000-7000-8000-00000000${1_000 + (next() % 1_000)}`;
  const root = testDefinition("boss", { model: "scripted/y" });
  return [
    { type: "tree-forked", agent, origin: tree.state.id, seq: tree.state.seq, hash: tree.hash, catalog, root },
    [],
  ];
}
