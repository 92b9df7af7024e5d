/** The contenders, and what is measured of each. */

import type { Measurement } from "./measure.ts";

export interface Row {
  readonly title: string;
  readonly contender: string;
  readonly storage: Measurement["storage"];
  /** The packages whose versions are shown. */
  readonly packages: readonly string[];
  readonly cells: readonly Column[];
}

export type Column = "w1" | "w2" | "w3" | "w4" | "bytes" | "bytesInThread";

export const COLUMNS: Readonly<Record<Column, string>> = {
  w1: "W1 per s",
  w2: "W2 ms (peak MB)",
  w3: "W3 growth",
  w4: "W4 per s",
  bytes: "bytes",
  bytesInThread: "bytes in a thread",
};

const inMemory: readonly Column[] = ["w1", "w2", "w3"];
const stored: readonly Column[] = ["w4", "bytes", "bytesInThread"];

const peer = (title: string, contender: string, packages: readonly string[]): Row => ({
  title,
  contender,
  packages,
  storage: "memory",
  cells: inMemory,
});
const peerStored = (title: string, contender: string, packages: readonly string[]): Row => ({
  title,
  contender,
  packages,
  storage: "full",
  cells: stored,
});

export const ROWS: readonly Row[] = [
  { title: "floor, memory", contender: "floor", storage: "memory", packages: [], cells: inMemory },
  { title: "floor, SQLite FULL", contender: "floor", storage: "full", packages: [], cells: ["w2", ...stored] },
  { title: "floor, SQLite NORMAL", contender: "floor", storage: "relaxed", packages: [], cells: ["w4"] },
  { title: "**Errand**, memory", contender: "errand", storage: "memory", packages: [], cells: inMemory },
  {
    title: "**Errand**, SQLite FULL",
    contender: "errand",
    storage: "full",
    packages: [],
    cells: ["w2", "w3", ...stored],
  },
  { title: "**Errand**, SQLite relaxed", contender: "errand", storage: "relaxed", packages: [], cells: ["w4"] },
  peer("pi-agent-core", "pi", ["@mariozechner/pi-agent-core"]),
  peer("ai", "ai", ["ai"]),
  peer("@openai/agents", "openai-agents", ["@openai/agents"]),
  peerStored("@openai/agents, own SQLite session", "openai-agents", ["@openai/agents"]),
  peer("langgraph", "langgraph", ["@langchain/langgraph"]),
  peerStored("langgraph + SqliteSaver", "langgraph", ["@langchain/langgraph"]),
  peer("deepagents", "deepagents", ["deepagents"]),
  peerStored("deepagents + SqliteSaver", "deepagents", ["deepagents"]),
  peer("@mastra/core", "mastra", ["@mastra/core"]),
  peerStored("@mastra/core + LibSQL", "mastra", ["@mastra/core"]),
];

const THREAD = 100;

export function measurementOf(row: Row, column: Column, quick: boolean): Measurement {
  const { contender, storage } = row;
  switch (column) {
    case "w1":
    case "w4":
      return { contender, storage, workload: "rate", size: quick ? 1 : 6 };
    case "w2":
      return { contender, storage, workload: "fan-out", size: quick ? 100 : 1_000 };
    case "w3":
      return { contender, storage, workload: "growth", size: quick ? 100 : 1_000 };
    case "bytes":
      return { contender, storage, workload: "bytes", size: 1 };
    case "bytesInThread":
      return { contender, storage, workload: "bytes", size: THREAD };
  }
}
