/**
 * Typed results: whether a child's data fit the schema that was asked for. JSON Schema is checked by ajv, loaded when it is first needed;
 * a Standard Schema checks itself, and tells its JSON Schema so that the child's model can be told.
 */

import type { Json } from "../../core/json.ts";

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

type StandardResult<Output> =
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

export interface SchemaChecker {
  /** Why this is no usable JSON Schema, or null. */
  schemaProblem(schema: Json): Promise<string | null>;
  /** Why the data do not fit, naming the field, or null. */
  dataProblem(schema: Json, data: Json | undefined): Promise<string | null>;
}

interface Validate {
  (data: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly message?: string | undefined }[] | null | undefined;
}

const MAX_COMPILED = 256;

export function createSchemaChecker(): SchemaChecker {
  const compiled = new Map<string, Validate>();

  async function compile(schema: Json): Promise<Validate> {
    const text = JSON.stringify(schema);
    const known = compiled.get(text);
    if (known !== undefined) return known;
    const { Ajv2020 } = await import("ajv/dist/2020.js");
    const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
    const validate: Validate = ajv.compile(JSON.parse(text) as Record<string, unknown>);
    if (compiled.size >= MAX_COMPILED) compiled.clear();
    compiled.set(text, validate);
    return validate;
  }

  return {
    async schemaProblem(schema) {
      try {
        await compile(schema);
        return null;
      } catch (error) {
        return `\`output_schema\` is no usable JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
      }
    },
    async dataProblem(schema, data) {
      if (data === undefined)
        return "`data` is missing; a result of this task must hold data that fit the output schema";
      const validate = await compile(schema);
      if (validate(data)) return null;
      const [first] = validate.errors ?? [];
      return `\`data${(first?.instancePath ?? "").replaceAll("/", ".")}\` ${first?.message ?? "does not fit the output schema"}`;
    },
  };
}

/** What a Standard Schema says against the data, naming the field, or null. */
export async function standardProblem(schema: StandardSchema, data: Json | undefined): Promise<string | null> {
  const result = await schema["~standard"].validate(data);
  const issue = result.issues?.[0];
  if (issue === undefined) return null;
  const path = (issue.path ?? []).map((part) => `.${String(typeof part === "object" ? part.key : part)}`).join("");
  return `\`data${path}\`: ${issue.message}`;
}
