/** The ordinary tools: those that only read files, and all of them. */

import type { Tool } from "../contracts/tool.ts";
import { createEditFileTool } from "./edit-file.ts";
import { createListFilesTool } from "./list-files.ts";
import { createReadFileTool } from "./read-file.ts";
import { createRunCommandTool, type RunCommandOptions } from "./run-command.ts";
import { createSearchTextTool } from "./search-text.ts";
import { createWriteFileTool } from "./write-file.ts";

export { type RunCommandOptions, UNENCLOSED } from "./run-command.ts";
export { findEnclosure } from "./process/enclosure.ts";

export function fileTools(): Tool[] {
  return [createListFilesTool(), createSearchTextTool(), createReadFileTool()];
}

/** The file tools, and those that change files and run programs. */
export function workspaceTools(options: RunCommandOptions): Tool[] {
  const { world } = options;
  return [...fileTools(), createWriteFileTool(world), createEditFileTool(world), createRunCommandTool(options)];
}
