/** Random tool calls for the trees of random-tree.test-support.ts. Every delegation tool is called. */

import type { ArgumentSchema, Property } from "./delegation/arguments.ts";
import { DELEGATION_TOOLS, delegationToolIs } from "./delegation/tools.ts";
import type { Tree } from "./tree.ts";
import type { Json } from "./values/json.ts";

export function spawnArguments(next: () => number): { [name: string]: Json } {
  return {
    task: ["one", "two", " ", "three"][next() % 4] ?? "",
    ...(next() % 3 === 0 ? { agent: ["tagger", "worker", "nobody", "outer", "mute"][next() % 5] ?? "" } : {}),
    ...(next() % 4 === 0 ? { group: "g" } : {}),
    ...(next() % 4 === 0 ? { announce: "each" } : {}),
    ...(next() % 4 === 0 ? { timeout_seconds: 1 + (next() % 200) } : {}),
    ...(next() % 6 === 0 ? { cleanup: "delete" } : {}),
  };
}

/** Tools with a case of their own in `chooseCall`. */
const CHOSEN = new Set(["subagent", "start_background_agent", "send_agent_message", "send_user_message", "use_skill"]);
const OTHER_TOOLS = Object.keys(DELEGATION_TOOLS)
  .filter(delegationToolIs)
  .filter((name) => !CHOSEN.has(name));

export function chooseCall(tree: Tree, next: () => number): { name: string; input: Json } {
  const ids = [...tree.state.numbers.keys(), "nobody"];
  const id = ids[next() % ids.length] ?? "nobody";
  switch (next() % 12) {
    case 0:
    case 1:
    case 2:
      return { name: "start_background_agent", input: spawnArguments(next) };
    case 3: {
      const { task = "", agent = "worker" } = spawnArguments(next);
      return { name: "subagent", input: { task, agent } };
    }
    case 4:
    case 5:
      return {
        name: "send_agent_message",
        input: next() % 3 === 0 ? { text: "hi", agentId: id } : { text: "my report" },
      };
    case 6:
      return { name: "send_user_message", input: { text: "tell them" } };
    case 7:
      return { name: "cancel_run", input: { run_id: id } };
    case 8:
      return { name: "steer_run", input: { run_id: id, text: "that way" } };
    case 9: {
      const name = OTHER_TOOLS[next() % OTHER_TOOLS.length] ?? "list_runs";
      return { name, input: argumentsFor(DELEGATION_TOOLS[name].schema, id, next) };
    }
    case 10:
      return { name: next() % 2 === 0 ? "look" : "break", input: next() % 3 === 0 ? "not json" : { path: "a" } };
    default:
      return next() % 2 === 0 ? { name: "look", input: {} } : { name: "no_such_tool", input: [1, 2] };
  }
}

/** Arguments that fit the schema: all that it requires, and half of the others. */
function argumentsFor({ properties, required }: ArgumentSchema, id: string, next: () => number): Json {
  const given = Object.entries(properties).filter(([name]) => required.includes(name) || next() % 2 === 0);
  return Object.fromEntries(given.map(([name, property]) => [name, valueFor(name, property, id, next)]));
}

function valueFor(name: string, property: Property, id: string, next: () => number): Json {
  switch (property.type) {
    case "string":
      if (property.enum !== undefined) return property.enum[next() % property.enum.length] ?? "";
      if (name === "call_id") return "call-7";
      return name.endsWith("_id") ? id : "some words";
    case "integer":
      return property.minimum + (next() % 9);
    case "boolean":
      return next() % 2 === 0;
    case "array":
      return [];
    default:
      return {};
  }
}
