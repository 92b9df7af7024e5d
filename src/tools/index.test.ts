import { expect, test } from "vitest";

import { jsonObjectIs } from "../core/values/json.ts";
import { fileTools, workspaceTools } from "./index.ts";
import { world } from "./tool-run.test-support.ts";

test("every file tool is safe to repeat and publishes the types of its arguments", () => {
  const tools = fileTools();
  expect(tools.map((tool) => tool.name)).toEqual(["list_files", "search_text", "read_file"]);
  for (const tool of tools) {
    expect(tool.safe).toBe(true);
    expect(jsonObjectIs(tool.schema) && tool.schema["type"]).toBe("object");
  }
});

test("the tools that change something follow the file tools and are not safe to repeat", () => {
  const tools = workspaceTools({ world, environment: {} });
  expect(tools.slice(3).map((tool) => tool.name)).toEqual(["write_file", "edit_file", "run_command"]);
  for (const tool of tools.slice(3)) {
    expect(tool.safe).toBe(false);
    expect(jsonObjectIs(tool.schema) && tool.schema["type"]).toBe("object");
  }
});
