/** The change that a call of `write_file` or `edit_file` would make, for the person who is asked about it. */

import type { Json } from "../core/values/json.ts";
import { EDIT_ARGUMENTS, editableText, editText } from "./edit-file.ts";
import { writeTarget } from "./replace-file.ts";
import { readSeenFile } from "./seen-file.ts";
import { errorCode, escapedPath, openWorkspace, type Refusal } from "./workspace.ts";
import { CONTENT_BYTES, WRITE_ARGUMENTS } from "./write-file.ts";

export interface ChangePreview {
  /** The file's real path, from the workspace. */
  readonly relative: string;
  /** True if the file has more than one name. */
  readonly linked: boolean;
  /** Null: the file does not exist. */
  readonly before: Buffer | null;
  readonly after: Buffer;
  /** The mark of the file (seen-file.ts). It goes back with the answer, so that no other file is changed. */
  readonly seen: string;
}

/** Changes nothing. Null for other tools. A refusal says why the call would fail as the file is now. */
export async function previewChange(
  tool: string,
  input: Json,
  folder: string,
): Promise<ChangePreview | Refusal | null> {
  if (tool !== "write_file" && tool !== "edit_file") return null;
  const given = tool === "write_file" ? WRITE_ARGUMENTS.read(input) : EDIT_ARGUMENTS.read(input);
  if ("refused" in given) return given;
  const { values } = given;
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace) return workspace;
  try {
    const target = await writeTarget(workspace, values.path);
    if ("refused" in target) return target;
    const { absolute, relative, linked } = target;
    const { mark: seen, bytes: before, stats } = await readSeenFile(absolute, absolute);
    const name = `"${escapedPath(relative)}"`;
    if (stats !== null && before === null) return { refused: `${name} is too long to be shown.` };
    if ("content" in values) return { relative, linked, before, after: Buffer.from(values.content), seen };
    if (before === null) return { refused: `there is no ${name} to edit.` };
    if (before.length > CONTENT_BYTES) return { refused: `${name} is too long to be edited.` };
    const text = editableText(before, name);
    if (typeof text !== "string") return text;
    const edited = editText(text, values, name);
    return "refused" in edited ? edited : { relative, linked, before, after: Buffer.from(edited.text), seen };
  } catch (error) {
    return { refused: `"${escapedPath(values.path)}" cannot be read (${errorCode(error)}).` };
  }
}
