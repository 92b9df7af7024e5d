/**
 * Output schemas as users give them: a JSON Schema, or a Standard Schema, which tells its JSON Schema so that the
 * child's model can be told.
 */

import type { Json } from "../../core/values/json.ts";

/** The part of the Standard Schema contract that is used here. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
    };
    readonly types?: { readonly output: Output } | undefined;
  };
}

/** What a Standard Schema finds: the value, or issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
      readonly issues: readonly {
        readonly message: string;
        readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
      }[];
    };

/** A schema for the data of a result. */
export type OutputSchema<Output = unknown> = StandardSchema<Output> | { readonly [keyword: string]: Json };

export function standardSchemaIs(schema: OutputSchema): schema is StandardSchema {
  return "~standard" in schema;
}

/** The JSON Schema of an output schema, or null when a Standard Schema cannot tell it. */
export function jsonSchemaOf(schema: OutputSchema): Json | null {
  if (!standardSchemaIs(schema)) return schema;
  const told = schema["~standard"].jsonSchema?.input({ target: "draft-2020-12" });
  return told === undefined ? null : (JSON.parse(JSON.stringify(told)) as Json);
}
