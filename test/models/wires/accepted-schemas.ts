/**
 * The schemas of tool arguments that providers accept by their documentation, as far as a test can check it. A provider
 * refuses the whole request for one tool that it cannot read.
 */

import { type Fields, parsed, type Wire } from "./wire.ts";

interface Shown {
  readonly name: string;
  readonly description: unknown;
  /** Undefined if it is left out, which some providers allow. */
  readonly schema: unknown;
}

type Check = (schema: Fields, path: string, root: boolean) => readonly string[];

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object", "null"]);

function fieldsIs(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Each part of a schema with its path: properties, items and alternatives, at any depth. */
function partsOf(schema: unknown, path: string): readonly (readonly [string, unknown])[] {
  if (!fieldsIs(schema)) return [[path, schema]];
  const { properties, items, anyOf, oneOf } = schema;
  const inner: (readonly [string, unknown])[] = [
    ...(fieldsIs(properties)
      ? Object.entries(properties).map(([name, part]) => [`${path}.${name}`, part] as const)
      : []),
    ...(items === undefined ? [] : [[`${path}[]`, items] as const]),
    ...[anyOf, oneOf].flatMap((list) =>
      Array.isArray(list) ? list.map((part, index) => [`${path}|${index}`, part] as const) : [],
    ),
  ];
  return [[path, schema], ...inner.flatMap(([at, part]) => partsOf(part, at))];
}

function problems(schema: unknown, check: Check): readonly string[] {
  return partsOf(schema, "$").flatMap(([path, part]) =>
    fieldsIs(part) ? check(part, path, path === "$") : [`${path} is not an object`],
  );
}

/** Rules of all three: the root is an object, everything has a type, arrays have `items`. */
const common: Check = (schema, path, root) => {
  const { type, anyOf, oneOf, items, required, properties } = schema;
  const typed = Array.isArray(type) ? type.every((one) => TYPES.has(one)) : TYPES.has(type);
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return [
    ...(root && type !== "object" ? [`${path} is not of type object`] : []),
    ...(typed || (type === undefined && (anyOf ?? oneOf) !== undefined) ? [] : [`${path} has no type`]),
    ...(type === "array" && !fieldsIs(items) ? [`${path} has no items`] : []),
    ...names.flatMap((name) =>
      fieldsIs(properties) && Object.hasOwn(properties, String(name)) ? [] : [`${path} requires ${String(name)}`],
    ),
  ];
};

/** Draft 2020-12; no alternatives at the root; names of arguments as its error message gives them. */
export const anthropicRefuses: Check = (schema, path, root) => [
  ...common(schema, path, root),
  ...(root ? ["anyOf", "oneOf", "allOf"].filter((word) => word in schema).map((word) => `${path} has ${word}`) : []),
  ...Object.keys(fieldsIs(schema["properties"]) ? schema["properties"] : {})
    .filter((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
    .map((name) => `${path} has a property ${name}`),
  ...("$ref" in schema ? [`${path} has $ref`] : []),
];

/** Not strict: an object with `properties`, references that can be followed. */
export const openaiRefuses: Check = (schema, path, root) => [
  ...common(schema, path, root),
  ...(root && !fieldsIs(schema["properties"]) ? [`${path} has no properties`] : []),
  ...("$ref" in schema ? [`${path} has $ref`] : []),
];

/** The fields of Gemini's `Schema`, the type of `parameters`. Any other field is an error. */
const GEMINI_FIELDS = new Set(
  (
    "type format title description nullable enum maxItems minItems properties required minProperties maxProperties " +
    "minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum"
  ).split(" "),
);

export const geminiParametersRefuse: Check = (schema, path, root) => [
  ...common(schema, path, root),
  ...(Array.isArray(schema["type"]) ? [`${path} has several types`] : []),
  ...Object.keys(schema)
    .filter((field) => !GEMINI_FIELDS.has(field))
    .map((field) => `${path} has ${field}`),
  ...(schema["type"] === "object" && !nonEmpty(schema["properties"]) ? [`${path} has no properties`] : []),
  ...geminiValues(schema, path),
];

/** `parametersJsonSchema`: the keywords of JSON Schema that are documented as supported or ignored. */
const GEMINI_JSON_KEYWORDS = new Set(
  (
    "type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties " +
    "additionalProperties required propertyOrdering minLength maxLength pattern default"
  ).split(" "),
);

const geminiJsonSchemaRefuses: Check = (schema, path, root) => [
  ...common(schema, path, root),
  ...Object.keys(schema)
    .filter((field) => !GEMINI_JSON_KEYWORDS.has(field))
    .map((field) => `${path} has ${field}`),
  ...("properties" in schema && !nonEmpty(schema["properties"]) ? [`${path} has no properties`] : []),
  ...geminiValues(schema, path),
];

function geminiValues(schema: Fields, path: string): readonly string[] {
  const { enum: values, type, format } = schema;
  const members: readonly unknown[] = Array.isArray(values) ? values : [];
  const words = members.every((value) => typeof value === "string" || typeof value === "number");
  return [
    ...(words ? [] : [`${path} has an enum of other values than strings and numbers`]),
    ...(type === "string" && format !== undefined && format !== "date-time" ? [`${path} has a format`] : []),
  ];
}

function nonEmpty(value: unknown): boolean {
  return fieldsIs(value) && Object.keys(value).length > 0;
}

/** Why a provider would refuse these tools; empty if it accepts them. */
export function schemaProblems(tools: readonly Shown[], check: Check): readonly string[] {
  return tools.flatMap(({ name, description, schema }) => [
    ...(NAME.test(name) ? [] : [`${name} is no name`]),
    ...(typeof description === "string" && description !== "" ? [] : [`${name} has no description`]),
    ...(schema === undefined ? [] : problems(schema, check)).map((problem) => `${name}: ${problem}`),
  ]);
}

/** The tools of a request, and why its provider would refuse them. */
export function refusedTools({ title }: Wire, body: string): readonly string[] {
  const { tools } = parsed(body) as { readonly tools?: readonly Fields[] };
  const given = tools ?? [];
  switch (title) {
    case "Anthropic messages":
      return schemaProblems(
        given.map((tool) => shownAs(tool, tool["input_schema"])),
        anthropicRefuses,
      );
    case "OpenAI responses":
      return [
        ...given.filter((tool) => tool["strict"] !== false).map((tool) => `${String(tool["name"])} is strict`),
        ...schemaProblems(
          given.map((tool) => shownAs(tool, tool["parameters"])),
          openaiRefuses,
        ),
      ];
    case "Google streamGenerateContent": {
      const declared = given.flatMap((tool) => tool["functionDeclarations"] as readonly Fields[]);
      return [
        ...schemaProblems(
          declared.map((tool) => shownAs(tool, tool["parameters"])),
          geminiParametersRefuse,
        ),
        ...schemaProblems(
          declared.map((tool) => shownAs(tool, tool["parametersJsonSchema"])),
          geminiJsonSchemaRefuses,
        ),
      ];
    }
    default: {
      const functions = given.map((tool) => tool["function"] as Fields);
      return schemaProblems(
        functions.map((tool) => shownAs(tool, tool["parameters"])),
        openaiRefuses,
      );
    }
  }
}

function shownAs({ name, description }: Fields, schema: unknown): Shown {
  return { name: String(name), description, schema };
}
