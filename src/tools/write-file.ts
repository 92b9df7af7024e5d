/** The tool `write_file`: writes a whole file, new or in place of an old one (replace-file.ts). */

import type { Tool } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { locateTarget, replaceFile } from "./replace-file.ts";
import { succeeded } from "./result.ts";
import { defineArguments, fileContent, requiredText } from "./tool-arguments.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";
import { escapedPath } from "./workspace.ts";

/** The longest content that is written, and the longest file that is edited. */
export const CONTENT_BYTES = 2 * 1024 * 1024;

export const WRITE_ARGUMENTS = defineArguments(
  {
    path: requiredText("The file, from the workspace."),
    content: fileContent(CONTENT_BYTES, "The whole new content of the file."),
  },
  '{"path": "notes.md", "content": "# Notes\\n"}',
);

export function createWriteFileTool(world: Pick<World, "random">): Tool {
  return createWorkspaceTool({
    name: "write_file",
    description:
      "Writes a whole text file of the workspace, new or in place of an old one; missing folders are made. " +
      "To change a part of a file use edit_file.",
    safe: false,
    arguments: WRITE_ARGUMENTS,
    pathOf: ({ path }) => path,
    locate: locateTarget,
    async run({ path, ...values }, workspace, { signal, seen }) {
      const content = Buffer.from(values.content);
      const replaced = await replaceFile(workspace, { path, content, unique: world.random(16), signal, seen });
      if ("refused" in replaced) return replaced;
      const before = replaced.before === null ? "a new file" : `in the place of ${replaced.before} bytes`;
      return succeeded(`Wrote ${content.length} bytes to "${escapedPath(replaced.relative)}": ${before}.`);
    },
  });
}
