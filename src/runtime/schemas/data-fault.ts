/**
 * Checks data against a JSON Schema (draft 2020-12). It interprets the schema, so that no text of a schema becomes
 * code.
 *
 * Invariants:
 *  1. It takes at most STEPS steps and nests at most DEPTH calls for any schema and data. Beyond that the data are
 *     refused.
 *  2. Only regular expressions can take longer than their steps. A caller that allows them uses a watchdog.
 *  3. It returns the first fault, with its path in the data.
 */

import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import type { CheckedSchema } from "./check-schema.ts";
import { createJsonComparison } from "./compare-json.ts";
import { numberFault, textFault, typeFits } from "./simple-faults.ts";

export interface DataFault {
  /** Names of properties and positions of items, from the outside in. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type JsonObject = { readonly [key: string]: Json };
/** The properties and items of one value that keywords have evaluated. */
interface Evaluated {
  readonly names: Set<string>;
  items: number;
  readonly positions: Set<number>;
}

const STEPS = 200_000;
const DEPTH = 256;

/** Only `dataFault` catches it. */
class LimitReached extends Error {}

/** Null if the data fit. */
export function dataFault({ schema, patterns, references }: CheckedSchema, data: Json): DataFault | null {
  let left = STEPS;
  let depth = 0;
  const path: (string | number)[] = [];

  function spend(steps: number): void {
    left -= steps;
    if (left < 0) throw new LimitReached("too large for their schema to be checked");
  }

  const { equal, textOf } = createJsonComparison(spend, DEPTH);
  const fault = (message: string): DataFault => ({ path: [...path], message });

  function checkMember(place: string | number, given: Json, value: Json): DataFault | null {
    path.push(place);
    const found = check(given, value);
    path.pop();
    return found;
  }

  function check(given: Json, value: Json, evaluated: Evaluated = nothingEvaluated()): DataFault | null {
    spend(1);
    if (given === false) return fault("must not be there");
    if (!jsonObjectIs(given)) return null;
    if (++depth > DEPTH) throw new LimitReached("nested too deep to be checked");
    spend(Object.keys(given).length);
    const found =
      assertions(given, value) ??
      applicators(given, value, evaluated) ??
      (Array.isArray(value)
        ? arrayKeywords(given, value, evaluated)
        : jsonObjectIs(value)
          ? objectKeywords(given, value, evaluated)
          : null);
    depth--;
    return found;
  }

  function assertions(given: JsonObject, value: Json): DataFault | null {
    const { type, enum: values, const: only } = given;
    if (type !== undefined && !typeFits(type, value))
      return fault(
        `must be ${
          typeof type === "string"
            ? type
            : listOf(type)
                .map((name) => JSON.stringify(name))
                .join(" or ")
        }`,
      );
    if (only !== undefined && !equal(only, value)) return fault("must be equal to the constant of the schema");
    if (Array.isArray(values) && !values.some((item: Json) => equal(item, value)))
      return fault("must be equal to one of the values of the schema");
    if (typeof value === "number") return wrapped(numberFault(given, value));
    if (typeof value !== "string") return null;
    spend(value.length / 64);
    const { pattern } = given;
    if (typeof pattern === "string" && patterns.get(pattern)?.test(value) !== true)
      return fault(`must match the pattern ${JSON.stringify(pattern.slice(0, 200))}`);
    return wrapped(textFault(given, value));
  }

  function wrapped(message: string | null): DataFault | null {
    return message === null ? null : fault(message);
  }

  function applicators(given: JsonObject, value: Json, evaluated: Evaluated): DataFault | null {
    const { $ref, allOf, anyOf, oneOf, not } = given;
    const whole = [...(typeof $ref === "string" ? [references.get($ref) ?? false] : []), ...listOf(allOf)];
    for (const inner of whole) {
      const found = trySchema(inner, value, evaluated);
      if (found !== null) return found;
    }
    if (anyOf !== undefined) {
      const faults = listOf(anyOf).map((inner) => trySchema(inner, value, evaluated));
      if (!faults.includes(null)) return faults.length === 1 ? (faults[0] ?? null) : fault(`must match one of anyOf`);
    }
    if (oneOf !== undefined) {
      const fits = listOf(oneOf).filter((inner) => trySchema(inner, value, nothingEvaluated()) === null);
      const [one] = fits;
      if (one === undefined || fits.length > 1)
        return fault(`must match exactly one schema of oneOf, and matches ${fits.length}`);
      trySchema(one, value, evaluated);
    }
    if (not !== undefined && trySchema(not, value, nothingEvaluated()) === null) return fault("must not match `not`");
    return condition(given, value, evaluated);
  }

  function condition(given: JsonObject, value: Json, evaluated: Evaluated): DataFault | null {
    if (given["if"] === undefined) return null;
    const next = trySchema(given["if"], value, evaluated) === null ? given["then"] : given["else"];
    return next === undefined ? null : trySchema(next, value, evaluated);
  }

  /**
   * Like `check`, for one of several schemas: it does not see what the others evaluated, and its own evaluation counts
   * only if the value fits.
   */
  function trySchema(given: Json, value: Json, evaluated: Evaluated): DataFault | null {
    const own = nothingEvaluated();
    const length = path.length;
    const level = depth;
    const found = check(given, value, own);
    path.length = length;
    depth = level;
    if (found === null) merge(evaluated, own);
    return found;
  }

  function merge(evaluated: Evaluated, own: Evaluated): void {
    spend(own.names.size + own.positions.size);
    for (const name of own.names) evaluated.names.add(name);
    for (const position of own.positions) evaluated.positions.add(position);
    evaluated.items = Math.max(evaluated.items, own.items);
  }

  function arrayKeywords(given: JsonObject, value: readonly Json[], evaluated: Evaluated): DataFault | null {
    const { minItems, maxItems, uniqueItems, items, contains, unevaluatedItems } = given;
    if (typeof minItems === "number" && value.length < minItems) return fault(`must have at least ${minItems} items`);
    if (typeof maxItems === "number" && value.length > maxItems) return fault(`must have at most ${maxItems} items`);
    if (uniqueItems === true && new Set(value.map((item) => textOf(item))).size < value.length)
      return fault("must not have the same item twice");
    const prefix = listOf(given["prefixItems"]);
    for (const [index, item] of value.entries()) {
      const wanted = prefix[index] ?? items;
      if (wanted === undefined) break;
      const found = checkMember(index, wanted, item);
      if (found !== null) return found;
    }
    evaluated.items = Math.max(
      evaluated.items,
      items === undefined ? Math.min(prefix.length, value.length) : value.length,
    );
    if (contains !== undefined) {
      const found = containsFault(given, contains, value, evaluated);
      if (found !== null) return found;
    }
    if (unevaluatedItems === undefined) return null;
    for (const [index, item] of value.entries()) {
      spend(1);
      if (index < evaluated.items || evaluated.positions.has(index)) continue;
      const found = checkMember(index, unevaluatedItems, item);
      if (found !== null) return found;
    }
    evaluated.items = value.length;
    return null;
  }

  function containsFault(
    given: JsonObject,
    wanted: Json,
    value: readonly Json[],
    evaluated: Evaluated,
  ): DataFault | null {
    const { minContains = 1, maxContains } = given;
    let count = 0;
    for (const [index, item] of value.entries()) {
      if (trySchema(wanted, item, nothingEvaluated()) !== null) continue;
      evaluated.positions.add(index);
      count++;
    }
    if (count < Number(minContains)) return fault(`must contain at least ${Number(minContains)} items of a kind`);
    if (typeof maxContains === "number" && count > maxContains)
      return fault(`must contain at most ${maxContains} items of a kind`);
    return null;
  }

  function objectKeywords(given: JsonObject, value: JsonObject, evaluated: Evaluated): DataFault | null {
    const names = Object.keys(value);
    const { minProperties, maxProperties, additionalProperties, propertyNames, unevaluatedProperties } = given;
    spend(names.length);
    if (typeof minProperties === "number" && names.length < minProperties)
      return fault(`must have at least ${minProperties} properties`);
    if (typeof maxProperties === "number" && names.length > maxProperties)
      return fault(`must have at most ${maxProperties} properties`);
    const missing = missingName(given, value);
    if (missing !== null) return fault(`must have the property ${shown(missing)}`);
    const properties = jsonObjectIs(given["properties"]) ? given["properties"] : {};
    const byPattern = jsonObjectIs(given["patternProperties"]) ? Object.entries(given["patternProperties"]) : [];
    for (const name of names) {
      const inner = value[name] ?? null;
      if (propertyNames !== undefined && trySchema(propertyNames, name, nothingEvaluated()) !== null)
        return fault(`must not have the property ${shown(name)}: its name does not fit`);
      const wanted = Object.hasOwn(properties, name) ? [properties[name] ?? null] : [];
      spend(byPattern.length);
      for (const [pattern, schemaOf] of byPattern)
        if (patterns.get(pattern)?.test(name) === true) wanted.push(schemaOf);
      if (wanted.length === 0 && additionalProperties !== undefined) {
        if (additionalProperties === false) return fault(`must not have the property ${shown(name)}`);
        wanted.push(additionalProperties);
      }
      if (wanted.length > 0) evaluated.names.add(name);
      for (const schemaOf of wanted) {
        const found = checkMember(name, schemaOf, inner);
        if (found !== null) return found;
      }
    }
    for (const [name, schemaOf] of entriesOf(given["dependentSchemas"])) {
      const found = Object.hasOwn(value, name) ? trySchema(schemaOf, value, evaluated) : null;
      if (found !== null) return found;
    }
    if (unevaluatedProperties === undefined) return null;
    for (const name of names) {
      if (evaluated.names.has(name)) continue;
      const found = checkMember(name, unevaluatedProperties, value[name] ?? null);
      if (found !== null) return found;
      evaluated.names.add(name);
    }
    return null;
  }

  function missingName(given: JsonObject, value: JsonObject): string | null {
    const wanted = listOf(given["required"]).map(String);
    for (const [name, others] of entriesOf(given["dependentRequired"]))
      if (Object.hasOwn(value, name)) wanted.push(...listOf(others).map(String));
    spend(wanted.length);
    return wanted.find((name) => !Object.hasOwn(value, name)) ?? null;
  }

  try {
    return check(schema, data);
  } catch (error) {
    if (error instanceof LimitReached) return { path: [], message: `are ${error.message}` };
    throw error;
  }
}

function nothingEvaluated(): Evaluated {
  return { names: new Set(), items: 0, positions: new Set() };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return jsonObjectIs(value) ? Object.entries(value) : [];
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100).toWellFormed());
}
