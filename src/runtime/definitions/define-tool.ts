/**
 * Tools as programs write them: arguments that are checked and typed, and any JSON or text as a result.
 *
 * Invariant: wrong arguments, a thrown error and a result that is no JSON are failed results that the model can read.
 */

import type { Tool, ToolContext, ToolOutput } from "../../contracts/tool.ts";
import type { Json } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import { plainJson } from "../../plain-json.ts";
import { type CheckedSchema, checkSchema } from "../schemas/check-schema.ts";
import { dataFault } from "../schemas/data-fault.ts";
import { jsonSchemaOf, type OutputSchema, standardSchemaIs, type StandardSchema } from "./output-schema.ts";

/** The type of the arguments that a schema describes. */
export type InputOf<Schema> = Schema extends StandardSchema<infer Input> ? Input : { readonly [name: string]: Json };

/** What became of a call that a crash interrupted. */
export type RecoveredCall = { readonly happened: false } | { readonly happened: true; readonly result: unknown };

/** What a tool is, and what it does. */
export interface ToolOptions<Schema extends OutputSchema | undefined> {
  readonly name: string;
  /** When to use it: models read this. */
  readonly description: string;
  /**
   * Schema of the arguments: a Standard Schema, such as one of zod, or a JSON Schema. Without it the tool takes none.
   */
  readonly input?: Schema;
  /** True if running it twice does no more than running it once. It is then repeated after a crash. Default: false. */
  readonly safe?: boolean;
  /** Whether the user is asked before the call. */
  readonly needsApproval?: boolean | ((input: InputOf<Schema>) => boolean | Promise<boolean>);
  /** Any JSON value or text is the result. A thrown error is a failed result with its message. */
  run(input: InputOf<Schema>, context: ToolContext): unknown;
  /**
   * For a tool that is not safe to repeat: what became of a call that a crash interrupted. It changes nothing, and may
   * be asked more than once. Without it, or if it throws, the model reads that the outcome is unknown.
   */
  recover?(input: InputOf<Schema>, context: ToolContext): RecoveredCall | Promise<RecoveredCall>;
}

/** A tool of the program's own. */
export function tool<Schema extends OutputSchema | undefined = undefined>(options: ToolOptions<Schema>): Tool {
  const { name, description, safe = false, needsApproval } = options;
  const { schema, parse } = parserOf<InputOf<Schema>>(name, options.input);
  const recover = options.recover?.bind(options);

  async function outputOf(
    input: Json,
    act: (parsed: InputOf<Schema>) => unknown,
  ): Promise<ToolOutput | { readonly value: unknown }> {
    const parsed = await parse(input);
    if ("problem" in parsed) return { text: `Error: ${name}: ${parsed.problem}`, failed: true };
    return { value: await act(parsed.value) };
  }

  return {
    name,
    description,
    schema,
    safe,
    async run(input, context) {
      const output = await outputOf(input, (parsed) => options.run(parsed, context));
      return "text" in output ? output : resultText(name, output.value);
    },
    ...(needsApproval === undefined
      ? {}
      : {
          async needsApproval(input) {
            if (typeof needsApproval === "boolean") return needsApproval;
            const parsed = await parse(input);
            // A call with invalid arguments needs no approval: it will not be made.
            return "value" in parsed && (await needsApproval(parsed.value));
          },
        }),
    ...(recover === undefined
      ? {}
      : {
          async recover(input, context) {
            const output = await outputOf(input, (parsed) => recover(parsed, context));
            if ("text" in output) return output;
            const became = output.value as RecoveredCall;
            return became.happened ? resultText(name, became.result) : "never-happened";
          },
        }),
  };
}

type Parsed<Input> = { readonly value: Input } | { readonly problem: string };

interface Parser<Input> {
  /** JSON Schema, as models are shown it. */
  readonly schema: Json;
  parse(input: Json): Promise<Parsed<Input>>;
}

const NO_ARGUMENTS: Json = { type: "object", properties: {}, additionalProperties: false };

function parserOf<Input>(name: string, given: OutputSchema | undefined): Parser<Input> {
  if (given !== undefined && standardSchemaIs(given)) return standardParser(name, given as StandardSchema<Input>);
  const schema = given ?? NO_ARGUMENTS;
  const checked = checkSchema(schema, "user");
  if ("problem" in checked) throw unusable(name, checked.problem);
  return { schema, parse: async (input) => parseJson<Input>(checked, input) };
}

function parseJson<Input>(checked: CheckedSchema, input: Json): Parsed<Input> {
  const fault = dataFault(checked, input);
  if (fault === null) return { value: input as Input };
  const path = fault.path.map(String).join(".");
  return { problem: `${path === "" ? "the arguments" : `\`${path}\``} ${fault.message}` };
}

function standardParser<Input>(name: string, given: StandardSchema<Input>): Parser<Input> {
  const schema = jsonSchemaOf(given);
  if (schema === null) throw unusable(name, "it cannot tell its JSON Schema");
  return {
    schema,
    async parse(input) {
      const { issues, ...valid } = await given["~standard"].validate(input);
      if (issues === undefined) return { value: (valid as { readonly value: Input }).value };
      const [issue] = issues;
      const path = (issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
      return { problem: `${path === "" ? "the arguments" : `\`${path}\``}: ${issue?.message ?? "not valid"}` };
    },
  };
}

function unusable(name: string, why: string): ErrandError {
  return new ErrandError("usage", `The input schema of the tool "${name}" cannot be used: ${why}.`, {
    remedy: "Give a JSON Schema, or a Standard Schema that can tell its JSON Schema, such as one of zod 4.2 or later.",
  });
}

/** A result as the model reads it. */
function resultText(name: string, result: unknown): ToolOutput {
  if (typeof result === "string") return { text: result, failed: false };
  const plain = plainJson(result ?? null);
  if ("problem" in plain)
    return { text: `Error: ${name} gave a result that is no JSON: ${plain.problem}`, failed: true };
  return { text: JSON.stringify(plain.json), failed: false };
}
