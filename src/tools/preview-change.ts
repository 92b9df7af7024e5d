/** What a call of `write_file` or `edit_file` would make of its file, for the person who is asked about it. Changes nothing. */

import type { Json } from "../core/values/json.ts";
import { editArguments, editText, fileText } from "./edit-file.ts";
import { writeTarget } from "./replace-file.ts";
import { seeFile } from "./seen-file.ts";
import { errorCode, openWorkspace, pathShown, type Refusal } from "./workspace.ts";
import { CONTENT_BYTES, writeArguments } from "./write-file.ts";

export interface ChangePreview {
  /** The file's path from the workspace, symlinks followed. */
  readonly shown: string;
  /** True if the file has more than one name. */
  readonly linked: boolean;
  /** Null: there is no such file. */
  readonly before: Buffer | null;
  readonly after: Buffer;
  /** What the answer sends back, so that the change is made to the file that was seen. */
  readonly seen: string;
}

/** Null for a tool that changes no file. A refusal says why the call would fail as the file is now. */
export async function previewChange(
  tool: string,
  input: Json,
  folder: string,
): Promise<ChangePreview | Refusal | null> {
  if (tool !== "write_file" && tool !== "edit_file") return null;
  const wanted = tool === "write_file" ? writeArguments(input) : editArguments(input);
  if ("refused" in wanted) return wanted;
  const workspace = await openWorkspace(folder);
  if ("refused" in workspace) return workspace;
  try {
    const target = await writeTarget(workspace, wanted.path);
    if ("refused" in target) return target;
    const { mark, bytes, stats } = await seeFile(target.absolute, target.absolute);
    const named = `"${pathShown(target.shown)}"`;
    if (stats !== null && bytes === null) return { refused: `${named} is too long to be shown.` };
    const { shown, linked } = target;
    if ("content" in wanted) return { shown, linked, before: bytes, after: Buffer.from(wanted.content), seen: mark };
    if (bytes === null) return { refused: `there is no ${named} to edit.` };
    const text =
      bytes.length > CONTENT_BYTES ? { refused: `${named} is too long to be edited.` } : fileText(bytes, named);
    if (typeof text !== "string") return text;
    const edited = editText(text, wanted, named);
    return "refused" in edited ? edited : { shown, linked, before: bytes, after: Buffer.from(edited.text), seen: mark };
  } catch (error) {
    return { refused: `"${pathShown(wanted.path)}" cannot be read (${errorCode(error)}).` };
  }
}
