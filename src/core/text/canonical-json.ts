// Canonical JSON (RFC 8785): one text for one JSON value.
//
// Invariants
// 1. Equal JSON values give equal strings: keys are sorted by UTF-16 code units, numbers and strings are written by
//    JSON.stringify, which is what the RFC prescribes.
// 2. A value without a canonical form is refused, never repaired: a lone surrogate (the RFC demands an error, and a
//    repair would give two values one text), NaN, undefined, holes, and objects that are not plain.
// 3. No value overflows the stack: nesting beyond CANONICAL_MAX_DEPTH, also by a cycle, is an error like the others.

/** A value may be nested so deep. */
export const CANONICAL_MAX_DEPTH = 1000;

/** Why a value has no canonical JSON: too deep, a lone surrogate, or not JSON. */
export type CanonicalJsonErrorCode = "canonical-depth" | "canonical-surrogate" | "canonical-value";

/** The value has no canonical JSON. */
export class CanonicalJsonError extends Error {
  override readonly name = "CanonicalJsonError";
  readonly code: CanonicalJsonErrorCode;

  constructor(code: CanonicalJsonErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The JSON text of a value with sorted keys (RFC 8785). Throws a `CanonicalJsonError`. */
export function canonicalJson(value: unknown): string {
  const out: string[] = [];
  write(value, 0, out);
  return out.join("");
}

function write(value: unknown, depth: number, out: string[]): void {
  if (value === null || typeof value === "boolean") {
    out.push(String(value));
  } else if (typeof value === "string") {
    out.push(stringText(value));
  } else if (typeof value === "number") {
    if (!Number.isFinite(value)) throw notJson("a number that is not finite");
    out.push(JSON.stringify(value));
  } else if (typeof value !== "object") {
    throw notJson(typeof value);
  } else if (depth >= CANONICAL_MAX_DEPTH) {
    throw new CanonicalJsonError(
      "canonical-depth",
      `The value is nested deeper than ${CANONICAL_MAX_DEPTH} levels; flatten it or pass it as text.`,
    );
  } else if (Array.isArray(value)) {
    writeArray(value, depth, out);
  } else {
    writeObject(value, depth, out);
  }
}

function writeArray(items: readonly unknown[], depth: number, out: string[]): void {
  out.push("[");
  for (let i = 0; i < items.length; i++) {
    if (i > 0) out.push(",");
    write(items[i], depth + 1, out);
  }
  out.push("]");
}

function writeObject(value: object, depth: number, out: string[]): void {
  if (!isPlain(value)) throw notJson("an object that is not plain");
  const entries: [string, unknown][] = Object.entries(value);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  out.push("{");
  entries.forEach(([key, item], i) => {
    if (i > 0) out.push(",");
    out.push(stringText(key), ":");
    write(item, depth + 1, out);
  });
  out.push("}");
}

/** Judged by the length of the prototype chain, so that an object of another realm passes too. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function stringText(text: string): string {
  if (!text.isWellFormed()) {
    throw new CanonicalJsonError(
      "canonical-surrogate",
      "A string holds a lone surrogate, which has no canonical form; make it well formed first.",
    );
  }
  return JSON.stringify(text);
}

function notJson(what: string): CanonicalJsonError {
  return new CanonicalJsonError("canonical-value", `${what} is not a JSON value; leave it out or convert it first.`);
}
