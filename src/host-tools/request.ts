/** From the arguments that a host's model wrote to the request for a run. Their types are checked before. */

import type { Arguments } from "../core/delegation/arguments.ts";
import { outputSchemaOf } from "../core/delegation/typed-data.ts";
import type { Json } from "../core/values/json.ts";
import { ErrandError } from "../errors.ts";
import type { HostRequest } from "./host-runtime.ts";

export function requestOf(args: Arguments, defaultAgent: string): HostRequest {
  const { task, context, files, agent, label, max_iterations: iterations, timeout_seconds: seconds } = args;
  const schema = outputSchemaOf(args);
  if (schema === null)
    throw new ErrandError("usage", "`output_schema` must be the JSON text of an object, at most 64 levels deep.");
  return {
    agent: textOf(agent) ?? defaultAgent,
    task: textOf(task) ?? "",
    ...optional("context", textOf(context)),
    ...optional("files", listIs(files) ? files.filter((file) => typeof file === "string") : undefined),
    ...optional("label", textOf(label)),
    ...optional("maxIterations", numberOf(iterations)),
    ...optional("timeoutSeconds", numberOf(seconds)),
    ...optional("outputSchema", schema),
  };
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}

function listIs(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
