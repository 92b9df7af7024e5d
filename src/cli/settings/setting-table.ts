/** Every setting: its meaning, its values, and which values of a project need the user's trust. */

import type { Json } from "../../core/values/json.ts";
import { LIMITS, type LimitName } from "../../core/values/limits.ts";
import { permissionRules } from "./permission-rules.ts";

export interface Setting {
  readonly key: string;
  readonly meaning: string;
  /** How a typed value is read. */
  readonly type: "text" | "number" | "json";
  /** Null for none. */
  readonly default: Json;
  /** The limit that it sets. */
  readonly limit?: LimitName;
  /** The environment variable that overrides the files. */
  readonly variable?: string;
  /** True: the project's value and the user's own are both used. */
  readonly joined?: true;
  /** What is wrong with a value; null if it is valid. */
  problem(value: Json): string | null;
  /**
   * What a project's value asks for that the user must agree to; null if nothing. `own`: the value without the project.
   */
  asks?(value: Json, own: Json): string | null;
}

/** Typed for null. */
export const NONE = "none";
const DAYS_LIMIT = 36_500;
const SECONDS_LIMIT = 7 * 86_400;

const DEFAULT_RETENTION_DAYS = 30;

export const SETTINGS: readonly Setting[] = [
  {
    key: "model",
    meaning: "the model of agents whose definition names none",
    type: "text",
    default: null,
    variable: "ERRAND_MODEL",
    problem: (value) =>
      typeof value === "string" && /^[a-z0-9][a-z0-9_-]*\/\S+$/i.test(value) ? null : "a model is named provider/name",
    asks: (value, own) => (value === own ? null : "a model"),
  },
  {
    key: "baseUrl",
    meaning: "where openai-compatible/NAME is",
    type: "text",
    default: null,
    variable: "OPENAI_COMPATIBLE_BASE_URL",
    problem: urlProblem,
    asks: () => "a base URL",
  },
  {
    key: "store",
    meaning: "the store's file or PostgreSQL URL, instead of the folder's own in your data folder",
    type: "text",
    default: null,
    problem: (value) => (typeof value === "string" && value.trim() !== "" ? null : "it is the path of a file"),
    asks: (value, own) => (value === own ? null : "a store"),
  },
  {
    key: "useDatabaseUrl",
    meaning: "true: the PostgreSQL database of DATABASE_URL is the store",
    type: "json",
    default: false,
    problem: booleanProblem,
    asks: (value) => (value === true ? "a store" : null),
  },
  {
    key: "timeout",
    meaning: "seconds after which run, resume and fork cancel the work",
    type: "number",
    default: null,
    problem: (value) => numberProblem(value, { least: 0.001, most: SECONDS_LIMIT, none: true, whole: false }),
  },
  {
    key: "retentionDays",
    meaning: "days for which a tree at rest is kept",
    type: "number",
    default: DEFAULT_RETENTION_DAYS,
    problem: (value) => numberProblem(value, { least: 1, most: DAYS_LIMIT, none: true }),
    asks: (value, own) => (above(own, value) ? "a shorter retention than yours" : null),
  },
  {
    key: "subagent.enabled",
    meaning: "whether agents may delegate: false refuses every delegation",
    type: "json",
    default: true,
    problem: booleanProblem,
    asks: (value, own) => (value === true && own === false ? "delegation, which you have switched off" : null),
  },
  {
    key: "permissions",
    meaning: "which calls of tools are allowed, asked about or denied",
    type: "json",
    default: null,
    joined: true,
    problem(value) {
      const rules = permissionRules(value);
      return typeof rules === "string" ? rules : null;
    },
    asks(value) {
      const rules = permissionRules(value);
      return typeof rules !== "string" && rules.some(({ decision }) => decision === "allow") ? "permissions" : null;
    },
  },
  ...Object.keys(LIMITS).filter(limitIs).map(limitSetting),
];

function limitIs(name: string): name is LimitName {
  return Object.hasOwn(LIMITS, name);
}

function limitSetting(name: LimitName): Setting {
  const { default: value, meaning } = LIMITS[name];
  const least = name === "maxDepth" ? 0 : 1;
  return {
    key: `limits.${name}`,
    meaning,
    type: "number",
    default: value,
    limit: name,
    problem: (given) => numberProblem(given, { least, most: Number.MAX_SAFE_INTEGER, none: value === null }),
    asks: (given, own) => (above(given, own) ? "a limit above yours" : null),
  };
}

/** Null is no limit. */
function above(a: Json, b: Json): boolean {
  return (typeof a === "number" ? a : Infinity) > (typeof b === "number" ? b : Infinity);
}

function numberProblem(
  value: Json,
  { least, most, none, whole = true }: { least: number; most: number; none: boolean; whole?: boolean },
): string | null {
  if (value === null && none) return null;
  const right = typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value));
  if (right) return null;
  const from = least > 0 && !whole ? "above 0" : `from ${least}`;
  const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` up to ${most}`;
  return `it is a ${whole ? "whole " : ""}number ${from}${upTo}${none ? ", or none" : ""}`;
}

function booleanProblem(value: Json): string | null {
  return typeof value === "boolean" ? null : "it is true or false";
}

function urlProblem(value: Json): string | null {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return "it is a URL with http or https";
  if (url.username !== "" || url.password !== "")
    return "a password does not belong there: put the key into the environment";
  return null;
}
