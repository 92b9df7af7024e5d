/**
 * Turns a user's options into adapters and a runtime, behind the public `Errand`. It is the only file of the runtime
 * that imports adapters.
 */

import { hash } from "node:crypto";
import { homedir, hostname } from "node:os";
import { resolve } from "node:path";
import type { ModelProvider } from "../contracts/model.ts";
import type { Store } from "../contracts/store.ts";
import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { settingsOf } from "../core/values/limits.ts";
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
import { toolsOf } from "./definitions/ai-sdk-tool.ts";
import { type LanguageModelObject, readAgents } from "./definitions/agent-options.ts";
import { createCatalog, normalizeRules, type SkillDefinition } from "./definitions/catalog.ts";
import { createAiSdkModels } from "../models/ai-sdk/ai-sdk-models.ts";
import { modelOfKeys } from "../models/registry/default-model.ts";
import { createModelRegistry } from "../models/registry/model-registry.ts";
import { requireNumbers } from "./check-options.ts";
import { type Clock, openClock } from "./clock.ts";
import type { ErrandOptions } from "./errand-options.ts";
import type { Errand } from "./errand.ts";
import { openErrand } from "./open-errand.ts";
import { isolateTools } from "./definitions/isolate-tools.ts";
import { isolated } from "./listeners.ts";
import { joinProviders } from "./definitions/join-providers.ts";
import { createDelegationHook } from "./effects/before-delegation.ts";
import { createRedactor } from "./redaction/redactor.ts";
import { createSystemWorld } from "./world.ts";

const DEFAULT_SLOTS = 64;
const DEFAULT_RETENTION_DAYS = 30;
const DAY_MS = 86_400_000;

/** Opens a store, and continues the unfinished work of an earlier process. */
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
  const tools = isolateTools(read.tools);
  const { runners = [] } = options;
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
    runners,
    models,
    defaultModel: read.defaultModel,
    projectContext: options.projectContext === undefined ? undefined : redactor.text(options.projectContext),
    sha256,
  });
  const { retentionDays = DEFAULT_RETENTION_DAYS } = options;
  const store = await openStore(options.store, world);
  return openErrand({
    store,
    world,
    clock: await clockOf(store, world),
    models,
    tools,
    runners,
    catalog,
    settings: settingsOf(options),
    rights: {
      tools: tools.map((tool) => tool.name),
      ...(runners.length === 0 ? {} : { runners: runners.map(({ name }) => name) }),
      ...(options.permissions === undefined ? {} : { permissions: normalizeRules(options.permissions) }),
      ...(options.onModelCallLimit === "ask" ? { asks: true } : {}),
    },
    sha256,
    redactor,
    workspace: resolve(options.workspace ?? "."),
    slots: options.slots ?? DEFAULT_SLOTS,
    retentionMs: retentionDays === null ? null : Math.ceil(retentionDays * DAY_MS),
    delegations: createDelegationHook(options.beforeDelegation, world),
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

/** Skill files also name tools of other programs. Tools that are not installed here are left out. */
function skillWithin(skill: SkillDefinition, tools: readonly Tool[]): SkillDefinition {
  if (skill.tools === undefined) return skill;
  const held = new Set(tools.map((tool) => tool.name));
  return { ...skill, tools: skill.tools.filter((name) => held.has(name)) };
}

/** Programs in JavaScript are not type-checked. */
function requireStoreGiven(options: Partial<ErrandOptions> | undefined): void {
  if (options?.store !== undefined && options.store !== "") return;
  throw new ErrandError("usage", "createErrand needs a store.", {
    remedy: 'Say where journals are kept: createErrand({ store: "errand.db" }), a PostgreSQL URL, or "memory".',
  });
}

async function openStore(store: ErrandOptions["store"], world: World): Promise<Store> {
  if (store === "memory") return createMemoryStore();
  if (typeof store === "object" && "commit" in store) return store;
  const { path, durability = "full" } = typeof store === "string" ? { path: store } : store;
  return openStoreAt(path, "own", { world, durability });
}

/** If the clock cannot be read now the store is closed, so that the caller can try again. */
async function clockOf(store: Store, world: World): Promise<Clock> {
  try {
    return await openClock(store, world);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Opens the store at a path or a URL: with `own` to run its trees, with `read` to read it and to put mail while other
 * processes may run them. Every store that runs trees is opened here. A file that is not trusted cannot be owned; for
 * reading it is opened as a copy that takes no mail.
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

/** While another program holds a lock on the file, tries again without blocking the event loop. */
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

/** Opens a file to run its trees, or to move them to another store. */
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
 * What decides in this process which stores may run. Ids and seals are random numbers of the system, also if the
 * runtime has another world.
 */
export function trustParts(): TrustParts {
  const { env } = process;
  const trustedIds = (env["ERRAND_TRUST_STORE"] ?? "").split(/[\s,]+/).filter((id) => id !== "");
  return { data: dataFolder({ env, home: homedir() }), world: createSystemWorld(), trustedIds };
}

/** The name of this process in the list of workers of a database. */
export function workerName(): string {
  return `pid ${process.pid} on ${hostname()}`;
}

/** What another process reads about this one when it wants to own the same store. */
export function thisProcess(): { readonly pid: number; readonly host: string; readonly command: string } {
  return { pid: process.pid, host: hostname(), command: process.argv.slice(1, 3).join(" ") };
}

function warn(error: ErrandError): void {
  const { message, code, remedy } = error;
  process.emitWarning(message, { code, ...(remedy === undefined ? {} : { detail: remedy }) });
}

/** Ends the process, except for the error of a listener. */
function rethrow(error: ErrandError): void {
  if (error.code === "listener-failed") return warn(error);
  queueMicrotask(() => {
    throw error;
  });
}
