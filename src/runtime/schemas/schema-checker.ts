/**
 * Typed results: whether a child's data fit the requested schema. A Standard Schema checks itself; a JSON Schema is
 * checked here.
 *
 * Invariants:
 *  1. No schema and no data make it throw or leave an unhandled rejection.
 *  2. No check blocks the event loop longer than TRY_MS. A longer one is tried a few more times, because the machine
 *     may be busy; then the data are refused.
 */

import { errorText } from "../../errors.ts";
import type { World } from "../../contracts/world.ts";
import type { Json } from "../../core/values/json.ts";
import { createWatchdog } from "../../watchdog.ts";
import type { StandardSchema } from "../definitions/output-schema.ts";
import { type CheckedSchema, checkSchema } from "./check-schema.ts";
import { dataFault } from "./data-fault.ts";

export interface SchemaChecker {
  /** Why a model's schema cannot be used, with the keyword, or null. */
  schemaProblem(schema: Json): string | null;
  /** Why the data do not fit, with the field, or null. */
  dataProblem(schema: Json, data: Json | undefined): Promise<string | null>;
  /** Why the data do not fit a Standard Schema, with the field, or null. */
  standardProblem(schema: StandardSchema, data: Json | undefined): Promise<string | null>;
}

const MAX_CHECKED = 256;
const TRY_MS = 40;
const TRIES = 3;
const TOO_LONG = "`data` take too long to be checked by their schema; make them smaller";

export function createSchemaChecker(world: Pick<World, "soon">): SchemaChecker {
  const checked = new Map<string, CheckedSchema | { readonly problem: string }>();
  const watchdog = createWatchdog(TRY_MS);

  function ready(schema: Json): CheckedSchema | { readonly problem: string } {
    const text = JSON.stringify(schema);
    const known = checked.get(text);
    if (known !== undefined) return known;
    const found = checkSchema(schema, "user");
    if (checked.size >= MAX_CHECKED) checked.clear();
    checked.set(text, found);
    return found;
  }

  /** Null if it did not finish in any of its tries. */
  async function withTries<Result>(work: () => Result): Promise<{ readonly result: Result } | null> {
    for (let attempt = 1; ; attempt++) {
      const done = watchdog(work);
      if (done !== null || attempt === TRIES) return done;
      await new Promise<void>((resolve) => world.soon(resolve));
    }
  }

  return {
    schemaProblem(schema) {
      const found = checkSchema(schema, "model");
      return "problem" in found ? `\`output_schema\` cannot be used: ${found.problem}` : null;
    },
    async dataProblem(schema, data) {
      if (data === undefined)
        return "`data` is missing; a result of this task must hold data that fit the output schema";
      const found = ready(schema);
      if ("problem" in found) return `\`data\` cannot be checked: their schema cannot be used: ${found.problem}`;
      const done =
        found.patterns.size === 0 ? { result: dataFault(found, data) } : await withTries(() => dataFault(found, data));
      if (done === null) return TOO_LONG;
      if (done.result === null) return null;
      const path = done.result.path.map((part) => `.${String(part)}`).join("");
      return `\`data${path.length > 200 ? `${path.slice(0, 200).toWellFormed()}…` : path}\` ${done.result.message}`;
    },
    async standardProblem(schema, data) {
      // It gets a copy, because some schemas write defaults into their data. Its errors are reported unchanged.
      const done = await withTries(() => captured(() => schema["~standard"].validate(structuredClone(data))));
      if (done === null) return TOO_LONG;
      try {
        const issue = (await done.result()).issues?.[0];
        if (issue === undefined) return null;
        const path = (issue.path ?? [])
          .map((part) => `.${String(typeof part === "object" ? part.key : part)}`)
          .join("");
        return `\`data${path}\`: ${issue.message}`;
      } catch (error) {
        return `\`data\` could not be checked: ${errorText(error)}`;
      }
    },
  };
}

/** Runs the work, and returns a function that returns or throws its outcome later. */
function captured<Result>(work: () => Result): () => Result {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
