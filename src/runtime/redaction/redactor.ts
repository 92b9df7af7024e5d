/**
 * Owns the removal of configured secrets from texts, at the edge, before anything is recorded (invariant I28).
 *
 * Invariants:
 *  1. A secret is found as it is, in a JSON string, URL-encoded, and in base64 at any offset of the encoded bytes.
 *  2. A text without a secret is unchanged; redacting twice has no further effect.
 *  3. Values shorter than MIN_LENGTH are not secrets: local servers take any key, and words such as `ollama` occur in
 *     ordinary texts.
 */

import type { Json } from "../../core/values/json.ts";
import { REDACTED } from "../../core/text/index.ts";

export interface Redactor {
  text(text: string): string;
  json<Value extends Json | readonly Json[]>(value: Value): Value;
  /** For streamed text: a piece that may be the beginning of a secret waits for the next one. */
  stream(onText: (piece: string) => void): { onText(piece: string): void; end(): void };
}

const MIN_LENGTH = 8;

export function createRedactor(secrets: readonly string[]): Redactor {
  const wanted = secrets.map((secret) => secret.trim()).filter((secret) => secret.length >= MIN_LENGTH);
  // Longer forms first, because a secret may be part of another.
  const forms = [...new Set(wanted.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);

  function text(given: string): string {
    let clean = given;
    for (const form of forms) if (clean.includes(form)) clean = clean.replaceAll(form, REDACTED);
    return clean;
  }

  function value(given: Json): Json {
    if (typeof given === "string") return text(given);
    if (typeof given !== "object" || given === null) return given;
    if (Array.isArray(given)) return listed(given as readonly Json[]);
    let changed = false;
    const entries = Object.entries(given).map(([name, inner]) => {
      const entry = [text(name), value(inner)] as const;
      changed ||= entry[0] !== name || entry[1] !== inner;
      return entry;
    });
    return changed ? Object.fromEntries(entries) : given;
  }

  function listed(given: readonly Json[]): readonly Json[] {
    const clean = given.map(value);
    return clean.some((inner, index) => inner !== given[index]) ? clean : given;
  }

  /** How many characters at the end may be the beginning of a secret. */
  function openEnd(given: string): number {
    let longest = 0;
    for (const form of forms) {
      for (let length = Math.min(form.length - 1, given.length); length > longest; length -= 1) {
        if (form.startsWith(given.slice(-length))) longest = length;
      }
    }
    return longest;
  }

  return {
    text,
    // The shape stays: only strings are replaced.
    json: (given) => (forms.length === 0 ? given : (value(given) as typeof given)),
    stream(onText) {
      let held = "";
      const emit = (clean: string): void => {
        if (clean !== "") onText(clean);
      };
      return {
        onText(piece) {
          if (forms.length === 0) return onText(piece);
          const whole = text(held + piece);
          const open = openEnd(whole);
          held = whole.slice(whole.length - open);
          emit(whole.slice(0, whole.length - open));
        },
        end() {
          emit(held);
          held = "";
        },
      };
    },
  };
}

function formsOf(secret: string): readonly string[] {
  const url = encodeURIComponent(secret);
  const lower = url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [secret, JSON.stringify(secret).slice(1, -1), url, lower, ...base64Forms(secret)];
}

/**
 * The base64 characters that encode only the secret, for each of the three offsets at which it can begin in a group of
 * bytes.
 */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    const whole = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
