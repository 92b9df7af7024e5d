/** The common part of all tools of a workspace: reading the arguments, opening the workspace, answering. */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { FileFacts } from "../core/permissions/permissions.ts";
import { failed, stopped } from "./result.ts";
import type { ToolArguments } from "./tool-arguments.ts";
import { locatePath, openWorkspace, type Refusal, type Workspace } from "./workspace.ts";

export interface WorkspaceTool<T> extends Pick<Tool, "name" | "description" | "safe"> {
  readonly arguments: ToolArguments<T>;
  /** The path that the call names, from the workspace. */
  pathOf(values: T): string;
  /** Where the path really leads. Default: to a file or folder that exists. */
  locate?(path: string, workspace: string): Promise<FileFacts | null>;
  run(values: T, workspace: Workspace, context: ToolContext): Promise<ToolOutput | Refusal>;
}

export function createWorkspaceTool<T extends object>(options: WorkspaceTool<T>): Tool {
  const {
    name,
    description,
    safe,
    arguments: { schema, read },
    pathOf,
    locate = locatePath,
    run,
  } = options;
  return {
    name,
    description,
    schema,
    safe,
    async run(input, context) {
      const given = read(input);
      if ("refused" in given) return failed(given.refused);
      if (context.signal.aborted) return stopped();
      const workspace = await openWorkspace(context.workspace, context.rules);
      if ("refused" in workspace) return failed(workspace.refused);
      const output = await run(given.values, workspace, context);
      return "refused" in output ? failed(output.refused) : output;
    },
    async locate(input, { workspace }) {
      const given = read(input);
      return "refused" in given ? null : locate(pathOf(given.values), workspace);
    },
    check(input) {
      const given = read(input);
      return "refused" in given ? given.refused : null;
    },
  };
}
