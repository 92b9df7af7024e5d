/**
 * The types of all lines that `--json` prints, by the commands that print them. A test compares this list with
 * docs/reference/cli.md. A type is added in both; none is renamed or removed while `JSON_VERSION` is the same.
 */

export const JSON_VERSION = 1;

export const JSON_TYPES = {
  all: ["error"],
  "run, chat, resume, fork": [
    "agent-opened",
    "run-created",
    "run-started",
    "run-state-changed",
    "run-progress",
    "run-reported",
    "run-ended",
    "turn-started",
    "turn-ended",
    "usage",
    "model-retry",
    "tool-started",
    "tool-ended",
    "question-asked",
    "question-answered",
    "message",
    "text",
    "rest",
    "draining",
  ],
  "run, chat, resume, fork, worker": ["notice", "done"],
  "run, chat, resume, fork, demo": ["answer"],
  run: ["detached"],
  demo: [
    "process-started",
    "task-given",
    "spawned",
    "ended",
    "process-killed",
    "calls-repeated",
    "nudged",
    "told",
    "proof",
  ],
  "ps, show": ["tree"],
  show: ["run"],
  logs: ["event"],
  result: ["result"],
  send: ["sent"],
  answer: ["question", "answered"],
  cancel: ["cancelled"],
  worker: ["worker"],
  export: ["exported"],
  "replay, migrate": ["progress"],
  replay: ["replay"],
  migrate: ["migrated", "format"],
  doctor: ["check", "doctor"],
  stores: ["store"],
  agents: ["agent", "skill", "context", "file"],
  trust: ["trusted", "revoked", "trusted-store", "revoked-store"],
  config: ["setting"],
  mcp: ["mcp-client"],
  completion: ["script", "id"],
} as const;

export type JsonType = (typeof JSON_TYPES)[keyof typeof JSON_TYPES][number];

/** A line without its version. */
export interface JsonLine {
  readonly type: JsonType;
  readonly [field: string]: unknown;
}
