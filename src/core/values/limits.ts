/**
 * All limits: what each bounds, its default, and the cap that only an operator may raise. The kernel decides by the
 * settings that are recorded when a tree is opened, so a new default changes no old journal.
 */

export interface Limit<Default = number | null, Cap = number | null> {
  readonly default: Default;
  /** The most that models and definitions may ask for; null for no cap. */
  readonly cap: Cap;
  readonly unit: string;
  readonly meaning: string;
}

function limit<const Default extends number | null, const Cap extends number | null>(
  standard: Default,
  cap: Cap,
  unit: string,
  meaning: string,
): Limit<Default, Cap> {
  return { default: standard, cap, unit, meaning };
}

/** All limits, with their defaults and caps. */
export const LIMITS = {
  awaitedTimeoutSeconds: limit(120, 3_600, "s", "running time of an awaited run"),
  backgroundTimeoutSeconds: limit(1_800, 3_600, "s", "running time of a background run"),
  delegatedIterations: limit(8, 50, "iterations", "iterations of one turn of a child"),
  turnIterations: limit(50, 200, "iterations", "iterations of one turn of an agent that is not a child"),
  turnSeconds: limit(3_600, 86_400, "s", "running time of one turn of an agent that is not a child"),
  maxDepth: limit(1, 5, "levels", "how deep children may have children"),
  summaryBytes: limit(32_768, 262_144, "bytes", "one run's findings in its parent's context"),
  toolResultBytes: limit(65_536, 524_288, "bytes", "one result of a tool in its agent's context"),
  toolResultKeptBytes: limit(4_194_304, 16_777_216, "bytes", "recorded part of one tool result, for `read_result`"),
  replyTokens: limit(32_768, 131_072, "tokens", "output of one model call; the provider is sent this number"),
  replyBytes: limit(4_194_304, 16_777_216, "bytes", "one reply of a model"),
  replySeconds: limit(1_800, 3_600, "s", "time of one reply, from its first byte to its last"),
  announcementBytes: limit(65_536, 524_288, "bytes", "all findings of one announcement"),
  liveChildren: limit(8, 64, "runs", "children of one agent that run at the same time; more are queued"),
  runsPerTree: limit(100, 10_000, "runs", "runs a tree may ever have"),
  modelCallsPerRequest: limit(1_000, null, "calls", "model calls of a whole tree for one request from outside it"),
  tokensPerTree: limit(null, null, "tokens", "tokens a tree may use"),
  costPerTree: limit(null, null, "micro-dollars", "money a tree may spend"),
  barrierSeconds: limit(300, 3_600, "s", "how long finished runs of a batch wait for the others"),
  userMessagesPerRun: limit(10, 100, "messages", "messages a run may address to the user"),
  inboxMessages: limit(1_000, 100_000, "messages", "messages that may wait in one agent's inbox"),
  agentTurns: limit(100, 10_000, "turns", "turns in a row without a user message, a steer or an announcement"),
} satisfies Record<string, Limit>;

/** The names of `LIMITS`. */
export type LimitName = keyof typeof LIMITS;

/** A tree's limits, as recorded when it was opened. */
export type Limits = {
  readonly [Name in LimitName]: (typeof LIMITS)[Name]["default"] extends null ? number | null : number;
};

/** The settings of a tree. */
export interface Settings {
  readonly limits: Limits;
  /** Hard caps that the operator set. The table has the others. */
  readonly caps: LimitChoices;
  /** False: the tool `subagent` stays registered, validates, and answers that it is not enabled. */
  readonly subagentEnabled: boolean;
  /** Kinds of artifacts that a report may hold. */
  readonly artifactKinds: readonly ArtifactKind[];
}

/** The kinds of artifacts of a report. */
export type ArtifactKind = "note" | "path" | "diff" | "json";
const ARTIFACT_KINDS: readonly ArtifactKind[] = ["note", "path", "diff", "json"];

type SettingChoices = { readonly [Name in Exclude<keyof Settings, "limits">]?: Settings[Name] | undefined };

export function settingsOf(choices: SettingChoices & { readonly limits?: LimitChoices | undefined } = {}): Settings {
  return {
    limits: limitsOf(choices.limits),
    caps: choices.caps ?? {},
    subagentEnabled: choices.subagentEnabled ?? true,
    artifactKinds: choices.artifactKinds ?? ARTIFACT_KINDS,
  };
}

/** Limits that are chosen; the others have their defaults. */
export type LimitChoices = {
  readonly [Name in LimitName]?: number | null;
};

/** The defaults with an operator's choices over them. The caps bind models and definitions, not the operator. */
function limitsOf(choices: LimitChoices = {}): Limits {
  const limits: Record<string, number | null> = {};
  for (const [name, limit] of Object.entries(LIMITS)) limits[name] = limit.default;
  for (const [name, value] of Object.entries(choices)) if (value !== undefined) limits[name] = value;
  return limits as Limits;
}

/** What was asked for, lowered to the hard cap. A higher default of the operator raises the cap of the table. */
export function limitAsked(name: LimitName, asked: number, settings: Settings): number {
  const cap = settings.caps[name];
  if (cap !== undefined) return cap === null ? asked : Math.min(asked, cap);
  const known = LIMITS[name].cap;
  return known === null ? asked : Math.min(asked, Math.max(known, settings.limits[name] ?? 0));
}
