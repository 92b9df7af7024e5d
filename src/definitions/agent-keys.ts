/** Keys of agent files with plain values (model, limits, reporting), and warnings about all other keys. */

import type { Json } from "../core/values/json.ts";
import { entriesOf, type Field, type Fields, type Warn } from "./fields.ts";

interface PlainKeys {
  readonly model?: string;
  readonly reporting?: "tool" | "tag";
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  readonly say?: boolean;
  readonly runner?: string;
  /** What its runner needs. */
  readonly settings?: { readonly [name: string]: Json };
}

/** Read here or elsewhere in this folder. */
const READ = (
  "name description prompt developerinstructions tools allowedtools disallowedtools excludetools model reporting say " +
  "skills runner settings disable disabled kind readonly sandboxmode permission permissionmode"
).split(" ");
/** Values by the factor that makes them iterations or seconds. */
const ITERATIONS = { maxiterations: 1, maxturns: 1, steps: 1, maxsteps: 1 } as const;
const SECONDS = { timeoutseconds: 1, timeoutmins: 60, timeoutminutes: 60 } as const;
/** For people and other programs. They need no warning. */
const IGNORED = (
  "color colour icon emoji version license author metadata tags nicknamecandidates nickname hidden argumenthint " +
  "target displayname mode usage whentouse"
).split(" ");
/** Features of other programs. */
const UNSUPPORTED = (
  "background isbackground isolation effort memory hooks mcpservers mcpserver temperature topp modelreasoningeffort " +
  "modelreasoningsummary modelverbosity modelprovider modelproviders initialprompt handoffs agents websearch options " +
  "reasoningeffort thinking env baseurl url command"
).split(" ");

/** Every key that Errand reads from an agent file, without case, `-` and `_`. */
export const AGENT_KEYS: readonly string[] = [...READ, ...Object.keys(ITERATIONS), ...Object.keys(SECONDS)];

const MODEL = /^[a-z0-9][a-z0-9_-]*\/\S+$/i;
/** In other programs: the model of the parent. */
const DEFAULT_MODEL = "inherit";
const MAX_ITERATIONS = 100_000;
const MAX_SECONDS = 30 * 86_400;

export function readKeys(fields: Fields, warn: Warn): PlainKeys {
  const { byKey } = fields;
  const model = modelOf(byKey.get("model"), warn);
  const maxIterations = firstNumber(ITERATIONS, MAX_ITERATIONS, fields, warn);
  const timeoutSeconds = firstNumber(SECONDS, MAX_SECONDS, fields, warn);
  const reporting = byKey.get("reporting");
  if (reporting !== undefined && reporting.value !== "tool" && reporting.value !== "tag")
    warn("`reporting` is `tool` or `tag`, and was left out", reporting);
  const say = byKey.get("say");
  if (say !== undefined && typeof say.value !== "boolean") warn("`say` is true or false, and was left out", say);
  warnOfOthers(fields, warn);
  const runner = runnerOf(byKey, warn);
  return {
    ...(model === null ? {} : { model }),
    ...(maxIterations === null ? {} : { maxIterations }),
    ...(timeoutSeconds === null ? {} : { timeoutSeconds }),
    ...(runner.runner === undefined && (reporting?.value === "tool" || reporting?.value === "tag")
      ? { reporting: reporting.value }
      : {}),
    ...(runner.runner === undefined && typeof say?.value === "boolean" ? { say: say.value } : {}),
    ...runner,
  };
}

/** The runner and its settings. Settings without a runner are left out. */
function runnerOf(byKey: Fields["byKey"], warn: Warn): Pick<PlainKeys, "runner" | "settings"> {
  const runner = byKey.get("runner");
  const settings = byKey.get("settings");
  if (runner === undefined || typeof runner.value !== "string" || runner.value.trim() === "") {
    if (runner !== undefined) warn("`runner` is the name of a runner, and was left out", runner);
    if (settings !== undefined) warn("`settings` are for a runner, and were left out", settings);
    return {};
  }
  const entries = settings === undefined ? [] : entriesOf(settings.value);
  if (entries === null) warn("`settings` is a list of keys with values, and was left out", settings);
  const plain = Object.fromEntries((entries ?? []).map(([name, value]) => [name, jsonOf(value)]));
  return { runner: runner.value.trim(), settings: plain };
}

/** A value of a file as plain JSON. Files nest to a limited depth. */
function jsonOf(value: unknown): Json {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(jsonOf);
  const entries = entriesOf(value);
  // Other kinds of YAML values, such as dates, are no JSON.
  return entries === null ? null : Object.fromEntries(entries.map(([name, inner]) => [name, jsonOf(inner)]));
}

function modelOf(field: Field | undefined, warn: Warn): string | null {
  const given = Array.isArray(field?.value) ? (field.value as readonly unknown[])[0] : field?.value;
  if (field === undefined || given === null || given === DEFAULT_MODEL) return null;
  if (typeof given === "string" && MODEL.test(given.trim())) return given.trim();
  const shown = typeof given === "string" ? `"${given.slice(0, 100)}"` : "of that kind";
  warn(`the model ${shown} was left out, and the default is used: models are named provider/model here`, field);
  return null;
}

/** The first of the keys with a valid value, times its factor. */
function firstNumber(
  factors: Readonly<Record<string, number>>,
  limit: number,
  { byKey }: Fields,
  warn: Warn,
): number | null {
  for (const [key, factor] of Object.entries(factors)) {
    const field = byKey.get(key);
    if (field === undefined || field.value === null) continue;
    const number = typeof field.value === "string" ? Number(field.value) : field.value;
    if (typeof number === "number" && number > 0 && number * factor <= limit) return Math.ceil(number * factor);
    warn(`\`${field.key}\` must be a number above 0 and up to ${limit / factor}, and was left out`, field);
  }
  return null;
}

function warnOfOthers({ byKey }: Fields, warn: Warn): void {
  const known = new Set([...AGENT_KEYS, ...IGNORED]);
  for (const [key, field] of byKey) {
    if (known.has(key) || field.value === false || field.value === null) continue;
    if (UNSUPPORTED.includes(key)) warn(`\`${field.key}\` is not acted on`, field);
    else warn(`\`${field.key.slice(0, 100)}\` is not a key that is known here`, field);
  }
}
