/** The tools for the files of a workspace. */

import type { Tool } from "../contracts/tool.ts";
import { createEditFileTool } from "./edit-file.ts";
import { createListFilesTool } from "./list-files.ts";
import { createReadFileTool } from "./read-file.ts";
import { createRunCommandTool, type RunCommandOptions } from "./run-command.ts";
import { createSearchTextTool } from "./search-text.ts";
import { createWriteFileTool } from "./write-file.ts";

export { type RunCommandOptions, UNENCLOSED } from "./run-command.ts";
export { findEnclosure } from "../processes/enclosure.ts";

/** The tools that only read. */
export function fileTools(): Tool[] {
  return [createListFilesTool(), createSearchTextTool(), createReadFileTool()];
}

/** All tools, including those that change files and run programs. */
export function workspaceTools(options: RunCommandOptions): Tool[] {
  const { world } = options;
  return [...fileTools(), createWriteFileTool(world), createEditFileTool(world), createRunCommandTool(options)];
}
