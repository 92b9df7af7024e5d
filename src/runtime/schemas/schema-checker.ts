/**
 * Typed results: whether a child's data fit the schema that was asked for. A Standard Schema checks itself; every JSON
 * Schema is checked here.
 *
 * Invariants:
 *  1. Nothing throws and nothing is left to reject, whatever the schema and the data.
 *  2. No check holds the event loop longer than TURN_MS. One that is not done by then gets a few more turns, for a
 *     machine may be busy, and then the data are refused.
 */

import { errorText } from "../../errors.ts";
import type { World } from "../../contracts/world.ts";
import type { Json } from "../../core/values/json.ts";
import { createWatchdog } from "../../watchdog.ts";
import type { StandardSchema } from "../definitions/output-schema.ts";
import { type CheckedSchema, checkSchema } from "./check-schema.ts";
import { dataFault } from "./data-fault.ts";

export interface SchemaChecker {
  /** Why a schema that a model wrote cannot be used, naming the keyword, or null. */
  schemaProblem(schema: Json): string | null;
  /** Why the data do not fit, naming the field, or null. */
  dataProblem(schema: Json, data: Json | undefined): Promise<string | null>;
  /** What a Standard Schema says against the data, naming the field, or null. */
  standardProblem(schema: StandardSchema, data: Json | undefined): Promise<string | null>;
}

const MAX_CHECKED = 256;
const TURN_MS = 40;
const TURNS = 3;
const TOO_LONG = "`data` take too long to be checked by their schema; make them smaller";

export function createSchemaChecker(world: Pick<World, "soon">): SchemaChecker {
  const checked = new Map<string, CheckedSchema | { readonly problem: string }>();
  const watchdog = createWatchdog(TURN_MS);

  function ready(schema: Json): CheckedSchema | { readonly problem: string } {
    const text = JSON.stringify(schema);
    const known = checked.get(text);
    if (known !== undefined) return known;
    const found = checkSchema(schema, "user");
    if (checked.size >= MAX_CHECKED) checked.clear();
    checked.set(text, found);
    return found;
  }

  /** Null if it was not done in any of its turns. */
  async function inTurns<Result>(work: () => Result): Promise<{ readonly result: Result } | null> {
    for (let turn = 1; ; turn++) {
      const done = watchdog(work);
      if (done !== null || turn === TURNS) return done;
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
        found.patterns.size === 0 ? { result: dataFault(found, data) } : await inTurns(() => dataFault(found, data));
      if (done === null) return TOO_LONG;
      if (done.result === null) return null;
      const path = done.result.path.map((part) => `.${String(part)}`).join("");
      return `\`data${path.length > 200 ? `${path.slice(0, 200).toWellFormed()}…` : path}\` ${done.result.message}`;
    },
    async standardProblem(schema, data) {
      // It gets a copy: some schemas write defaults into what they check. What it throws is told as it is.
      const done = await inTurns(() => attempt(() => schema["~standard"].validate(structuredClone(data))));
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

/** What the work gives or throws, to be given or thrown later. */
function attempt<Result>(work: () => Result): () => Result {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
