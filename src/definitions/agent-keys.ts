/** The keys of agent files that are plain values: model, limits, reporting; and what is said about all others. */

import type { Field, Fields } from "./fields.ts";

interface PlainKeys {
  readonly model?: string;
  readonly reporting?: "tool" | "tag";
  readonly maxIterations?: number;
  readonly timeoutSeconds?: number;
  readonly say?: boolean;
}

type Warn = (text: string, field?: Field) => void;

/** Read here or elsewhere in this folder. */
const READ =
  "name description prompt developerinstructions tools allowedtools disallowedtools excludetools model reporting say skills disable disabled kind readonly sandboxmode permission permissionmode";
const ITERATIONS = ["maxiterations", "maxturns", "steps", "maxsteps"];
const TIMES: readonly (readonly [string, number])[] = [
  ["timeoutseconds", 1],
  ["timeoutmins", 60],
  ["timeoutminutes", 60],
];
/** For people and other programs only: leaving them out changes nothing. */
const QUIET =
  "color colour icon emoji version license author metadata tags nicknamecandidates nickname hidden argumenthint target displayname mode usage whentouse";
/** Asked for and not done: said so once. */
const UNSUPPORTED =
  "background isbackground isolation effort memory hooks mcpservers mcpserver temperature topp modelreasoningeffort modelreasoningsummary modelverbosity modelprovider modelproviders initialprompt handoffs agents websearch options reasoningeffort thinking env baseurl url command";

const MODEL = /^[a-z0-9][a-z0-9_-]*\/\S+$/i;
/** How other programs name the model of whoever asks. */
const DEFAULT_MODEL = "inherit";
const ITERATIONS_LIMIT = 100_000;
const SECONDS_LIMIT = 30 * 86_400;

export function readKeys(fields: Fields, warn: Warn): PlainKeys {
  const { byKey } = fields;
  const model = modelOf(byKey.get("model"), warn);
  const maxIterations = firstNumber(
    ITERATIONS.map((key) => [key, 1] as const),
    ITERATIONS_LIMIT,
    fields,
    warn,
  );
  const timeoutSeconds = firstNumber(TIMES, SECONDS_LIMIT, fields, warn);
  const reporting = byKey.get("reporting");
  if (reporting !== undefined && reporting.value !== "tool" && reporting.value !== "tag")
    warn("`reporting` is `tool` or `tag`, and was left out", reporting);
  const say = byKey.get("say");
  if (say !== undefined && typeof say.value !== "boolean") warn("`say` is true or false, and was left out", say);
  warnOfOthers(fields, warn);
  return {
    ...(model === null ? {} : { model }),
    ...(maxIterations === null ? {} : { maxIterations }),
    ...(timeoutSeconds === null ? {} : { timeoutSeconds }),
    ...(reporting?.value === "tool" || reporting?.value === "tag" ? { reporting: reporting.value } : {}),
    ...(typeof say?.value === "boolean" ? { say: say.value } : {}),
  };
}

function modelOf(field: Field | undefined, warn: Warn): string | null {
  const given = Array.isArray(field?.value) ? (field.value as readonly unknown[])[0] : field?.value;
  if (field === undefined || given === null || given === DEFAULT_MODEL) return null;
  if (typeof given === "string" && MODEL.test(given.trim())) return given.trim();
  const shown = typeof given === "string" ? `"${given.slice(0, 100)}"` : "of that kind";
  warn(`the model ${shown} was left out, and the default is used: models are named provider/model here`, field);
  return null;
}

function firstNumber(
  keys: readonly (readonly [string, number])[],
  limit: number,
  { byKey }: Fields,
  warn: Warn,
): number | null {
  for (const [key, factor] of keys) {
    const field = byKey.get(key);
    if (field === undefined || field.value === null) continue;
    const number = typeof field.value === "string" ? Number(field.value) : field.value;
    if (typeof number === "number" && number > 0 && number * factor <= limit) return Math.ceil(number * factor);
    warn(`\`${field.key}\` must be a number above 0 and up to ${limit / factor}, and was left out`, field);
  }
  return null;
}

function warnOfOthers({ byKey }: Fields, warn: Warn): void {
  const known = new Set([...READ.split(" "), ...QUIET.split(" "), ...ITERATIONS, ...TIMES.map(([key]) => key)]);
  const unsupported = new Set(UNSUPPORTED.split(" "));
  for (const [key, field] of byKey) {
    if (known.has(key) || field.value === false || field.value === null) continue;
    warn(
      unsupported.has(key)
        ? `\`${field.key}\` is not acted on`
        : `\`${field.key.slice(0, 100)}\` is not a key that is known here`,
      field,
    );
  }
}
