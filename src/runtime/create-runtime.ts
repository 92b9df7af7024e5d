/**
 * The composition root: the only file of the runtime that sees adapters. Here a user's options become a store, models, tools and a
 * runtime, behind the public `Errand`.
 */

import { hash } from "node:crypto";
import { homedir, hostname } from "node:os";
import { resolve } from "node:path";
import type { ModelProvider } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { type ArtifactKind, type LimitChoices, settingsOf } from "../core/values/limits.ts";
import type { PermissionRule } from "../core/permissions/permissions.ts";
import { builtInDefinitions } from "../definitions/built-in.ts";
import { ErrandError } from "../errors.ts";
import { createMemoryStore } from "../stores/memory/memory-store.ts";
import { canonicalPath } from "../stores/sqlite/open-database.ts";
import type { SqliteStore } from "../stores/sqlite/sqlite-store.ts";
import { postgresUrlIs, storeSecrets } from "../stores/store-url.ts";
import { openForeignStore } from "../stores/trust/foreign-store.ts";
import { openOwnStore, openTrustedReader } from "../stores/trust/open-trusted.ts";
import { type TrustStatus, trustStatusOf, type TrustParts } from "../stores/trust/trust-status.ts";
import { dataFolder } from "../stores/user-data.ts";
import { fileTools } from "../tools/index.ts";
import { toolsOf, type ToolRecord } from "./definitions/ai-sdk-tool.ts";
import {
  type AgentOptions,
  type LanguageModelObject,
  type ModelOption,
  readAgents,
} from "./definitions/agent-options.ts";
import { createCatalog, type SkillDefinition } from "./definitions/catalog.ts";
import { createAiSdkModels } from "../models/ai-sdk/ai-sdk-models.ts";
import { modelOfKeys } from "../models/registry/default-model.ts";
import { createModelRegistry } from "../models/registry/model-registry.ts";
import { requireNumbers } from "./check-options.ts";
import { type Clock, openClock } from "./clock.ts";
import { type Errand, openErrand } from "./errand.ts";
import { judgedRules } from "./definitions/judged-rules.ts";
import { ownTools } from "./definitions/isolate-tools.ts";
import { isolated } from "./listeners.ts";
import { joinProviders } from "./definitions/join-providers.ts";
import { createRedactor } from "./redaction/redactor.ts";
import { createSystemWorld } from "./world.ts";

