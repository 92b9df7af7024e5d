/**
 * The delegation tools as models see them: descriptions and schemas.
 *
 * Invariants:
 *  1. Every schema has a type for each property, and nothing that a provider refuses (rule F1).
 *  2. It is made from the schema that is checked, without bounds that models hardly reach.
 */

import type { ArgumentSchema, Property } from "../../delegation/arguments.ts";
import { DELEGATION_TOOLS, type DelegationTool, MESSAGE_SCHEMA, READ_CALL_SCHEMA } from "../../delegation/tools.ts";
import type { Json } from "../../values/json.ts";
import type { ToolSpec } from "../../values/message.ts";
import { dataProperty } from "./portable-schema.ts";

/** These tools as a model sees them. `output`: the schema of its run's data. */
export function delegationToolSpecs(
  names: readonly DelegationTool[],
  byTool: boolean,
  output: Json | undefined,
): ToolSpec[] {
  // An agent that may not delegate reads only the results of its own calls.
  const delegates = names.includes("subagent");
  return names.map((name) => ({
    name,
    description: DELEGATION_TOOLS[name].description,
    schema: name === "read_result" && !delegates ? shown(READ_CALL_SCHEMA) : shownSchema(name, byTool, output),
  }));
}

function shownSchema(name: DelegationTool, byTool: boolean, output: Json | undefined): Json {
  if (name !== "send_agent_message") return shown(DELEGATION_TOOLS[name].schema);
  if (!byTool) return shown(MESSAGE_SCHEMA);
  const { type, properties, required } = DELEGATION_TOOLS.send_agent_message.schema;
  const data = output === undefined ? {} : dataProperty(output);
  return { type, properties: { ...shownProperties(properties), ...data }, required };
}

/** Without `additionalProperties`, which Gemini refuses, and without bounds on lengths. */
function shown({ type, properties, required }: ArgumentSchema): { readonly [keyword: string]: Json } {
  return { type, properties: shownProperties(properties), ...(required.length === 0 ? {} : { required }) };
}

function shownProperties(properties: ArgumentSchema["properties"]): { readonly [name: string]: Json } {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, shownProperty(property)]));
}

function shownProperty(property: Property | ArgumentSchema): Json {
  if ("properties" in property) return shown(property);
  const description = property.description === undefined ? {} : { description: property.description };
  switch (property.type) {
    case undefined:
      return description;
    case "array":
      return { type: property.type, items: shownProperty(property.items), ...description };
    case "string":
      return { type: property.type, ...(property.enum === undefined ? {} : { enum: property.enum }), ...description };
    default:
      return property;
  }
}
