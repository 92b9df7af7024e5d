/** Copies of the user's tools, so that later changes of the user do not reach the runtime. */

import type { Tool } from "../../contracts/tool.ts";
import { delegationToolIs } from "../../core/delegation/tools.ts";
import { type Json, jsonObjectIs } from "../../core/values/json.ts";
import { ErrandError } from "../../errors.ts";
import { plainJson } from "../../plain-json.ts";

/** Refuses duplicate names. Each call gets a copy of its arguments, so that no tool can change what is recorded. */
export function isolateTools(tools: readonly Tool[]): readonly Tool[] {
  const names = new Set<string>();
  return tools.map((tool) => {
    const { name } = tool;
    if (delegationToolIs(name)) throw refused(`The tool name "${name}" belongs to Errand's own tools.`);
    if (names.has(name)) throw refused(`Two tools have the name "${name}".`);
    names.add(name);
    return isolated(tool);
  });
}

function isolated(tool: Tool): Tool {
  const { name, description, safe } = tool;
  const locate = tool.locate?.bind(tool);
  const check = tool.check?.bind(tool);
  const needsApproval = tool.needsApproval?.bind(tool);
  const recover = tool.recover?.bind(tool);
  return {
    name,
    description,
    safe,
    schema: schemaOf(tool),
    run: async (input, context) => tool.run(structuredClone(input), context),
    ...(locate === undefined ? {} : { locate: async (input, context) => locate(structuredClone(input), context) }),
    ...(check === undefined ? {} : { check: (input) => check(structuredClone(input)) }),
    ...(needsApproval === undefined ? {} : { needsApproval: (input) => needsApproval(structuredClone(input)) }),
    ...(recover === undefined ? {} : { recover: async (input, context) => recover(structuredClone(input), context) }),
  };
}

/** A copy, as plain JSON. */
function schemaOf({ name, schema }: Tool): Json {
  const plain = plainJson(schema);
  if ("problem" in plain) throw refused(`The schema of the tool "${name}" is not JSON: ${plain.problem}.`, JSON_SCHEMA);
  if (!jsonObjectIs(plain.json)) throw refused(`The tool "${name}" has no schema of its arguments.`, JSON_SCHEMA);
  return plain.json;
}

const JSON_SCHEMA = 'Give it a JSON Schema, such as { type: "object", properties: {} }.';

function refused(message: string, remedy = "Give each tool a name of its own."): ErrandError {
  return new ErrandError("usage", message, { remedy });
}
