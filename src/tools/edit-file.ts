/**
 * Owns the tool `edit_file`: exact text of a file replaced by other text.
 *
 * Invariants:
 *  1. The old text must occur exactly once, or `replace_all` must be said; occurrences that overlap count each.
 *  2. Everything else of the file stays byte for byte, its byte order mark and line breaks too. What is not UTF-8 is not edited.
 *  3. In a file with CRLF line breaks, text written with LF means CRLF: read_file shows lines without their breaks.
 *  4. The file is replaced only if it is still the one that was read (replace-file.ts).
 */

import type { Tool, ToolContext, ToolOutput } from "../contracts/tool.ts";
import type { World } from "../contracts/world.ts";
import { type Json, jsonObjectIs } from "../core/values/json.ts";
import { changedSince, replaceFile } from "./replace-file.ts";
import { failed, stopped, succeeded } from "./result.ts";
import { argumentsRefused, createArgumentReader } from "./tool-arguments.ts";
import { errorCode, locatePath, openWorkspace, pathShown } from "./workspace.ts";
import type { OpenedFile, Refusal } from "./workspace.ts";
import { CONTENT_BYTES } from "./write-file.ts";

interface Edit {
  readonly old: string;
  readonly next: string;
  readonly all: boolean;
}

interface ReadText {
  readonly text: string;
  readonly version: { readonly inode: number; readonly modifiedMs: number; readonly size: number };
}

const FIELDS = ["path", "old_text", "new_text", "replace_all"];
const EXAMPLE = '{"path": "src/a.ts", "old_text": "let a = 1;", "new_text": "const a = 1;"}';
const LINES_NAMED = 5;
const OLD_TEXT_BYTES = 100_000;
/** Counting overlapping occurrences of a long text can take very long; this many are enough to say that there are too many. */
const COUNTED = 100;

export function createEditFileTool(world: Pick<World, "random">): Tool {
  async function editFile(input: Json, context: ToolContext): Promise<ToolOutput> {
    const wanted = editArguments(input);
    if ("refused" in wanted) return failed(wanted.refused);
    const { path } = wanted;
    if (context.signal.aborted) return stopped();
    const workspace = await openWorkspace(context.workspace, context.rules);
    if ("refused" in workspace) return failed(workspace.refused);
    const changed = context.seen === undefined ? null : await changedSince(workspace, path, context.seen);
    if (changed !== null) return failed(changed.refused);
    const file = await workspace.openFile(path);
    if ("refused" in file) return failed(file.refused);
    const read = await readText(file);
    if ("refused" in read) return failed(read.refused);
    const edited = editText(read.text, wanted, `"${pathShown(file.shown)}"`);
    if ("refused" in edited) return failed(edited.refused);
    const content = Buffer.from(edited.text);
    if (content.length > CONTENT_BYTES)
      return failed(
        `the file would have ${content.length} bytes; at most ${CONTENT_BYTES} are written. Nothing was changed.`,
      );
    const unique = world.random(16);
    const replaced = await replaceFile(workspace, {
      path,
      content,
      unique,
      signal: context.signal,
      expected: read.version,
      seen: context.seen,
    });
    if ("refused" in replaced) return failed(replaced.refused);
    return succeeded(
      `Replaced ${occurrences(edited.places)} in "${pathShown(replaced.shown)}", ${linesOf(read.text, edited.places)}.`,
    );
  }

  return {
    name: "edit_file",
    description:
      "Replaces exact text of a file of the workspace. old_text must be copied exactly, without the line numbers of read_file, and occur once: give enough of what surrounds it, or set replace_all.",
    schema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file, from the workspace." },
        old_text: {
          type: "string",
          minLength: 1,
          description: "The text to replace, exactly as it stands in the file.",
        },
        new_text: { type: "string", description: "What shall stand there instead." },
        replace_all: { type: "boolean", description: "True: replace every occurrence. Default: false." },
      },
      required: ["path", "old_text", "new_text"],
    },
    safe: false,
    run: editFile,
    locate: (input, { workspace }) => locatePath(jsonObjectIs(input) ? input["path"] : undefined, workspace),
    check: (input) => argumentsRefused(editArguments(input)),
  };
}

