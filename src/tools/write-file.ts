/** Owns the tool `write_file`: a whole file, new or in the place of one that was there (replace-file.ts). */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import { locateTarget, replaceFile } from "./replace-file.ts";
import { failed, stopped, succeeded } from "./result.ts";
import { argumentsRefused, createArgumentReader } from "./tool-arguments.ts";
import { openWorkspace, pathShown, type Refusal } from "./workspace.ts";

/** The longest content that is written, and the longest file that is edited. */
export const CONTENT_BYTES = 2 * 1024 * 1024;

export function createWriteFileTool(world: Pick<World, "random">): Tool {
  async function writeFile(input: Json, context: ToolContext): Promise<ToolOutput> {
    const wanted = writeArguments(input);
    if ("refused" in wanted) return failed(wanted.refused);
    if (context.signal.aborted) return stopped();
    const workspace = await openWorkspace(context.workspace, context.rules);
    if ("refused" in workspace) return failed(workspace.refused);
    const content = Buffer.from(wanted.content);
    const { signal, seen } = context;
    const replaced = await replaceFile(workspace, {
      path: wanted.path,
      content,
      unique: world.random(16),
      signal,
      seen,
    });
    if ("refused" in replaced) return failed(replaced.refused);
    const before = replaced.before === null ? "a new file" : `in the place of ${replaced.before} bytes`;
    return succeeded(`Wrote ${content.length} bytes to "${pathShown(replaced.shown)}": ${before}.`);
  }

  return {
    name: "write_file",
    description:
      "Writes a whole text file of the workspace, new or in the place of an old one; missing folders are made. To change a part of a file use edit_file.",
    schema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, from the workspace." },
        content: { type: "string", description: "All that the file shall hold." },
      },
      required: ["path", "content"],
    },
    safe: false,
    run: writeFile,
    locate: (input, { workspace }) => locateTarget(jsonObjectIs(input) ? input["path"] : undefined, workspace),
    check: (input) => argumentsRefused(writeArguments(input)),
  };
}

export function writeArguments(input: Json): { readonly path: string; readonly content: string } | Refusal {
  const reader = createArgumentReader(input, ["path", "content"], '{"path": "notes.md", "content": "# Notes\\n"}');
  const path = reader.requiredText("path");
  const content = reader.content("content", CONTENT_BYTES);
  return reader.problem === null ? { path, content } : { refused: reader.problem };
}
