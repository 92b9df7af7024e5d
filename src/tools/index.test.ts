import { expect, test } from "vitest";

import { jsonObjectIs } from "../core/json.ts";
import { fileTools } from "./index.ts";

test("every file tool is safe to repeat and publishes a closed schema", () => {
  const tools = fileTools();
  expect(tools.map((tool) => tool.name)).toEqual(["list_files", "search_text", "read_file"]);
  for (const tool of tools) {
    expect(tool.safe).toBe(true);
    expect(jsonObjectIs(tool.schema) && tool.schema["additionalProperties"]).toBe(false);
  }
});