export interface ErrandOptions {
  /**
   * Where journals are kept: a path of a SQLite file, `{ path, durability }`, the URL of a PostgreSQL database, `"memory"`, or a store
   * of your own. `relaxed` durability may lose the last moments before a power failure; a crash of the process loses nothing either
   * way. A file that Errand did not make for this user is `store-not-trusted`: `errand trust --store PATH`, or
   * `ERRAND_TRUST_STORE=ID` in the environment.
   */
  readonly store: string | { readonly path: string; readonly durability?: "full" | "relaxed" } | Store;
  /**
   * Where models come from, asked in order; last the registry, which knows the providers of `provider/name` and takes their keys from the
   * environment.
   */
  readonly models?: readonly ModelProvider[];
  /**
   * The model of agents that name none: `provider/name`, or a language model of the AI SDK. Default: the usual model of the first provider whose
   * key is set. Without any, agents that name none cannot be started (`model-missing`).
   */
  readonly model?: ModelOption;
  /** Agents by their names, beside the built-in ones; one of the same name replaces a built-in. */
  readonly agents?: Readonly<Record<string, AgentOptions>>;
  /** Skills that agents can use. Read a `SKILL.md` with `readSkill`. */
  readonly skills?: readonly SkillDefinition[];
  /**
   * Ordinary tools: made with `tool()`, or by their names, as the AI SDK takes them, its own `tool()` objects included. Default: list, search
   * and read files of the workspace.
   */
  readonly tools?: readonly Tool[] | ToolRecord;
  /**
   * Which calls of tools are allowed, asked about or denied, for every agent that this process executes; a definition's own rules can only
   * narrow them. They hold for every tree that is run here, for as long as it is. Given, also as an empty list: what no rule matches is allowed
   * if it reads files, and asked about otherwise. Left out: every call is allowed.
   */
  readonly permissions?: readonly PermissionRule[];
  /** What agents that are not children are told about the project: usually the text of its AGENTS.md. */
  readonly projectContext?: string;
  /** The folder that tools work in. Default: the current one. */
  readonly workspace?: string;
  /**
   * Keys, tokens and passwords that must never be recorded, beside those Errand knows: the keys of `createModelRegistry` and the password
   * of the database. Wherever one turns up, `[redacted by Errand]` stands in its place.
   */
  readonly secrets?: readonly string[];
  readonly limits?: LimitChoices;
  /**
   * What happens when a request has used `limits.modelCallsPerRequest` model calls: the turn ends with reason `model-call-limit`, or a question asks
   * whether it may go on for as many again, and all its model calls wait for the answer. Default: `end`.
   */
  readonly onModelCallLimit?: "ask" | "end";
  /** Hard caps: what models and definitions may ask for at most. */
  readonly caps?: LimitChoices;
  /** False: the tool `subagent` answers that it is not enabled. */
  readonly subagentEnabled?: boolean;
  /** Kinds of artifacts a report may hold. Default: all. */
  readonly artifactKinds?: readonly ArtifactKind[];
  /** Days for which a tree at rest is kept; null for ever. Default: 30. What was not yet told to a parent never goes. */
  readonly retentionDays?: number | null;
  /** Runs that may be under way at the same time in this process. Default: 64. */
  readonly slots?: number;
  /** Told of failures that no caller waits for, and of listeners that threw. Default: thrown as an uncaught exception; for listeners a warning. */
  readonly onFailure?: (error: ErrandError) => void;
  /**
   * Told what a person should know and need not answer: a tree that was quarantined, that this process cannot run or that another process took
   * over, a channel that is blocked, a full disk or a lock of another program that holds work up, and its end, rows that the database lost.
   * Default: a warning of the process.
   */
  readonly onNotice?: (notice: ErrandError) => void;
  /** Clocks, timers and randomness. Default: the system's. */
  readonly world?: World;
  /**
   * False: what an earlier process left unfinished stays as it is until something is posted to its tree. In a database that several processes
   * share, true makes this one a worker: it takes trees that have something to do and that nobody runs, now and later. Default: true.
   */
  readonly recover?: boolean;
  /** False: trees of the store go on with the definitions and models they were recorded with. Default: true. */
  readonly renewDefinitions?: boolean;
}

const DEFAULT_SLOTS = 64;
const DEFAULT_RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;

