/**
 * Tools of the AI SDK (`tool()` of the package `ai`), as they are. Only their shape is known here; the package is not
 * needed.
 */

import type { Tool } from "../../contracts/tool.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import { tool } from "./define-tool.ts";
import { type OutputSchema, standardSchemaIs } from "./output-schema.ts";

/** An AI SDK tool, as far as its type matters here: what it holds is looked at when it is used. */
export interface AiSdkTool {
  readonly inputSchema: unknown;
}

/** Tools by their names, as `generateText` of the AI SDK takes them. */
export type ToolRecord = Readonly<Record<string, Tool | AiSdkTool>>;

export function toolsOf(given: readonly Tool[] | ToolRecord): readonly Tool[] {
  if (Array.isArray(given)) return given as readonly Tool[];
  return Object.entries(given as ToolRecord).map(([name, one]) =>
    "inputSchema" in one ? aiSdkTool(name, one) : { ...one, name },
  );
}

/** The part of it that is used. */
interface Callable {
  readonly description?: string | ((options: object) => string);
  execute?(input: unknown, options: object): unknown;
  needsApproval?: boolean | ((input: unknown, options: object) => boolean | PromiseLike<boolean>);
  toModelOutput?(given: object): unknown;
}

function aiSdkTool(name: string, given: AiSdkTool): Tool {
  const sdk = given as unknown as Callable;
  if (typeof sdk.execute !== "function")
    throw new ErrandError("usage", `The tool "${name}" has no execute function, so that it cannot run here.`, {
      remedy: "Give it one; tools that the provider or a browser runs are not supported.",
    });
  const { needsApproval, description = "" } = sdk;
  return tool({
    name,
    description: typeof description === "string" ? description : description({}),
    input: schemaOf(name, given.inputSchema),
    ...(needsApproval === undefined
      ? {}
      : {
          needsApproval:
            typeof needsApproval === "boolean"
              ? needsApproval
              : async (input: unknown) => needsApproval(input, { toolCallId: "", messages: [] }),
        }),
    async run(input: unknown, { signal, callId }) {
      const output = await lastOf(sdk.execute?.(input, { toolCallId: callId, messages: [], abortSignal: signal }));
      const shown = await sdk.toModelOutput?.({ toolCallId: callId, input, output });
      return isText(shown) ? shown.value : output;
    },
  });
}

/** A Standard Schema as it is; of `jsonSchema()` of the AI SDK the JSON Schema. */
function schemaOf(name: string, given: unknown): OutputSchema {
  const found: unknown = typeof given === "function" && !("~standard" in given) ? (given as () => unknown)() : given;
  if (typeof found === "object" && found !== null) {
    if ("jsonSchema" in found && jsonObjectIs(found.jsonSchema as Json)) return found.jsonSchema as OutputSchema;
    if (standardSchemaIs(found as OutputSchema)) return found as OutputSchema;
  }
  throw new ErrandError("usage", `The input schema of the tool "${name}" cannot be read.`, {
    remedy: "Give a Standard Schema, such as one of zod, or `jsonSchema({ … })` of the AI SDK.",
  });
}

/** A tool may give preliminary results; the last one counts. */
async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const one of output as AsyncIterable<unknown>) last = one;
  return last;
}

function isText(shown: unknown): shown is { readonly value: unknown } {
  return (
    typeof shown === "object" && shown !== null && "type" in shown && (shown.type === "text" || shown.type === "json")
  );
}
