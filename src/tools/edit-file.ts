/**
 * The tool `edit_file`: replaces exact text of a file.
 *
 * Invariants:
 *  1. The old text must occur exactly once, unless `replace_all` is true. Overlapping occurrences each count.
 *  2. All other bytes stay as they are, including the byte order mark and line breaks. Only UTF-8 text is edited.
 *  3. In a file with CRLF line breaks, LF in the arguments means CRLF, because read_file shows lines without breaks.
 *  4. The file is replaced only if it did not change since it was read (replace-file.ts).
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { changedSince, replaceFile } from "./replace-file.ts";
import { countOf, failed, succeeded } from "./result.ts";
import { type ArgumentsOf, defineArguments, fileContent, flag, requiredText } from "./tool-arguments.ts";
import { createWorkspaceTool } from "./workspace-tool.ts";
import { errorCode, escapedPath, type OpenedFile, type Refusal, type Workspace } from "./workspace.ts";
import { CONTENT_BYTES } from "./write-file.ts";

const LINES_NAMED = 5;
const OLD_TEXT_BYTES = 100_000;
/** Counting overlapping occurrences of a long text can take very long, so it stops here. */
const MAX_COUNTED = 100;

export const EDIT_ARGUMENTS = defineArguments(
  {
    path: requiredText("The file, from the workspace."),
    old_text: fileContent(OLD_TEXT_BYTES, "The text to replace, exactly as it is in the file. Not empty."),
    new_text: fileContent(CONTENT_BYTES, "The text that replaces it."),
    replace_all: flag("True: replace every occurrence."),
  },
  '{"path": "src/a.ts", "old_text": "let a = 1;", "new_text": "const a = 1;"}',
  ({ old_text, new_text }) => {
    if (old_text === "") return "`old_text` is empty. Copy the text to replace; for a new file use write_file.";
    return old_text === new_text ? "`old_text` and `new_text` are the same. There is nothing to change." : null;
  },
);

type Edit = Omit<ArgumentsOf<typeof EDIT_ARGUMENTS>, "path">;

interface Edited {
  readonly text: string;
  /** The positions of the occurrences in the old text. */
  readonly positions: readonly number[];
}

interface ReadText {
  readonly text: string;
  readonly version: { readonly inode: number; readonly modifiedMs: number; readonly size: number };
}

export function createEditFileTool(world: Pick<World, "random">): Tool {
  async function editFile(
    { path, ...edit }: ArgumentsOf<typeof EDIT_ARGUMENTS>,
    workspace: Workspace,
    { signal, seen }: ToolContext,
  ): Promise<ToolOutput | Refusal> {
    const changed = seen === undefined ? null : await changedSince(workspace, path, seen);
    if (changed !== null) return changed;
    const file = await workspace.openFile(path);
    if ("refused" in file) return file;
    const read = await readText(file);
    if ("refused" in read) return read;
    const edited = editText(read.text, edit, `"${escapedPath(file.relative)}"`);
    if ("refused" in edited) return edited;
    const content = Buffer.from(edited.text);
    if (content.length > CONTENT_BYTES) {
      const limit = `at most ${CONTENT_BYTES} are written`;
      return failed(`the file would have ${content.length} bytes; ${limit}. Nothing was changed.`);
    }
    const unique = world.random(16);
    const replaced = await replaceFile(workspace, { path, content, unique, signal, expected: read.version, seen });
    if ("refused" in replaced) return replaced;
    const { positions } = edited;
    const where = `in "${escapedPath(replaced.relative)}", ${linesOf(read.text, positions)}`;
    return succeeded(`Replaced ${countOf(positions.length, "occurrence")} ${where}.`);
  }

  return createWorkspaceTool({
    name: "edit_file",
    description:
      "Replaces exact text of a file of the workspace. " +
      "Copy old_text exactly, without the line numbers of read_file. It must occur once: " +
      "include enough of the text around it, or set replace_all.",
    safe: false,
    arguments: EDIT_ARGUMENTS,
    pathOf: ({ path }) => path,
    run: editFile,
  });
}

async function readText(file: OpenedFile): Promise<ReadText | Refusal> {
  const name = `"${escapedPath(file.relative)}"`;
  try {
    const stats = await file.handle.stat();
    if (stats.size > CONTENT_BYTES)
      return { refused: `${name} has ${stats.size} bytes; files of up to ${CONTENT_BYTES} bytes can be edited.` };
    const buffer = Buffer.alloc(stats.size);
    const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
    const text = editableText(buffer.subarray(0, bytesRead), name);
    if (typeof text !== "string") return text;
    return { text, version: { inode: stats.ino, modifiedMs: stats.mtimeMs, size: stats.size } };
  } catch (error) {
    return { refused: `${name} cannot be read (${errorCode(error)}). Go on without it.` };
  } finally {
    await file.handle.close();
  }
}

/** The text of a file, if it can be edited. */
export function editableText(bytes: Buffer, name: string): string | Refusal {
  if (bytes.includes(0)) return { refused: `${name} is a binary file: it holds NUL bytes. Only text can be edited.` };
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { refused: `${name} is not UTF-8, and would be damaged. Only UTF-8 text can be edited.` };
  }
}

export function editText(text: string, wanted: Edit, name: string): Edited | Refusal {
  const { old_text: old, new_text: next, replace_all: all } = withLineBreaksOf(text, wanted);
  const positions = all ? positionsOf(text, old, old.length, Infinity) : positionsOf(text, old, 1, MAX_COUNTED);
  if (positions.length === 0) {
    const remedy = "Read the file again and copy the text exactly, with spaces and line breaks";
    return { refused: `\`old_text\` does not occur in ${name}. ${remedy}.` };
  }
  if (positions.length > 1 && !all) {
    const times = `${positions.length < MAX_COUNTED ? positions.length : `at least ${MAX_COUNTED}`} times`;
    const remedy = "Add what surrounds the one you mean, or set replace_all";
    return { refused: `\`old_text\` occurs ${times} in ${name}, ${linesOf(text, positions)}. ${remedy}.` };
  }
  const parts: string[] = [];
  let from = 0;
  for (const position of positions) {
    parts.push(text.slice(from, position), next);
    from = position + old.length;
  }
  parts.push(text.slice(from));
  return { text: parts.join(""), positions };
}

/** The edit with CRLF line breaks, if the file has them and the edit does not fit without. */
function withLineBreaksOf(text: string, edit: Edit): Edit {
  const fits = text.includes(edit.old_text);
  const onlyCrlf = text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
  if (fits ? !onlyCrlf : !text.includes("\r\n") || edit.old_text.includes("\r")) return edit;
  const new_text = edit.new_text.includes("\r") ? edit.new_text : edit.new_text.replaceAll("\n", "\r\n");
  return { ...edit, old_text: fits ? edit.old_text : edit.old_text.replaceAll("\n", "\r\n"), new_text };
}

function positionsOf(text: string, wanted: string, step: number, limit: number): readonly number[] {
  const positions: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && positions.length < limit; at = text.indexOf(wanted, at + step))
    positions.push(at);
  return positions;
}

function linesOf(text: string, positions: readonly number[]): string {
  const lines = positions.slice(0, LINES_NAMED).map((position) => text.slice(0, position).split("\n").length);
  const more = positions.length > LINES_NAMED ? " and more" : "";
  return `line${positions.length === 1 ? "" : "s"} ${lines.join(", ")}${more}`;
}