/** Opens a store and takes up what an earlier process left unfinished in it. */
export async function createErrand(options: ErrandOptions): Promise<Errand> {
  requireStoreGiven(options);
  requireNumbers(options);
  const world = options.world ?? createSystemWorld();
  const onFailure = options.onFailure === undefined ? rethrow : isolated("onFailure", options.onFailure, warn);
  const shared = options.tools === undefined ? fileTools() : toolsOf(options.tools);
  const { agents = {}, model = modelOfKeys(process.env)?.model } = options;
  const read = readAgents({ agents, model, shared });
  const models = joinProviders([
    ...(options.models ?? []),
    ...givenModels(read.models, world),
    createModelRegistry({ env: process.env, world }),
  ]);
  const tools = ownTools(read.tools);
  const redactor = createRedactor([
    ...(models.secrets ?? []),
    ...(typeof options.store === "string" ? storeSecrets(options.store) : []),
    ...(options.secrets ?? []),
  ]);
  const skills = (options.skills ?? []).map((skill) => ({
    ...skillWithin(skill, tools),
    prompt: redactor.text(skill.prompt),
  }));
  const sharedTools = tools.slice(0, shared.length);
  const catalog = createCatalog({
    definitions: read.definitions.map((agent) => ({ ...agent, prompt: redactor.text(agent.prompt) })),
    builtIn: builtInDefinitions(sharedTools),
    skills,
    tools,
    sharedTools,
    models,
    defaultModel: read.defaultModel,
    projectContext: options.projectContext === undefined ? undefined : redactor.text(options.projectContext),
    sha256,
  });
  const { limits, caps, subagentEnabled, artifactKinds, retentionDays = DEFAULT_RETENTION_DAYS } = options;
  const settings = settingsOf({
    ...(limits === undefined ? {} : { limits }),
    ...(caps === undefined ? {} : { caps }),
    ...(subagentEnabled === undefined ? {} : { subagentEnabled }),
    ...(artifactKinds === undefined ? {} : { artifactKinds }),
  });
  const store = await openStore(options.store, world);
  return openErrand({
    store,
    world,
    clock: await clockOf(store, world),
    models,
    tools,
    catalog,
    settings,
    rights: {
      tools: tools.map((tool) => tool.name),
      ...(options.permissions === undefined ? {} : { permissions: judgedRules(options.permissions) }),
      ...(options.onModelCallLimit === "ask" ? { asks: true } : {}),
    },
    sha256,
    redactor,
    workspace: resolve(options.workspace ?? "."),
    slots: options.slots ?? DEFAULT_SLOTS,
    retentionMs: retentionDays === null ? null : Math.ceil(retentionDays * DAY_MS),
    onFailure,
    onNotice: options.onNotice === undefined ? warn : isolated("onNotice", options.onNotice, onFailure),
    recover: options.recover ?? true,
    renewDefinitions: options.renewDefinitions ?? true,
  });
}

const SPECIFICATIONS: ReadonlySet<string> = new Set(["v3", "v4"]);

/** A provider of the language models that were given as objects, if any were. */
function givenModels(given: ReadonlyMap<string, LanguageModelObject>, world: World): readonly ModelProvider[] {
  for (const [name, { specificationVersion: version }] of given)
    if (!SPECIFICATIONS.has(version))
      throw new ErrandError("model-unknown", `The model ${name} has the interface ${version}, not v3 or v4.`, {
        remedy: "Install the provider's package for version 6 or 7 of the AI SDK.",
      });
  const models = Object.fromEntries(given) as unknown as Parameters<typeof createAiSdkModels>[0];
  return given.size === 0 ? [] : [createAiSdkModels(models, { world })];
}

export function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}

/** Skill files name tools of other programs too: those that are not here are left out. */
function skillWithin(skill: SkillDefinition, tools: readonly Tool[]): SkillDefinition {
  if (skill.tools === undefined) return skill;
  const held = new Set(tools.map((tool) => tool.name));
  return { ...skill, tools: skill.tools.filter((name) => held.has(name)) };
}

/** Programs in JavaScript are not compiled against the options. */
function requireStoreGiven(options: Partial<ErrandOptions> | undefined): void {
  if (options?.store !== undefined && options.store !== "") return;
  throw new ErrandError("usage", "createErrand was given no store.", {
    remedy: 'Say where journals are kept: createErrand({ store: "errand.db" }), a PostgreSQL URL, or "memory".',
  });
}

async function openStore(store: ErrandOptions["store"], world: World): Promise<Store> {
  if (store === "memory") return createMemoryStore();
  if (typeof store === "object" && "commit" in store) return store;
  const { path, durability = "full" } = typeof store === "string" ? { path: store } : store;
  return openStoreAt(path, "own", { world, durability });
}