export function editArguments(input: Json): (Edit & { readonly path: string }) | Refusal {
  const reader = createArgumentReader(input, FIELDS, EXAMPLE);
  const path = reader.requiredText("path");
  const old = reader.content("old_text", OLD_TEXT_BYTES);
  const next = reader.content("new_text", CONTENT_BYTES);
  const all = reader.flag("replace_all");
  if (reader.problem !== null) return { refused: reader.problem };
  if (old === "") return { refused: "`old_text` is empty. Copy the text to replace; for a new file use write_file." };
  if (old === next) return { refused: "`old_text` and `new_text` are the same. Nothing is to be changed." };
  return { path, old, next, all };
}

async function readText(file: OpenedFile): Promise<ReadText | Refusal> {
  const shown = `"${pathShown(file.shown)}"`;
  try {
    const stats = await file.handle.stat();
    if (stats.size > CONTENT_BYTES)
      return { refused: `${shown} has ${stats.size} bytes; files of up to ${CONTENT_BYTES} bytes can be edited.` };
    const buffer = Buffer.alloc(stats.size);
    const { bytesRead } = await file.handle.read(buffer, 0, buffer.length, 0);
    const text = fileText(buffer.subarray(0, bytesRead), shown);
    if (typeof text !== "string") return text;
    return { text, version: { inode: stats.ino, modifiedMs: stats.mtimeMs, size: stats.size } };
  } catch (error) {
    return { refused: `${shown} cannot be read (${errorCode(error)}). Go on without it.` };
  } finally {
    await file.handle.close();
  }
}

/** The text of a file that can be edited. */
export function fileText(bytes: Buffer, shown: string): string | Refusal {
  if (bytes.includes(0)) return { refused: `${shown} is a binary file: it holds NUL bytes. Only text can be edited.` };
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { refused: `${shown} is not UTF-8, and would be damaged. Only UTF-8 text can be edited.` };
  }
}

/** The new text and the places, in the old text, of what was replaced. */
export function editText(
  text: string,
  wanted: Edit,
  shown: string,
): { readonly text: string; readonly places: readonly number[] } | Refusal {
  const { old, next, all } = textIn(text, wanted);
  const places = all ? placesOf(text, old, old.length, Infinity) : placesOf(text, old, 1, COUNTED);
  if (places.length === 0)
    return {
      refused: `\`old_text\` does not occur in ${shown}. Read the file again and copy the text exactly, spaces and line breaks too.`,
    };
  if (places.length > 1 && !all)
    return {
      refused: `\`old_text\` occurs ${places.length < COUNTED ? places.length : `at least ${COUNTED}`} times in ${shown}, ${linesOf(text, places)}. Add what surrounds the one you mean, or set replace_all.`,
    };
  const parts: string[] = [];
  let from = 0;
  for (const place of places) {
    parts.push(text.slice(from, place), next);
    from = place + old.length;
  }
  parts.push(text.slice(from));
  return { text: parts.join(""), places };
}

/** The edit with the file's line breaks, where it does not fit as it is written. */
function textIn(text: string, wanted: Edit): Edit {
  if (text.includes(wanted.old)) {
    const crlf = wanted.next.includes("\n") && !/(^|[^\r])\n/.test(text) && !wanted.next.includes("\r");
    return crlf ? { ...wanted, next: wanted.next.replaceAll("\n", "\r\n") } : wanted;
  }
  if (!text.includes("\r\n") || wanted.old.includes("\r")) return wanted;
  const next = wanted.next.includes("\r") ? wanted.next : wanted.next.replaceAll("\n", "\r\n");
  return { ...wanted, old: wanted.old.replaceAll("\n", "\r\n"), next };
}

function placesOf(text: string, wanted: string, step: number, limit: number): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0 && places.length < limit; at = text.indexOf(wanted, at + step))
    places.push(at);
  return places;
}

function occurrences(places: readonly number[]): string {
  return `${places.length} occurrence${places.length === 1 ? "" : "s"}`;
}

function linesOf(text: string, places: readonly number[]): string {
  const lines = places.slice(0, LINES_NAMED).map((place) => text.slice(0, place).split("\n").length);
  const more = places.length > LINES_NAMED ? " and more" : "";
  return `line${places.length === 1 ? "" : "s"} ${lines.join(", ")}${more}`;
}
