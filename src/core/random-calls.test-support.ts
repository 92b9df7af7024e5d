/** Tool calls at random, sensible or not, for the trees of random-tree.test-support.ts. */

import type { Json } from "./values/json.ts";
import type { Tree } from "./tree.ts";

export function spawnArguments(next: () => number): { [name: string]: Json } {
  return {
    task: ["one", "two", " ", "three"][next() % 4] ?? "",
    ...(next() % 3 === 0 ? { agent: ["tagger", "worker", "nobody"][next() % 3] ?? "" } : {}),
    ...(next() % 4 === 0 ? { group: "g" } : {}),
    ...(next() % 4 === 0 ? { announce: "each" } : {}),
    ...(next() % 4 === 0 ? { timeout_seconds: 1 + (next() % 200) } : {}),
    ...(next() % 6 === 0 ? { cleanup: "delete" } : {}),
  };
}

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
      const handle = next() % 2 === 0 ? { call_id: "call-7" } : { run_id: id };
      return next() % 2 === 0 ? { name: "list_runs", input: {} } : { name: "read_result", input: handle };
    }
    case 10:
      return { name: next() % 2 === 0 ? "look" : "break", input: next() % 3 === 0 ? "not json" : { path: "a" } };
    default:
      return next() % 2 === 0 ? { name: "look", input: {} } : { name: "no_such_tool", input: [1, 2] };
  }
}