/** A store that cannot be read or written now is not left open: the caller may try again. */
async function clockOf(store: Store, world: World): Promise<Clock> {
  try {
    return await openClock(store, world);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * The store at a path or a URL: `own` to run its trees, `read` to look and to put mail while other processes may run
 * them. Every store that is run is opened
 * here, so a file that is not trusted is refused to whoever wants to own it; to read, it is opened as a copy that
 * takes no mail.
 */
export async function openStoreAt(
  path: string,
  access: "own" | "read",
  { world = createSystemWorld(), durability = "full" }: { world?: World; durability?: "full" | "relaxed" } = {},
): Promise<Store> {
  if (!postgresUrlIs(path))
    return access === "own" ? openOwnPatiently(path, { durability, world }) : openFileToRead(path, world);
  const { requirePackages } = await import("../stores/postgres/packages.ts");
  requirePackages();
  const { openPostgresStore } = await import("../stores/postgres/postgres-store.ts");
  return openPostgresStore({ url: path, access, world, name: workerName() });
}

const OPENING_PATIENCE_MS = 10_000;
const OPENING_PAUSE_MS = 100;
const OPENING_BUSY_TIMEOUT = 10;

/** Waits for a lock that another program holds on the file, without holding up the event loop. */
async function openOwnPatiently(path: string, options: OwnFileOptions & { readonly world: World }): Promise<Store> {
  const { world } = options;
  for (const began = world.monotonic(); ;) {
    try {
      return openOwnFile(path, { ...options, openingBusyTimeout: OPENING_BUSY_TIMEOUT });
    } catch (error) {
      const busy = error instanceof ErrandError && error.code === "store-busy";
      if (!busy || world.monotonic() - began >= OPENING_PATIENCE_MS) throw error;
    }
    await new Promise<void>((resolve) => world.after(OPENING_PAUSE_MS, resolve));
  }
}

interface OwnFileOptions {
  readonly durability?: "full" | "relaxed";
  readonly evenMoved?: true;
  readonly world?: World;
  readonly openingBusyTimeout?: number;
}

/** A file to run its trees, or to move them elsewhere. */
export function openOwnFile(path: string, options: OwnFileOptions = {}): SqliteStore {
  const { openingBusyTimeout } = options;
  const parts = openingBusyTimeout === undefined ? trustParts() : { ...trustParts(), openingBusyTimeout };
  return openOwnStore({ path, owner: thisProcess(), world: createSystemWorld(), ...options }, parts);
}

function openFileToRead(path: string, world: World): Store {
  const parts = trustParts();
  const real = canonicalPath(path);
  return storeTrustStatus(path).status === "foreign" ? openForeignStore(real) : openTrustedReader(real, parts, world);
}

/** Whether the store of a file may run. */
export function storeTrustStatus(path: string): TrustStatus {
  return trustStatusOf(canonicalPath(path), trustParts());
}

/**
 * What decides which stores may run, as this process has it. Ids and seals are the system's random numbers, whatever
 * world the runtime lives in.
 */
export function trustParts(): TrustParts {
  const { env } = process;
  const trustedIds = (env["ERRAND_TRUST_STORE"] ?? "").split(/[\s,]+/).filter((id) => id !== "");
  return { data: dataFolder({ env, home: homedir() }), world: createSystemWorld(), trustedIds };
}

/** How this process is named to people among the workers of a database. */
export function workerName(): string {
  return `pid ${process.pid} on ${hostname()}`;
}

/** How this process is named to one that wants to own its store. */
export function thisProcess(): { readonly pid: number; readonly host: string; readonly command: string } {
  return { pid: process.pid, host: hostname(), command: process.argv.slice(1, 3).join(" ") };
}

function warn(error: ErrandError): void {
  const { message, code, remedy } = error;
  process.emitWarning(message, { code, ...(remedy === undefined ? {} : { detail: remedy }) });
}

/** A listener that failed must not end the process. */
function rethrow(error: ErrandError): void {
  if (error.code === "listener-failed") return warn(error);
  queueMicrotask(() => {
    throw error;
  });
}
