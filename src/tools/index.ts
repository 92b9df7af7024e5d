/** The ordinary tools: those that only read files. */

import type { Tool } from "../contracts/tool.ts";
import { createListFilesTool } from "./list-files.ts";
import { createReadFileTool } from "./read-file.ts";
import { createSearchTextTool } from "./search-text.ts";

export function fileTools(): Tool[] {
  return [createListFilesTool(), createSearchTextTool(), createReadFileTool()];
}
