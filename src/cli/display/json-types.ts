/**
 * The types of all lines that `--json` prints, and which commands print them. docs/reference/cli.md has the same list, and a test compares
 * the two: a type is added there and here, never renamed or removed while `JSON_VERSION` is the same.
 */

import type { ReadableEvent } from "../../view/readable-event.ts";

export const JSON_VERSION = 1;

const WORKING = "run, chat, resume, fork";

export const JSON_TYPES = {
  "agent-opened": WORKING,
  "run-created": WORKING,
  "run-started": WORKING,
  "run-state-changed": WORKING,
  "run-ended": WORKING,
  "turn-started": WORKING,
  "turn-ended": WORKING,
  "model-retry": WORKING,
  "tool-started": WORKING,
  "tool-ended": WORKING,
  "question-asked": WORKING,
  "question-answered": WORKING,
  message: WORKING,
  draining: WORKING,
  notice: `${WORKING}, worker`,
  answer: `${WORKING}, demo`,
  error: "all",
  done: `${WORKING}, worker`,
  detached: "run",
  "process-started": "demo",
  "task-given": "demo",
  spawned: "demo",
  ended: "demo",
  "process-killed": "demo",
  "calls-repeated": "demo",
  nudged: "demo",
  told: "demo",
  proof: "demo",
  tree: "ps, show",
  run: "show",
  event: "logs",
  result: "result",
  sent: "send",
  question: "answer",
  answered: "answer",
  cancelled: "cancel",
  worker: "worker",
  exported: "export",
  progress: "replay, migrate",
  replay: "replay",
  migrated: "migrate",
  format: "migrate",
  check: "doctor",
  doctor: "doctor",
  store: "stores",
  agent: "agents",
  skill: "agents",
  context: "agents",
  file: "agents",
  trusted: "trust",
  revoked: "trust",
  "trusted-store": "trust",
  "revoked-store": "trust",
  setting: "config",
  script: "completion",
  id: "completion",
} as const satisfies Readonly<Record<ReadableEvent["type"], string>> & Readonly<Record<string, string>>;

export type JsonType = keyof typeof JSON_TYPES;

/** A line, before it has its version. */
export interface JsonLine {
  readonly type: JsonType;
  readonly [field: string]: unknown;
}
