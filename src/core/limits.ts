/**
 * Every limit in one table: what it bounds, its default, and the cap that only an operator may raise. The kernel decides by a
 * tree's settings, which are recorded when the tree is opened, so that a later default changes no old journal.
 */

interface Limit {
  readonly default: number | null;
  /** No argument of a model or a definition goes above it; null for no cap. */
  readonly cap: number | null;
  readonly unit: string;
  readonly meaning: string;
}

export const LIMITS = {
  awaitedTimeoutSeconds: { default: 120, cap: 3_600, unit: "s", meaning: "running time of an awaited run" },
  backgroundTimeoutSeconds: { default: 1_800, cap: 3_600, unit: "s", meaning: "running time of a background run" },
  delegatedIterations: { default: 8, cap: 50, unit: "iterations", meaning: "iterations of one turn of a child" },
  turnIterations: {
    default: 50,
    cap: 200,
    unit: "iterations",
    meaning: "iterations of one turn of an agent that is not a child",
  },
  maxDepth: { default: 1, cap: 5, unit: "levels", meaning: "how deep children may have children" },
  summaryBytes: { default: 32_768, cap: 262_144, unit: "bytes", meaning: "one run's findings in its parent's context" },
  announcementBytes: { default: 65_536, cap: 524_288, unit: "bytes", meaning: "all findings of one announcement" },
  liveChildren: {
    default: 8,
    cap: 64,
    unit: "runs",
    meaning: "children of one agent that run at the same time; more are queued",
  },
  runsPerTree: { default: 100, cap: 10_000, unit: "runs", meaning: "runs a tree may ever have" },
  modelCallsPerRequest: {
    default: 1_000,
    cap: null,
    unit: "calls",
    meaning: "model calls of a whole tree for one request from outside it",
  },
  tokensPerTree: { default: null, cap: null, unit: "tokens", meaning: "tokens a tree may use" },
  costPerTree: { default: null, cap: null, unit: "micro-dollars", meaning: "money a tree may spend" },
  barrierSeconds: {
    default: 300,
    cap: 3_600,
    unit: "s",
    meaning: "how long finished runs of a batch wait for the others",
  },
  userMessagesPerRun: { default: 10, cap: 100, unit: "messages", meaning: "messages a run may address to the user" },
  inboxMessages: {
    default: 1_000,
    cap: 100_000,
    unit: "messages",
    meaning: "messages that may wait in one agent's inbox",
  },
  agentTurns: {
    default: 100,
    cap: 10_000,
    unit: "turns",
    meaning: "turns in a row of an agent without a user, a child's end or a steer: it ends ping-pong",
  },
} as const satisfies Record<string, Limit>;

export type LimitName = keyof typeof LIMITS;

/** A tree's limits, as recorded when it was opened. */
export type Limits = {
  readonly [Name in LimitName]: (typeof LIMITS)[Name]["default"] extends null ? number | null : number;
};

/** Settings of a tree that are not numbers to hold. */
export interface Settings {
  readonly limits: Limits;
  /** Hard caps that the operator set; the table's hold for the others. */
  readonly caps: LimitChoices;
  /** False: the tool `subagent` stays registered, validates, and answers that it is not enabled. */
  readonly subagentEnabled: boolean;
  /** Kinds of artifacts that a report may hold. */
  readonly artifactKinds: readonly ArtifactKind[];
}

export type ArtifactKind = "note" | "path" | "diff" | "json";
const ARTIFACT_KINDS: readonly ArtifactKind[] = ["note", "path", "diff", "json"];

export function settingsOf(
  choices: Partial<Omit<Settings, "limits">> & { readonly limits?: LimitChoices } = {},
): Settings {
  return {
    limits: limitsOf(choices.limits),
    caps: choices.caps ?? {},
    subagentEnabled: choices.subagentEnabled ?? true,
    artifactKinds: choices.artifactKinds ?? ARTIFACT_KINDS,
  };
}

export type LimitChoices = { readonly [Name in LimitName]?: number | null };

/** The defaults with an operator's choices over them. The caps bind models and definitions, not the operator. */
function limitsOf(choices: LimitChoices = {}): Limits {
  const limits: Record<string, number | null> = {};
  for (const [name, limit] of Object.entries(LIMITS)) limits[name] = limit.default;
  for (const [name, value] of Object.entries(choices)) if (value !== undefined) limits[name] = value;
  return limits as Limits;
}

/** What a model or a definition asked for, lowered to the hard cap: the operator's, else the table's or the operator's default above it. */
export function limitAsked(name: LimitName, asked: number, settings: Settings): number {
  const cap = settings.caps[name];
  if (cap !== undefined) return cap === null ? asked : Math.min(asked, cap);
  const known = LIMITS[name].cap;
  return known === null ? asked : Math.min(asked, Math.max(known, settings.limits[name] ?? 0));
}
